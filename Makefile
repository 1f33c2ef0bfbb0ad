# Every target sets itself up; nothing needs to be run before it. GNU make 3.81 (macOS) is enough.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
# A suite starts thousands of processes: each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
READY := .venv/.ready
# One more than the two cores: many tests wait for servers, dbt and browsers.
WORKERS ?= 3
TESTS ?= policy_engine tests
SEED ?= 0
# Thousands of small projects are made and taken away: in memory where the machine has room for them.
# Each checkout has a folder of its own there: two may run at once.
MEMORY := /dev/shm/policy-engine-$(shell printf '%s' '$(CURDIR)' | cksum | cut -d ' ' -f 1)
TEMPORARY := $(shell [ -w /dev/shm ] && df -Pk /dev/shm | awk 'NR == 2 && $$4 > 4000000 { print "TMPDIR=$(MEMORY)" }')
IN_MEMORY := $(if $(TEMPORARY),rm -rf $(MEMORY) && mkdir -p -m 1777 $(MEMORY),:)
PYTEST := env PYTHONPATH=scripts $(TEMPORARY) $(BIN)/python -m pytest -p long_first --doctest-modules -n $(WORKERS) \
  --hypothesis-seed=$(SEED)
# What a change can break; the long proofs are for 'make evidence'.
BRIEF := -m "not evidence"
PYTHON_FILES := policy_engine tests benchmarks scripts policies docs

DEMO := policies/hospital_groups
RELEASE := $(DEMO)/out/hospital_groups.parquet
CERTIFICATE := $(DEMO)/out/hospital_groups.certificate.json

.PHONY: help setup demo clean-demo test checks lint types imports fast suite docs reference site bench evidence kills mutants meanings clean

help: ## What each target does
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

setup: $(READY) ## Make .venv with the locked versions

$(READY): uv.lock pyproject.toml scripts/setup
	@sh scripts/setup
	@touch $@

demo: $(READY) ## Release policies/hospital_groups on DuckDB and show what it did
	@echo "$$ policy-engine release $(DEMO)/policy.yaml"
	@$(BIN)/policy-engine release $(DEMO)/policy.yaml
	@echo; echo "$$ policy-engine show $(RELEASE) --rows 3"
	@$(BIN)/policy-engine show $(RELEASE) --rows 3
	@echo; echo "$$ policy-engine verify $(CERTIFICATE) --release $(RELEASE)"
	@$(BIN)/policy-engine verify $(CERTIFICATE) --release $(RELEASE)

clean-demo: ## Remove the demo's release; 'make demo' makes the same again for nothing
	rm -rf $(DEMO)/out

# The suite does not wait for types. The documentation is built, strictly, by its tests.
test: $(READY) ## Everything that CI runs
	@rm -f .checks.log; \
	$(MAKE) checks >.checks.log 2>&1 & checks=$$!; failed=0; \
	$(MAKE) suite || failed=1; \
	wait $$checks || { cat .checks.log; failed=1; }; \
	exit $$failed

checks: lint types imports ## Style, types and layers

lint: $(READY) ## ruff, its rules and its format
	$(BIN)/ruff check $(PYTHON_FILES)
	$(BIN)/ruff format --check $(PYTHON_FILES)

types: $(READY) ## mypy --strict on the package
	$(BIN)/mypy

imports: $(READY) ## The layers of the package
	$(BIN)/lint-imports

fast: $(READY) ## The tests that are not slow, and the doctests
	@$(IN_MEMORY)
	$(PYTEST) -m "not slow and not evidence" $(TESTS)

suite: $(READY) ## The tests but the long proofs, and the doctests; the accounting and the kernel at 100 % of branches
	@rm -f .coverage .coverage.* .branches.log
	@$(IN_MEMORY)
	@nice $(BIN)/python tests/prepare.py & failed=; \
	$(PYTEST) $(BRIEF) --branches $(TESTS) || failed=" tests"; \
	$(BIN)/coverage report --skip-covered --fail-under=100 >.branches.log || failed="$$failed branches"; \
	rm -rf $(MEMORY); \
	[ -z "$$failed" ] || { cat .branches.log; echo "suite: failed:$$failed" >&2; exit 1; }

docs: $(READY) ## The documentation, strictly, into docs/_build/html
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html

reference: $(READY) ## The reference pages, written anew from the code
	$(BIN)/python scripts/reference.py

SITE := docs/_build/site
site: $(READY) ## The documentation as a folder to publish: docs/_build/site
	@rm -rf $(SITE)
	$(BIN)/sphinx-build -q -W --keep-going -b html -d docs/_build/doctrees docs $(SITE)
	@rm -f $(SITE)/.buildinfo $(SITE)/objects.inv; touch $(SITE)/.nojekyll; echo "$(SITE)"

ROOM ?= accounting
SAMPLE ?= 25
mutants: $(READY) ## Small changes of a room's code that no test notices
	nice $(BIN)/python scripts/mutation_test.py $(ROOM) --sample $(SAMPLE) --seed $(SEED)

meanings: $(READY) ## Random claims, printed and run on every engine, against their reference
	@$(IN_MEMORY)
	KERNEL_SEEDS=40 nice $(PYTEST) tests/kernel

evidence: $(READY) kills ## The long proofs: every test on every engine and version, all examples, kills, OpenDP
	@$(IN_MEMORY)
	EVIDENCE=1 KERNEL_SEEDS=10 SAME_BYTES=6 NOISE_RELEASES=20 CRASH_KILLS=100 nice $(PYTEST) $(TESTS)
	$(BIN)/uv run --no-sync --with 'opendp[polars]==0.16.0' python benchmarks/beside_opendp.py

kills: $(READY) ## Releases killed at every line and at 500 random moments; 20 races
	@$(IN_MEMORY)
	nice $(BIN)/python scripts/kill_test.py lines
	nice $(BIN)/python scripts/kill_test.py random --kills 500 --seed $(SEED)
	CRASH_RACES=20 nice $(PYTEST) tests/crash -k "fifty or twice"
	CRASH_RACES=20 nice $(PYTEST) tests/contract/test_ledger_store.py -k "fifty or twice"

bench: $(READY) ## The time of a release over the same query written by hand
	$(BIN)/python benchmarks/overhead.py

clean: ## Remove what the other targets made, but no release and no ledger
	rm -rf .venv .uv build dist docs/_build .mypy_cache .pytest_cache .ruff_cache \
	  .import_linter_cache .hypothesis .coverage .coverage.* .branches.log .checks.log
