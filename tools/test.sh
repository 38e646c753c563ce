#!/usr/bin/env bash
# Runs lint, types, import contracts and tests. --lint: only the first three. --full: the slow tests too.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.venv/bin:$PATH" PYTHONDONTWRITEBYTECODE=1

ruff check .
ruff format --check .
mypy
lint-imports
[ "${1:-}" = --lint ] && exit
if [ "${1:-}" = --full ]; then
    pytest -n 2
else
    pytest -n 2 -m "not slow"
fi
