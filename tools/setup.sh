#!/usr/bin/env bash
# Makes .venv with every run-time and test dependency, and installs the system packages (or names the missing ones).
set -euo pipefail
cd "$(dirname "$0")/.."

# What runs: a C++ compiler for the host and for aarch64, an emulator, OCR, a browser for the tests, and a Chinese font:
# without one, PDFium drops what stands alone in a font that a PDF names and does not hold, such as a cell of one sign.
packages=(make git g++ g++-aarch64-linux-gnu qemu-user tesseract-ocr tesseract-ocr-chi-sim poppler-utils chromium fonts-wqy-zenhei python3-venv)
missing=()
for package in "${packages[@]}"; do
    [ "$package" = python3-venv ] && ${PYTHON:-python3} -c 'import ensurepip, venv' 2>/dev/null && continue
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" = 0 ]; then
        echo "Installing system packages: ${missing[*]}" >&2
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
    else
        echo "These system packages are missing. Install them, then run this again:" >&2
        echo "    sudo apt-get install ${missing[*]}" >&2
        exit 2
    fi
fi

python=${PYTHON:-python3}
"$python" - <<'PY' || { echo "Python 3.11, 3.12 or 3.13 is needed: run 'make setup PYTHON=/path/to/python3.11'." >&2; exit 2; }
import sys
sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PY
echo "Setting up .venv with what requirements.lock pins: about a minute, depending on the network." >&2
[ -x .venv/bin/python ] || "$python" -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check "uv==0.13.9"
.venv/bin/uv pip install --quiet --require-hashes --requirement requirements.lock
.venv/bin/uv pip install --quiet --no-deps --no-build-isolation --editable .
