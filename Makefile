# `make demo` and `make test` set up everything they need in .venv: Python 3.11+, pip and a C++ compiler
# are all that a machine has to have.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src -name '*.[ch]pp' -o -name '*.py' -o -name '*.pyi') CMakeLists.txt pyproject.toml README.md LICENSE
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Not -C: the pip that Debian 12 ships does not know it yet.
DEVELOP := --config-settings=cmake.define.BOOSTKMEANS_WERROR=ON

.PHONY: help demo test lint stub bench bench-parts docs paper paper-data paper-full fuzz crash sanitize clean

help:
	@echo "make demo      cluster a real sample: ours beside k-means, with a picture"
	@echo "make test      all tests, style and types included"
	@echo "make bench     the peers' table, docs/peers.md: ratios (about an hour on 2 cores; TORCH=1: fastkmeans, too)"
	@echo "make bench-parts  the figures of docs/benchmarks.md (about 2 hours on 2 cores)"
	@echo "make paper     the paper's experiments at a small size, into docs/paper (less than an hour)"
	@echo "make paper-data  download the paper's public data, where there is a network"
	@echo "make paper-full  the paper's experiments at its own size (many hours; goes on where it stopped)"
	@echo "make docs      the documentation as a site, in build/docs/html"
	@echo "make fuzz      damaged files of every format, for five minutes"
	@echo "make crash     kills of saves and fits at random moments"
	@echo "make sanitize  the core under AddressSanitizer, UBSan and ThreadSanitizer"
	@echo "make stub      regenerate src/boostkmeans/_core.pyi"
	@echo "make clean     remove what these made"

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("boostkmeans needs Python 3.11 or later, $(PYTHON) is %d.%d: make PYTHON=..." % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

# One stamp for each set of dependencies; each is remade when the sources change.
$(VENV)/.plot: $(BIN)/python $(SOURCES)
	$(PIP_INSTALL) '.[plot]'
	@touch $@

$(VENV)/.test: $(BIN)/python $(SOURCES)
	$(PIP_INSTALL) $(DEVELOP) '.[test]'
	@touch $@ $(VENV)/.plot

$(VENV)/.bench: $(VENV)/.test
	$(PIP_INSTALL) '.[bench]'
	@touch $@ $(VENV)/.test $(VENV)/.plot

$(VENV)/.docs: $(BIN)/python $(SOURCES)
	$(PIP_INSTALL) '.[docs]'
	@touch $@ $(VENV)/.plot

demo: $(VENV)/.plot
	$(BIN)/python examples/demo.py

# Two at a time: many tests wait for processes that they start.
test: $(VENV)/.test
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/.test
	$(BIN)/python -m ruff check . && $(BIN)/python -m ruff format --check . && $(BIN)/python -m mypy

stub: $(VENV)/.test
	$(BIN)/python -m nanobind.stubgen -q -m boostkmeans._core -o src/boostkmeans/_core.pyi

# Warnings are errors: a link that leads nowhere, a name without a page.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -q -n -W --keep-going -b html -d build/docs/doctrees docs build/docs/html
	@echo "The site: build/docs/html/index.html"

# fastkmeans is among the peers with TORCH=1: it brings PyTorch, which is large.
bench: $(VENV)/.bench
	$(if $(TORCH),$(PIP_INSTALL) '.[bench-torch]')
	$(BIN)/python benchmarks/arena.py

bench-parts: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py

paper: $(VENV)/.plot
	$(BIN)/python paper/run_paper.py

# What is not to be had is replaced, and the pages say by what.
paper-data: $(VENV)/.plot
	-$(BIN)/python paper/public_data.py siftsmall sift cluto

paper-full: paper-data
	$(BIN)/python paper/run_paper.py --full

fuzz: $(VENV)/.test
	$(BIN)/python tests/fuzz.py --seconds 300

crash: $(VENV)/.test
	$(BIN)/python tests/crash.py --saves 200 --fits 50

sanitize: $(BIN)/python
	$(PIP_INSTALL) cmake
	for kind in address,undefined thread; do \
	  $(BIN)/cmake -S . -B build/$$kind -DBOOSTKMEANS_BINDINGS=OFF -DBOOSTKMEANS_WERROR=ON \
	    -DBOOSTKMEANS_SANITIZE=$$kind >/dev/null && \
	  $(BIN)/cmake --build build/$$kind --parallel && build/$$kind/exercise || exit 1; \
	done

clean:
	rm -rf $(VENV) build demo docs/gallery .mypy_cache .pytest_cache .ruff_cache .hypothesis
