.DEFAULT_GOAL := help
PYTHON ?= python3

.PHONY: help setup setup-train studio test test-full lint golden docs clean

help: ## Show what can be made
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: .venv/ready ## Set up .venv and the system packages, and nothing else

.venv/ready: pyproject.toml requirements.lock tools/setup.sh
	PYTHON=$(PYTHON) tools/setup.sh
	touch $@

studio: setup ## Set up and start the product in the browser
	.venv/bin/meta-infer studio

test: setup ## Set up and run lint, types, import contracts and all fast tests
	tools/test.sh

test-full: .venv/full ## What `make test` does, and everything that takes longer or needs PyTorch, TensorFlow or OpenVINO
	tools/test.sh --full

.venv/full: .venv/ready requirements-full.lock tools/setup_full.sh
	tools/setup_full.sh
	touch $@

lint: setup ## Lint, types and import contracts only
	tools/test.sh --lint

docs: setup ## Write the reference pages of docs/ from the code
	.venv/bin/python tools/make_reference.py

golden: setup ## Write the golden files of tests/golden; read the difference before committing it
	.venv/bin/python tests/golden/golden_files.py

setup-train: .venv-train/ready ## Set up .venv-train, which trains the encoder's weights; nothing else needs it

.venv-train/ready: pyproject.toml tools/setup_train.sh
	PYTHON=$(PYTHON) tools/setup_train.sh
	touch $@

clean: ## Remove the virtual environment and caches
	rm -rf .venv .venv-train .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
