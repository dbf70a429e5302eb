# Needs only Python 3.11 to 3.14 and make.
PYTHON ?= python3
VENV := .venv
CUP := $(VENV)/bin/cup

SECONDS ?= 1800

.PHONY: install train test test-slow fuzz soak docs clean

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --editable '.[dev]'
	touch $@

train: install  ## CUP learns to hop under a speed limit: 500,000 steps, the best policy evaluated, learning curve
	$(CUP) train hopper-speed --algo cup --steps 500_000 --eval-every 10 --evaluate --plot

test: install
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check --quiet .
	$(VENV)/bin/mypy
	$(VENV)/bin/python -m pytest -n 2

test-slow: install  ## studies of minutes to hours
	$(VENV)/bin/python -m pytest -m slow

fuzz: install  ## an hour of damaged files, other ones each time
	CUPRL_FUZZ_SECONDS=3600 $(VENV)/bin/python -m pytest -m slow tests/test_fuzz.py

soak: install  ## trainings, grids and workers killed, disks filled, files damaged; `make soak SECONDS=60` for a minute
	$(VENV)/bin/python -m tests.soak --seconds $(SECONDS)

docs: install  ## the documentation site, in site/index.html: to open in a browser, without any network
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict

clean:
	rm -rf $(VENV) site
