#!/usr/bin/env bash
# Adds to .venv what only `make test-full` needs: PyTorch, TensorFlow and OpenVINO, as requirements-full.lock pins them.
#
# Only the processor is used, so that torch's CPU build is enough. Where pip finds no other build than the one for
# graphics cards (the index's default for Linux on x86-64, several gigabytes), that one works as well.
set -euo pipefail
cd "$(dirname "$0")/.."

echo "Adding PyTorch, TensorFlow and OpenVINO to .venv: a few minutes, depending on the network." >&2
.venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint requirements-full.lock \
    --editable ".[torch,tensorflow,openvino]"
