# Everything runs in a virtual environment of its own; nothing else is needed than Python and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Two stamps: the arena can be used, and it can be worked on. The tools for work are five times as large.
USABLE := $(VENV)/.usable
READY := $(VENV)/.ready
TOOLS := constraints.txt
# Many tests only wait for a process, so more of them than cores may run at once.
WORKERS ?= 4
# pytest rewrites the assertions of each file once and keeps the result. One process does that before the others start,
# which would all do it at the same time; what it finds wrong the others report.
PYTEST = $(BIN)/pytest -q --collect-only >/dev/null 2>&1; $(BIN)/pytest -q -n $(WORKERS) --dist loadgroup
# Tests start hundreds of interpreters: they need not compile the sources each time, whatever is usual on this machine.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-all compiled test-compiled pure coverage fuzz check bench promises sprt attack format playthroughs seccomp calibration spec
.PHONY: strength picture clean help

demo: $(USABLE)  ## the main job, small: a tournament of the bundled bots
	@$(BIN)/arena demo

test: $(READY)  ## the tests for every change, in some two minutes
	@$(PYTEST) -m "not extended"

test-all: $(READY)  ## the rest: documents, clusters, kills, wheels, a compiled build, sandboxes, a browser, eight languages
	@$(PYTEST) -m extended

compiled: $(READY) pure  ## compile the modules that every decision passes through, in place; needs a C compiler
	@ARENA_COMPILED=1 $(BIN)/python setup.py --quiet build_ext --inplace
	@$(BIN)/arena --version

pure:  ## remove what was compiled: the sources run again
	@rm -rf build/lib.* arena/support/compiled_from.txt
	@find arena engine protocol -name '*.so' -delete

# In a copy with an environment of its own, so that the sources are what runs here, and that every command, worker and
# bot of the tests there is compiled. The environment is kept: it takes longer to make than the rest of the copy.
COPY := build/compiled_copy
test-compiled: $(READY)  ## all tests, compiled, in a copy; needs a C compiler
	@mkdir -p $(COPY)
	@find $(COPY) -mindepth 1 -maxdepth 1 -not -name $(VENV) -exec rm -rf {} +
	@git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --no-dereference --preserve=timestamps -t $(COPY)
	@$(MAKE) --no-print-directory -C $(COPY) compiled
	@$(MAKE) --no-print-directory -C $(COPY) test test-all

coverage: pure $(READY)  ## the tests, and the branches that they do not reach (a bot that a keeper starts is not measured)
	@rm -rf build/coverage && mkdir -p build/coverage
	@# Where a test limits the size of files, coverage could not save its own: those tests are left out.
	@$(BIN)/coverage run -m pytest -q -n $(WORKERS) --dist loadgroup -k "not no_half_page and not full_disk"; status=$$?; \
	$(BIN)/coverage combine -q && $(BIN)/coverage report && exit $$status

fuzz: $(READY)  ## the fuzz tests alone, for some minutes
	@$(BIN)/pytest -q -n auto --hypothesis-profile=fuzz -m fuzz

check: $(READY)  ## lint, format and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

bench: $(READY)  ## speed, each figure next to a baseline of the same run; FULL=1 for the long versions
	@$(BIN)/python -m tests.bench.engine
	@$(BIN)/python -m tests.bench.arena
	@$(BIN)/python -m tests.bench.cluster
	@$(BIN)/python -m tests.bench.sandbox
	@$(BIN)/python -m tests.bench.rounds
	@$(BIN)/python -m tests.bench.server
	@$(BIN)/python -m tests.bench.report
	@$(BIN)/python -m tests.bench.offline
	@$(BIN)/python -m tests.bench.strangers
	@$(BIN)/python -m tests.bench.twice

promises: $(READY)  ## the figures that are promised, in some minutes
	@$(BIN)/python -m tests.bench.promises

sprt: $(READY)  ## error rates and lengths of 2,000 sequential tests at each default bound (some minutes)
	@$(BIN)/python -m tests.bench.sprt

attack: $(READY)  ## stalls, storms, strangers, kills, sandboxes and bad bots, for some minutes; fails if any did harm
	@$(BIN)/python -m tests.attack

format: $(READY)  ## repair lint and format
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

playthroughs: $(READY)  ## regenerate the golden games; read the diff before you commit it
	@$(BIN)/python -m tests.golden.playthrough
	@$(BIN)/python -m tests.golden.replay

seccomp: $(READY)  ## regenerate the filters of system calls, from the rules in tests/tools/seccomp.py
	@$(BIN)/python -m tests.tools.seccomp

calibration: $(READY)  ## fit the curves of the bundled evaluator to many rounds (some minutes)
	@$(BIN)/python -m tests.tools.calibration

strength: $(READY)  ## how the example bots fare against each other (some minutes)
	@$(BIN)/python -m tests.bench.strength

spec: $(READY)  ## rewrite the generated parts of SPEC.md and docs/library.md
	@$(BIN)/python -m tests.docs.spec
	@$(BIN)/python -m tests.docs.export_columns

picture: $(READY)  ## draw docs/report.png, the picture in README.md (plays for a minute; needs chromium)
	@$(BIN)/python -m tests.docs.picture

clean: pure  ## remove the virtual environment and all caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(USABLE): WANTED := --editable .
$(READY): WANTED := --constraint $(TOOLS) --editable '.[test,check]'
$(READY): $(TOOLS)
$(USABLE) $(READY): pyproject.toml
	@echo "Installing what this needs into $(VENV) (once) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "schotten-arena needs Python 3.11 or newer, this is " + sys.version.split()[0])'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(WANTED)
	@touch $(USABLE) $@
