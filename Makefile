# `make demo` and `make test` are all a fresh machine needs: Python with pip, venv and its headers,
# gcc or clang, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

# FULL=1 adds the slow tests and those that need Java or Chromium, and fails where it would skip.
FULL ?=
TEST_GROUPS := --group test $(if $(FULL),--group docs --group java --group browser)
SELECT := $(if $(FULL),,-m "not slow and not java and not browser")
export CRAWLGAUGE_REQUIRE_ALL := $(FULL)

# The attacks of docs/reliability.md do TIMES as much as in the full check; fuzzers begin at SEED.
TIMES ?= 1
SEED ?= 1000000
ATTACK := CRAWLGAUGE_TIMES=$(TIMES) CRAWLGAUGE_SEED=$(SEED) $(BIN)/python -m pytest -n 2 \
	--dist loadgroup $(ARGS)
ATTACKS := fuzz guided growth bombs damage kill fail network stop

.DEFAULT_GOAL := help
.PHONY: help demo test lint format bench docs attack $(ATTACKS) clean

help:  ## Show what can be made
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16

demo: $(VENV)/installed  ## Simulate an archive, estimate its coverage, compare with the truth
	$(BIN)/crawlgauge demo build/demo
	@echo "(the command is $(BIN)/crawlgauge, or crawlgauge after: . $(BIN)/activate)"

test: $(VENV)/installed-test$(FULL)  ## Run the tests, with ruff, mypy and import-linter among them
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(SELECT) $(ARGS)

lint: $(VENV)/installed-test  ## Check style, types and the walls between the rooms
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/installed-test  ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/installed-bench  ## Measure speed against peers, in ratios
	$(BIN)/python benchmarks/run.py $(ARGS)

docs: $(VENV)/installed-docs  ## Build the documentation into docs/_build
	$(BIN)/sphinx-build --fail-on-warning --keep-going --nitpicky -b html docs docs/_build
	@echo "open docs/_build/index.html"

attack: $(ATTACKS)  ## Attack in all of these ways; TIMES=10 does ten times as much

fuzz: $(VENV)/installed-test  ## Attack readers and commands with hostile files; TIMES=12 takes an hour
	$(ATTACK) tests/fuzzing tests/faults/test_whole_commands.py tests/faults/test_hostile_parsers.py

guided: $(VENV)/installed-test  ## Attack readers by what reaches new code; TIMES=6 takes an hour
	$(PIP) install --constraint constraints.txt --group fuzz
	CRAWLGAUGE_TIMES=$(TIMES) $(BIN)/python tests/fuzzing/fuzz_guided.py build/corpus $(ARGS)

growth: $(VENV)/installed-test  ## Repeat each byte and piece of each format, and look at the time
	$(ATTACK) tests/faults/test_linear_time.py

bombs: $(VENV)/installed-test  ## Feed small files that hold much, and look at the memory
	$(ATTACK) tests/faults/test_bounded_memory.py

damage: $(VENV)/installed-test  ## Flip, cut and swap what stores hold
	$(ATTACK) tests/faults/test_damaged_stores.py tests/store/test_verifying.py

kill: $(VENV)/installed-test  ## Kill four that write one store, at random and at each step
	$(ATTACK) tests/store/test_kill.py tests/store/test_locking.py

fail: $(VENV)/installed-test  ## Let each call of the system fail; TIMES=13 misses none
	$(ATTACK) tests/faults/test_failing_calls.py tests/faults/test_standard_streams.py \
		tests/store/test_failing_disk.py

network: $(VENV)/installed-test  ## Lose answers, delay listings, break connections, send elsewhere
	$(ATTACK) tests/remote tests/remote_store tests/sources/test_remote_*.py

stop: $(VENV)/installed-test  ## Send Ctrl-C and SIGTERM to every command at several moments
	$(ATTACK) tests/faults/test_interrupts.py

clean:  ## Delete everything that was made
	rm -rf $(VENV) build dist docs/_build

$(VENV)/created:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade 'pip>=25.1'
	touch $@

# The compiled core is built anew whenever one of its sources changes.
CORE := setup.py $(wildcard src/crawlgauge/core/*.pyx src/crawlgauge/core/*.pxd)

$(VENV)/installed: $(VENV)/created pyproject.toml constraints.txt $(CORE)
	$(PIP) install --constraint constraints.txt --editable .
	touch $@

$(VENV)/installed-test$(FULL): $(VENV)/installed
	$(PIP) install --constraint constraints.txt $(TEST_GROUPS)
	touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(PIP) install --constraint constraints.txt --group docs
	touch $@

$(VENV)/installed-bench: $(VENV)/installed
	$(PIP) install --constraint constraints.txt --group bench
	touch $@
