# Two commands do everything on a fresh machine: `make run` and `make test`.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV ?= .venv
BIN := $(VENV)/bin
SECONDS ?= 60
CMD ?= echo "hello from nacre"; uname -sr; sleep 60 & echo "this line came back at once, sleep 60 is still running"; false | tail -n 1

.PHONY: help setup record run test test-long test-frameworks parts lint types check fuzz bench peers clean

help:            ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 12

$(VENV)/.ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "nacre needs Python 3.11 or newer; set PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "python venv is missing; on Debian: apt-get install python3-venv" >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@# As pip does for what it copies: where Python may not write bytecode, every start would compile all it loads.
	@$(BIN)/python -m compileall -q src
	@touch $@

setup: $(VENV)/.ready   ## make the private environment

run: setup       ## run a command through nacre: make run CMD='…'
	@$(BIN)/nacre run -- '$(subst ','\'',$(CMD))'

test: setup      ## run all tests
	@$(BIN)/python -m pytest -q -n auto --maxprocesses 4 --dist worksteal

test-long: setup ## the tests that take minutes, with the real times
	@$(BIN)/python -m pytest -q -m long -o faulthandler_timeout=0

parts:           ## install the system parts that some tests need (Debian)
	@bash .ci/parts

lint: setup      ## ruff
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: setup     ## mypy --strict
	@$(BIN)/mypy

test-frameworks: setup   ## test the adapters, each with its framework in an environment of its own
	@$(BIN)/python tests/frameworks/run.py $(if $(REQUIRED),--required)

check: lint types test   ## everything that CI runs

fuzz: setup      ## fuzz every target: make fuzz SECONDS=60 (for each)
	@$(BIN)/python -c 'import atheris' 2>/dev/null \
	  || $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[fuzz]' \
	  || { echo "atheris cannot be installed here; nothing was fuzzed" >&2; exit 0; }; \
	$(BIN)/python tests/fuzz/run.py --seconds $(SECONDS)
	@# New examples may show an old fault: for a developer to look into, not for CI to trip over.
	@test -n "$(CI)" || NACRE_TEST_EXPLORE=yes $(BIN)/python -m pytest -q tests/properties

bench: setup     ## measure nacre, the floors and the installed peers: make bench BENCH=--quick
	@$(BIN)/python -m benchmarks $(BENCH)

record: setup    ## record the answers anew that tests/recorded compares: for a change that is meant to be seen
	@cd tests && $(abspath $(BIN))/python -m recorded.player

peers: setup     ## install the tools that the benchmarks compare with, each on its own
	@$(BIN)/python -m benchmarks.peers.environments

clean:           ## remove the private environment and caches
	rm -rf -- $(VENV) .frameworks .peers .pytest_cache .mypy_cache .ruff_cache .hypothesis
