# Two commands do everything on a fresh machine: `make run` and `make test`. Both work offline after the first time.
ifeq ($(origin PYTHON),undefined)
PYTHON := $(shell for p in python3 python3.13 python3.12 python3.11; do command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV ?= .venv
else
# `make test PYTHON=python3.13` has an environment of its own, so that .venv is not rebuilt for it.
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
$(if $(VERSION),,$(error PYTHON=$(PYTHON) does not run))
VENV ?= .venv-$(VERSION)
endif
BIN := $(VENV)/bin
SECONDS ?= 60
CALLS ?= 10000
# Many tests wait for processes: four workers keep two cores busy, and three leave a quarter of them idle.
WORKERS ?= 4

.PHONY: help base setup record run test test-parts test-long parts lint types check fuzz soak bench peers clean

help:            ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 14

base:            ## install what running needs, into a private environment
	@bash .ci/environment '$(VENV)' '$(PYTHON)'

setup:           ## install what the tests need too
	@bash .ci/environment '$(VENV)' '$(PYTHON)' dev

run: base        ## a tour of nacre, or your own command through it: make run CMD='…'
ifdef CMD
	@$(BIN)/nacre run -- '$(subst ','\'',$(value CMD))'
else
	@$(BIN)/python docs/tour.py
endif

test: setup      ## run the tests, on another interpreter too: make test PYTHON=python3.13
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

test-parts: setup   ## test with agent frameworks and clients from npm; REQUIRED=yes fails where one is missing
	@$(BIN)/python -c 'import ray' 2>/dev/null \
	  || $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[ray]' \
	  || echo "ray cannot be installed here; the cluster is not tested" >&2
	@$(if $(REQUIRED),NACRE_TEST_REQUIRED=yes )$(BIN)/python -m pytest -q -m parts -o faulthandler_timeout=0
	@$(BIN)/python tests/frameworks/run.py $(if $(REQUIRED),--required)

test-long: setup ## the tests that take minutes, with the real times
	@$(BIN)/python -m pytest -q -m long -o faulthandler_timeout=0

parts:           ## install the system parts that some tests need (Debian)
	@bash .ci/parts

lint: setup      ## ruff
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: setup     ## mypy --strict
	@$(BIN)/mypy

check: lint types test   ## what a change must pass before it is committed

fuzz: setup      ## fuzz every target: make fuzz SECONDS=60 (for each)
	@$(BIN)/python -c 'import atheris' 2>/dev/null \
	  || $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[fuzz]' \
	  || { echo "atheris cannot be installed here; nothing was fuzzed" >&2; exit 0; }; \
	$(BIN)/python tests/fuzz/run.py --seconds $(SECONDS) $(if $(CI),--seed 1)
	@# New inputs may show an old fault, which is for a developer to look into and must not fail CI: it has the same each time.
	@test -n "$(CI)" || NACRE_TEST_EXPLORE=yes $(BIN)/python -m pytest -q -n $(WORKERS) -m hypothesis

soak: SECONDS = 600
soak: setup      ## a storm of calls with random kills: make soak SECONDS=600 CALLS=10000 [SEED=N]
	@$(BIN)/python tests/soak/storm.py --seconds $(SECONDS) --calls $(CALLS) $(if $(SEED),--seed $(SEED))

bench: setup     ## measure nacre, the floors and the installed peers: make bench BENCH=--quick
	@$(BIN)/python -m benchmarks $(BENCH)
	@$(BIN)/python -m benchmarks.mcp_round_trip

record: setup    ## record anew the answers that tests/recorded compares, after a change that users see
	@cd tests && $(abspath $(BIN))/python -m recorded.player

peers: setup     ## install the tools that the benchmarks compare with, each on its own
	@$(BIN)/python -m benchmarks.peers.environments

clean:           ## remove the private environment and caches
	rm -rf -- .venv .venv-* .frameworks .peers .pytest_cache .mypy_cache .ruff_cache .hypothesis
