# Two commands for a fresh machine: make demo, make test. Both need nothing but Python 3.11 - 3.13.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
DEMO := --detector llr --detector ocsvm --detector iforest --detector pyod-knn --encoder svd --dataset pydocs

.PHONY: demo test slow faults bench gpu clean build/assembled

demo: .venv/installed
	$(BIN)/adbench-text run $(DEMO)
	$(BIN)/adbench-text report --dataset pydocs
	$(BIN)/adbench-text report --dataset pydocs --format html --output report.html

test: .venv/installed-for-tests build/assembled
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses logical --maxprocesses 4 --dist loadfile

slow: .venv/installed-for-tests
	$(BIN)/python -m pytest -m slow

# Killed processes, lost servers and racing runs; some minutes. Part of slow.
faults: .venv/installed-for-tests
	$(BIN)/python -m pytest -m slow tests/faults

bench: .venv/installed-for-tests
	$(BIN)/python -m pytest -m bench --benchmark-columns=median,iqr,rounds --benchmark-sort=name

# Only where there is a GPU: the tests that need one, and the benchmark of DATE.
gpu: .venv/installed-for-tests
	@if $(BIN)/python -c "import sys, torch; sys.exit(not torch.cuda.is_available())"; then \
		$(BIN)/python -m pytest -m gpu && \
		$(BIN)/python -m pytest -m bench -s -k cuda tests/bench/test_bench_date.py; \
	else \
		echo "No GPU: torch sees no CUDA device here, so nothing was tested."; \
	fi

# The four folders linked into one package, for mypy; made anew each time to follow new and deleted files.
build/assembled:
	rm -rf $@
	mkdir -p $@/adbench_text
	cd $@/adbench_text && ln -s $(addprefix ../../../,adbench_text/* detectors datasets reports) .

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing (some minutes, mostly torch) ..."
	$(INSTALL) --editable .
	@touch $@

.venv/installed-for-tests: .venv/installed
	$(INSTALL) --editable ".[test]"
	@touch $@

clean:
	rm -rf .venv build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache
