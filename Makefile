# Every target sets up what it needs: Python 3.11 or newer, make and the package index are enough.

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.installed
# The newest interpreter that is new enough; override with `make test PYTHON=/path/to/python`.
PYTHON ?= $(shell for name in python3.13 python3.12 python3.11 python3 python; do \
	if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then echo $$name; break; fi; done)

# Bytecode is kept even where the environment says otherwise: rewriting the assertions of all tests anew takes 10 s.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest

.PHONY: help demo quick test docs fuzz bench lint format clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    generate a table, publish it, audit it, show the result"
	@echo "make quick   the tests that take a minute together, before each commit"
	@echo "make test    the whole test suite"
	@echo "make docs    the documentation as a site, in docs/_build/html"
	@echo "make fuzz    random releases checked by definition (COUNT=100000, SEED=0, SECONDS=3600 to stop earlier),"
	@echo "             or FILES=500 damaged files of every kind"
	@echo "make bench   the performance table"
	@echo "make lint    static checks"
	@echo "make format  rewrite the sources the way make lint wants them"
	@echo "make clean   remove the environment and everything generated"

demo: $(READY)
	@$(BIN)/discreet demo

quick: $(READY)
	@$(PYTEST) -q -n 2 --dist worksteal -m "not slow" --hypothesis-profile=quick

test: $(READY)
	@NUMBA_DISABLE_JIT=1 $(PYTEST) -q -n 2 tests/kernels tests/families/*/kernels
	@$(PYTEST) -n 2 --durations=10

# Whatever Sphinx warns of, such as a page that no table of contents lists, is an error.
docs: $(READY)
	@$(BIN)/python -m sphinx -W -q -b html docs docs/_build/html
	@echo "The site is in docs/_build/html: open index.html there, or copy the folder to any web server."

# The number of a case decides all of it: what failed is repeated with its SEED and COUNT=1.
fuzz: $(READY)
	@PYTHONPATH=tests $(BIN)/python -m fuzz $(if $(SEED),--seed $(SEED)) $(if $(COUNT),--count $(COUNT)) \
		$(if $(SECONDS),--seconds $(SECONDS)) $(if $(FILES),--files $(FILES))

bench: $(READY)
	@$(BIN)/python -m benchmarks

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(READY)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Set up again only when pyproject.toml has changed since the last time.
$(READY): pyproject.toml
	@if [ -z "$(PYTHON)" ]; then \
		echo "discreet needs Python 3.11 or newer, and found $$(python3 --version 2>&1 || echo none);" \
			"install one, or name it: make PYTHON=/path/to/python3.11"; exit 1; fi
	@if ! $(BIN)/python -c '' >/dev/null 2>&1; then \
		echo "Creating $(VENV) with $(PYTHON) ..."; \
		rm -rf $(VENV); \
		$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
			echo "$(PYTHON) could not create a virtual environment; on Debian and Ubuntu install python3-venv."; exit 1; }; fi
	@echo "Installing discreet and its dependencies (once; a minute or two) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@
