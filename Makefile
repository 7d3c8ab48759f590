# Two commands for a fresh machine: make demo, make test. Both need nothing but Python 3.11 - 3.13.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# The index of torch's CPU build, if Linux has no NVIDIA driver and the index answers: pip's own choice on Linux is the
# build for GPUs, 4 GB more. `make TORCH_INDEX=` leaves the choice to pip.
CPU_INDEX := https://download.pytorch.org/whl/cpu
TORCH_INDEX ?= $(shell test "$$(uname -s)" = Linux && ! test -e /proc/driver/nvidia && ! command -v nvidia-smi > /dev/null && \
	$(BIN)/python -c "from urllib.request import urlopen; urlopen('$(CPU_INDEX)/torch/', timeout=5)" 2> /dev/null && \
	echo $(CPU_INDEX))
PARALLEL := OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses logical --maxprocesses 4 --dist loadfile
BENCH := ADBENCH_TEXT_DATA=$(or $(ADBENCH_TEXT_DATA),$(abspath ../shared/data)) ADBENCH_TEXT_OFFLINE=1 \
	MLFLOW_DISABLE_TELEMETRY=true $(BIN)/python benchmarks

.PHONY: demo lint test test-data slow faults bench gallery live docs dist image gpu clean build/assembled

DEMO := --sweep demo --tracking-uri sqlite:///demo.db
demo: .venv/installed-for-demo
	@echo "The corpus is pydocs, the docstrings of installed libraries: its figures follow their versions."
	$(BIN)/adbench-text run $(DEMO) --no-report
	$(BIN)/adbench-text report $(DEMO) --table levels --quiet
	$(BIN)/adbench-text report $(DEMO) --format html --output report.html --quiet
	@echo "All tables and figures: report.html. The next commands:"
	@echo "    $(BIN)/adbench-text ui --tracking-uri sqlite:///demo.db  # every run of the demo, in MLflow"
	@echo "    $(BIN)/adbench-text run -d ensemble:robust -s 20news  # a corpus of the papers; it is downloaded"
	@echo "    $(BIN)/adbench-text odd FILE                      # the odd documents of a file of yours"

lint: .venv/installed-for-tests build/assembled
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(PARALLEL)

# What reads real data, in the folder ADBENCH_TEXT_DATA or ../shared/data; make test and make slow have it, too.
test-data: .venv/installed-for-tests
	$(PARALLEL) -m data

# Wheels, browsers, trained networks, every PyOD detector.
slow: .venv/installed-for-tests
	$(PARALLEL) -m slow --ignore=tests/faults

# Killed processes, lost servers and racing runs; some minutes.
faults: .venv/installed-for-tests
	$(BIN)/python -m pytest -m slow tests/faults

# One script after the other, some minutes each; they print medians and ratios of one run.
bench: .venv/installed-for-tests
	@for script in text linear cell commands sweep cvdd date documents semhash_filter hint3 sample marks first_list misfiled waves drift grew real serve; do \
		echo; echo "== benchmarks/$$script.py"; $(BENCH)/$$script.py || exit 1; \
	done

