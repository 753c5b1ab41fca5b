# Everything installs itself into .venv: on a fresh clone `make demo` and `make test` are enough. The demo installs
# the core alone, in half the time and half the space; tests, checks and the documentation add their tools to it.
VENV ?= .venv
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := $(VENV)/bin
CORE := $(VENV)/.core
STAMP := $(VENV)/.installed
# Compiling every module of every package takes longer than installing them; Python compiles those that are imported,
# and must be allowed to keep them: otherwise every process compiles a thousand modules again, for several seconds.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check
# Commands end with what to run next, and nobody has `chorus` on the path yet.
ON_PATH = command -v chorus >/dev/null || echo "chorus is $(BIN)/chorus; '. $(BIN)/activate' lets you type chorus"

.PHONY: help setup demo demo-short test test-long torture test-sb3 lint check docs bench bench-peers format clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(STAMP)  ## install Chorus and its development tools into .venv

$(CORE): pyproject.toml
	@test -n "$(PYTHON)" || { echo "Chorus needs Python 3.11 or newer and found none; install one or run 'make PYTHON=/path/to/python3.11 ...'."; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	@touch $(CORE)

$(STAMP): $(CORE)
	$(PIP) -e ".[dev]"
	@touch $(STAMP)

demo: $(CORE)  ## the curse of diversity on MinAtar, four to nine minutes on two recent cores, ending in a report
	$(BIN)/chorus demo
	@$(ON_PATH)

demo-short: $(CORE)  ## the same as small as it can be, a minute or two: does everything work here?
	$(BIN)/chorus demo --scale smoke
	@$(ON_PATH)

# Three workers for two cores, because many tests wait for processes, browsers and clusters.
PYTEST = $(BIN)/python -m pytest -n 3 --dist worksteal tests
test: setup  ## laws, known numbers, probes, kills, browser and everything fast, about nine minutes on two cores of a Xeon
	$(PYTEST) -m "not long"

test-long: setup  ## the rest: every other preset, products, notebooks and Python of the documentation
	$(PYTEST) -m long

TORTURE ?= 30
torture: setup  ## random kills, damage, wrong input, full disks; minutes, or hours with TORTURE=1000 kills
	CHORUS_PATIENCE_SECONDS=3600 PYTHONPATH=tests:tests/torture:$(PYTHONPATH) $(BIN)/python -m campaign --kills $(TORTURE) $(ARGS)

lint: setup  ## format, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

check: setup  ## format, lint, types, fast tests
	@$(MAKE) --no-print-directory -j 2 lint fast

.PHONY: fast
fast: setup
	$(BIN)/python -m pytest -n 2 --dist worksteal -q -m "not slow" tests

docs: setup  ## the documentation as a website, into site/; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

bench: setup  ## speed ratios; writes benchmarks/latest.json and appends to benchmarks/history.jsonl
	$(BIN)/python -m benchmarks

# Other libraries get environments of their own; sbx-rl brings stable-baselines3, and rejax works with gymnax 0.0.9 only.
bench-peers:  ## training and updates against rejax, SBX and Stable-Baselines3; merged into benchmarks/latest.json
	$(PYTHON) -m venv .venv-rejax
	.venv-rejax/bin/python -m pip install --quiet --disable-pip-version-check rejax gymnax==0.0.9
	$(PYTHON) -m venv .venv-sbx
	.venv-sbx/bin/python -m pip install --quiet --disable-pip-version-check -e . sbx-rl
	.venv-sbx/bin/python -m benchmarks.peers
	.venv-sbx/bin/python -m benchmarks.sbx_update

test-sb3:  ## a run in Stable-Baselines3's evaluate_policy: the real package, installed for it alone into .venv-sb3
	$(PYTHON) -m venv .venv-sb3
	.venv-sb3/bin/python -m pip install --quiet --disable-pip-version-check -e . stable-baselines3 pytest hypothesis beartype
	.venv-sb3/bin/python -m pytest -q tests/api/test_predict.py -k stable_baselines3

format: setup  ## rewrite the code in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## remove the virtual environment and what tools left behind
	rm -rf $(VENV) .venv-rejax .venv-sbx .venv-sb3 .pytest_cache .mypy_cache .ruff_cache build site src/*.egg-info
