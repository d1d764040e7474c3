# On a new machine with Python 3.11 and make, `make demo` and `make test` set up everything they need in .venv.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
PYTEST := $(BIN)/python -m pytest

# Settings of another Spark or another Python on this machine are not ours.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE PYSPARK_PYTHON
unexport SPARK_HOME SPARK_CONF_DIR SPARK_REMOTE SPARK_CONNECT_MODE_ENABLED
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo test test-long bench soak lab lint format lock clean
.DELETE_ON_ERROR:

help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## /\1: /p' $(MAKEFILE_LIST) | awk -F': ' '{ printf "  make %-10s %s\n", $$1, $$2 }'

demo: $(STAMP) ## the main job in miniature, on real data
	@$(BIN)/python examples/demo.py

# Two runs at once: tests on Spark wait a good deal for Spark. What the others say is shown after them.
define run_tests
{ $(PYTEST) -m "$(1)not spark and not cluster" && \
   DOVETAIL_EXAMPLES=200 NUMBA_DISABLE_JIT=1 $(PYTEST) -m "not slow" tests/kernels; } > $(VENV)/in-process.log 2>&1 & others=$$!; \
trap 'kill $$others 2>/dev/null' EXIT; \
$(PYTEST) -m "$(1)(spark or cluster)"; on_spark=$$?; \
wait $$others; in_process=$$?; cat $(VENV)/in-process.log; exit $$((on_spark + in_process))
endef

test: lint ## lint, then all tests but the slow ones
	@$(call run_tests,not slow and )

test-long: export DOVETAIL_EXAMPLES ?= 10000
test-long: $(STAMP) ## all tests, the slow ones too, and 10,000 random cases for each property
	@$(call run_tests,)

bench: $(STAMP) ## the races against other engines
	@$(BIN)/python -m benchmarks

soak: $(STAMP) ## ten minutes of the online engine at 100,000 rows a second: memory must stay flat
	@$(BIN)/python -m benchmarks.online_races

lab: $(STAMP) ## the documents' experiments, with figures and a report in lab-results
	@$(BIN)/python -m dovetail.lab

lint: $(STAMP) ## style, types and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP) ## put the sources into shape
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lock: $(STAMP) ## pin the newest versions in requirements.lock
	$(BIN)/uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --upgrade --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" --quiet -o requirements.lock

clean: ## remove everything that make has made, .venv included
	rm -rf $(VENV) .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache dist spark-warehouse lab-results join-matrix.png
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# uv installs twice as fast as pip, but knows nothing of pip's settings for mirrors and certificates: pip is the second
# try. Two packages come as source and are built with the pinned setuptools, hence no build isolation.
$(STAMP): requirements.lock pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null
	@echo "setup: the installer, from requirements.lock"
	@awk '/^[^ #]/ { keep = /^(setuptools|uv|uv-build)==/ } keep' requirements.lock > $(VENV)/installer.lock
	@$(BIN)/python -m pip install --quiet --require-hashes -r $(VENV)/installer.lock
	@echo "setup: all packages, from requirements.lock (Spark alone is 450 MB)"
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes --no-build-isolation -r requirements.lock \
	  || { echo "setup: once more, with pip"; \
	       $(BIN)/python -m pip install --quiet --require-hashes --no-build-isolation -r requirements.lock; }
	@echo "setup: dovetail itself, editable"
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

$(BIN)/python:
	@for python in $(PYTHON) python3.11 python3.12 python3.13 python3; do \
	  if "$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "setup: $(VENV), with $$("$$python" --version)"; exec "$$python" -m venv $(VENV); \
	  fi; \
	done; \
	echo "no Python 3.11 or later with venv found. Hint: install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1