# Run the notebooks of docs/gallery, which keep their outputs; add --inplace to renew these.
gallery: .venv/installed-for-gallery
	PATH="$(CURDIR)/$(BIN):$$PATH" OMP_NUM_THREADS=1 $(BIN)/jupyter execute --timeout=900 docs/gallery/*.ipynb

# The pages in docs/live, as the commands write them today, and the picture of README. It needs chromium.
live: .venv/installed-for-demo
	rm -rf build/live
	mkdir -p build/live docs/live
	cd build/live && PATH="$(CURDIR)/$(BIN):$$PATH" && export PATH && adbench-text odd --example && \
		adbench-text run $(DEMO) --no-report && \
		adbench-text report $(DEMO) --format html --output report.html --quiet
	cp build/live/odd.html build/live/report.html docs/live
	chromium --headless=new --no-sandbox --hide-scrollbars --window-size=1000,1000 \
		--screenshot=docs/heatmap.png "file://$(CURDIR)/docs/live/odd.html"

# README, the pages of docs/, the measured results and CONTRIBUTING.md as a site in build/site.
docs: .venv/installed-for-docs
	rm -rf build/docs build/site
	mkdir -p build
	cp -r docs build/docs
	cp -r reports/results CONTRIBUTING.md SECURITY.md CHANGELOG.md CITATION.cff references.bib build/docs/
	cat README.md docs/index.md > build/docs/index.md
	sed -i 's#](../reports/results/#](results/#g; s#](../\(CONTRIBUTING\|SECURITY\).md#](\1.md#g; s#](../README.md#](index.md#g' build/docs/*.md
	sed -i 's#](../../reports/results/#](../results/#g' build/docs/gallery/*.ipynb
	sed -i 's#](docs/#](#g; s#](reports/results/#](results/#g' $(addprefix build/docs/,index.md CONTRIBUTING.md CHANGELOG.md)
	sed -i -E 's#\[([^]]*)\]\((live/[a-z]+\.html)\)#<a href="\2">\1</a>#g' build/docs/*.md
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -q build/docs build/site
	cp -r docs/live build/site
	@echo "Open build/site/index.html"

# A release, in dist: build/lib would keep deleted files, and only a wheel of the checkout holds its commit.
dist: build/release/installed
	rm -rf dist build/lib
	build/release/bin/python -m build --sdist --wheel
	build/release/bin/python -m twine check --strict dist/*

# A container image; IMAGE_OPTIONS are options of docker build, such as --build-arg EXTRAS="distributed encoders".
image:
	@for builder in docker podman; do \
		if $$builder info > /dev/null 2>&1; then \
			exec $$builder build --build-arg COMMIT="$$(git describe --always --dirty --abbrev=40 --exclude='*')" \
				--tag adbench-text $(IMAGE_OPTIONS) .; \
		fi; \
	done; \
	echo "make image needs docker or podman, and neither answers here: install one of them, or start it." >&2; \
	exit 1

# Only where there is a GPU: the tests that need one, and the benchmark of DATE.
gpu: .venv/installed-for-tests
	@if $(BIN)/python -c "import sys, torch; sys.exit(not torch.cuda.is_available())"; then \
		$(BIN)/python -m pytest -m gpu && \
		$(BENCH)/date.py cuda; \
	else \
		echo "No GPU: torch sees no CUDA device here, so nothing was tested."; \
	fi

# The four folders linked into one package, for mypy; made anew each time to follow new and deleted files. Where links
# are refused they are copied.
ASSEMBLED := $(addprefix ../../../,adbench_text/* detectors datasets reports)
build/assembled:
	rm -rf $@
	mkdir -p $@/adbench_text
	cd $@/adbench_text && { ln -s $(ASSEMBLED) . || cp -R $(ASSEMBLED) .; }

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing (some minutes, mostly torch) ..."
	@index="$(TORCH_INDEX)"; if [ -n "$$index" ]; then \
		echo "torch: from $$index"; \
		$(INSTALL) --no-deps --index-url "$$index" "$$(grep ^torch== constraints.txt)"; \
	fi
	$(INSTALL) --editable .
	@touch $@

.venv/installed-for-tests: .venv/installed
	$(INSTALL) --editable ".[test]"
	@touch $@

.venv/installed-for-demo: .venv/installed
	$(INSTALL) --editable ".[glove]"
	@touch $@

.venv/installed-for-gallery: .venv/installed
	$(INSTALL) --editable ".[gallery]"
	@touch $@

.venv/installed-for-docs: .venv/installed
	$(INSTALL) --editable ".[docs]"
	@touch $@

# An environment of its own: a release needs neither torch nor this package. With [md] twine renders README.
build/release/installed: Makefile constraints.txt
	$(PYTHON) -m venv build/release
	build/release/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		"build>=1.2" "twine>=6" "readme-renderer[md]"
	@touch $@

clean:
	rm -rf .venv build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache
