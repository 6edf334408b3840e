# `make demo` and `make test` set up everything they need in .venv. The machine needs Python 3.11 or later, pip
# and a C++ compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
SOURCES := $(shell find src -name '*.[ch]pp' -o -name '*.py' -o -name '*.pyi' -o -path '*/_page/*') CMakeLists.txt pyproject.toml README.md LICENSE
CPP := $(shell find src tests -name '*.[ch]pp')
# `phase "Message" command` prints the message and the elapsed time; `quiet` hides the output unless it fails.
PHASE := @tools/phase.sh
QUIET := @tools/phase.sh --quiet
# pip's -C is not used: the pip of Debian 12 does not know it.
PIP_INSTALL := $(PY) -m pip install --disable-pip-version-check
# `$(INSTALL_GROUP) GROUP` installs a dependency group of pyproject.toml, with any version of pip.
INSTALL_GROUP := $(PY) tools/install_group.py
DEVELOP := --config-settings=cmake.define.BOOSTKMEANS_WERROR=ON
# Two workers: many tests wait for processes that they start.
PYTEST := $(PY) -m pytest -n 2 --dist worksteal

.PHONY: help demo test test-browser browser page-bundle screenshots test-cluster test-oldest test-clang test-arm wheels check lint tidy coverage stub layers hooks bench bench-parts docs paper paper-data paper-full \
  paper-estimate paper-seconds fuzz crash hostile sanitize sanitize-python clean

help:
	@echo "For users:"
	@echo "  make demo         Cluster a real sample with boost k-means and k-means, draw a picture, and show the clusters."
	@echo "  make docs         Build the documentation as a web site in build/docs/html."
	@echo "For developers:"
	@echo "  make test         Check style and types, then run all tests (about 10 minutes on 2 cores)."
	@echo "  make test-cluster Fit on Dask and Ray while workers are killed (about 20 minutes; RESULTS=1 stores the counts)."
	@echo "  make test-oldest  Run the tests of the core parts with the oldest supported packages (about 10 minutes)."
	@echo "  make test-clang   Compile with Clang, warnings as errors, and run the tests of the core (about 10 minutes)."
	@echo "  make test-arm     Compile for arm64 and run the tests of the core under qemu (about 15 minutes; apt-get)."
	@echo "  make wheels       Build, check and test the source distribution and the wheels (about 20 minutes)."
	@echo "  make test-browser Open pages of up to 1,000,000 rows in a browser, and print times (about 2 minutes)."
	@echo "  make browser      Install Chromium with apt-get, for the tests of the explorer's page."
	@echo "  make page-bundle  Bundle the explorer's page from explorer/ (needs npm)."
	@echo "  make screenshots  Take the screenshots of the explorer in docs/images."
	@echo "  make check        Run the tests without the slow ones (about 2 minutes)."
	@echo "  make lint         Check style, types, layers, spelling and docstrings (about 1 minute)."
	@echo "  make tidy         Run clang-tidy on the C++ core (several minutes)."
	@echo "  make coverage     Measure the line coverage of Python and C++ (about 15 minutes)."
	@echo "  make hooks        Install the pre-commit hooks into this clone."
	@echo "  make stub         Regenerate src/boostkmeans/_core.pyi from the compiled core."
	@echo "  make layers       Redraw the diagram of the layers in CONTRIBUTING.md."
	@echo "  make fuzz         Read damaged files of every format for five minutes."
	@echo "  make crash        Kill saves and fits at random moments, and check what is left."
	@echo "  make hostile      Attack the library in many ways, and count failures: docs/reliability.md (about 10 minutes)."
	@echo "  make sanitize     Run the core under AddressSanitizer, UBSan and ThreadSanitizer."
	@echo "  make sanitize-python  Run part of the Python tests under AddressSanitizer (about 10 minutes)."
	@echo "Measurements:"
	@echo "  make bench        Compare with other libraries: docs/peers.md (about 2 hours; TORCH=1 adds fastkmeans)."
	@echo "  make bench-parts  Measure the parts of the library: docs/benchmarks.md (about 2 hours)."
	@echo "  make paper        Run the experiments of the paper at a small size: docs/paper (less than 1 hour)."
	@echo "  make paper-data   Download the public data sets of the paper."
	@echo "  make paper-estimate: Show what is stored at the paper's size, and how long the rest takes."
	@echo "  make paper-full   Run the experiments at the paper's size (about a day; continues where it stopped)."
	@echo "  make paper-seconds: Time a few iterations of each method at the paper's size, on a quiet machine (1 hour)."
	@echo "  make clean        Remove everything that these commands created."

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit("boostkmeans needs Python 3.11 or later, but $(PYTHON) is %d.%d. Use make PYTHON=..." % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	$(QUIET) "Creating $(VENV)" $(PYTHON) -m venv $(VENV)

# One stamp file per set of dependencies; a stamp is remade when the sources change.
$(VENV)/.plot: $(PY) $(SOURCES)
	$(QUIET) "Compiling the C++ core and installing (1-2 minutes)" $(PIP_INSTALL) '.[plot,explore]'
	@touch $@

$(VENV)/.test: $(PY) $(SOURCES)
	$(QUIET) "Compiling the C++ core and installing it with the test tools (2-3 minutes)" $(INSTALL_GROUP) test $(DEVELOP) .
	@touch $@ $(VENV)/.plot

$(VENV)/.bench: $(VENV)/.test
	$(QUIET) "Installing the libraries to compare with" $(INSTALL_GROUP) bench .
	@touch $@ $(VENV)/.test $(VENV)/.plot

$(VENV)/.docs: $(PY) $(SOURCES)
	$(QUIET) "Compiling the C++ core and installing it with Sphinx (2-3 minutes)" $(INSTALL_GROUP) docs .
	@touch $@ $(VENV)/.plot

# Tools that do not depend on the sources of the package: they are installed once.
$(VENV)/.coverage: $(VENV)/.test
	$(QUIET) "Installing the coverage tools" $(INSTALL_GROUP) coverage
	@touch $@ $(VENV)/.test $(VENV)/.plot

$(VENV)/.dev: $(VENV)/.test
	$(QUIET) "Installing pre-commit and clang-tidy" $(INSTALL_GROUP) dev
	@touch $@ $(VENV)/.test $(VENV)/.plot

demo: $(VENV)/.plot
	$(PHASE) "Clustering the sample in examples/data (half a minute)" $(PY) examples/demo.py

test: lint
	$(PHASE) "Running all tests on 2 cores (about 8 minutes)" $(PYTEST)
	$(PHASE) "Testing the explorer's page in a browser (about 1 minute)" $(PYTEST) tests/browser

check: $(VENV)/.test
	$(PHASE) "Running the quick tests on 2 cores (about 2 minutes)" $(PYTEST) -m "not slow"

# The oldest versions that pyproject.toml allows, in an environment of their own.
test-oldest: $(PY)
	$(PHASE) "Testing with the oldest supported packages (about 10 minutes)" $(PY) tools/try_oldest.py

# CLANG=clang++-19 chooses another version.
test-clang: $(VENV)/.test
	$(PHASE) "Testing a core that Clang has compiled (about 10 minutes)" tools/try_clang.sh $(CLANG)

test-arm: $(PY)
	$(PHASE) "Testing on an emulated arm64 processor (about 15 minutes)" tools/try_arm.sh

# The wheels are in build/dist. zig compiles them for an old glibc; interpreters are searched on the PATH and in pyenv.
wheels: $(PY)
	$(QUIET) "Creating build/wheels/tools" $(PY) -m venv --clear build/wheels/tools
	$(QUIET) "Installing the tools" build/wheels/tools/bin/python tools/install_group.py wheels
	$(PHASE) "Building and checking the wheels (about 15 minutes)" build/wheels/tools/bin/python tools/build_wheels.py
	$(PHASE) "Testing the wheels in new environments (about 5 minutes)" build/wheels/tools/bin/python tools/try_wheels.py

# One million rows in a browser: how long the page takes to open, and how long a frame takes.
test-browser: $(VENV)/.test browser
	$(PHASE) "Testing the explorer's page in a browser (about 2 minutes)" $(PY) -m pytest tests/browser tests/browser_large -s

# Where apt-get is missing or not allowed, the tests that need a browser are skipped.
browser:
	@tools/install_browser.sh

# The sources are in explorer/. The bundle is checked in, so that users need no npm.
page-bundle:
	$(QUIET) "Installing esbuild" npm --prefix explorer ci
	$(PHASE) "Bundling the explorer's page" npm --prefix explorer run --silent build

screenshots: $(VENV)/.test browser
	$(PHASE) "Taking screenshots for the documentation" env BOOSTKMEANS_SCREENSHOTS=1 $(PY) -m pytest tests/browser/test_page_screenshots.py

# Tests start and kill clusters of their own, so they run one after the other.
test-cluster: $(VENV)/.test
	$(PHASE) "Comparing labels on Dask and Ray, and killing workers (about 20 minutes)" \
	  env $(if $(RESULTS),BOOSTKMEANS_CLUSTER_RESULTS=1) $(PY) -m pytest tests/cluster --durations=10

lint: $(VENV)/.test
	$(QUIET) "Checking style with ruff" $(PY) -m ruff check .
	$(QUIET) "Checking the format of the Python code" $(PY) -m ruff format --check .
	$(QUIET) "Checking the format of the C++ code" $(BIN)/clang-format --dry-run --Werror $(CPP)
	$(QUIET) "Checking spelling" $(BIN)/codespell
	$(QUIET) "Checking the layers with import-linter" env PYTHONPATH=src $(BIN)/lint-imports --no-logo
	$(QUIET) "Checking public docstrings with numpydoc" $(PY) tools/check_docstrings.py
	$(QUIET) "Checking types with mypy (half a minute the first time)" $(PY) -m mypy

# clang-tidy reads how each file is compiled from build/tidy. Two processes at a time.
tidy: $(VENV)/.dev
	$(QUIET) "Configuring build/tidy" $(BIN)/cmake -G Ninja -S . -B build/tidy -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
	  -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) -DPython_EXECUTABLE=$(abspath $(PY)) \
	  -Dnanobind_DIR="$$($(PY) -m nanobind --cmake_dir)"
	$(PHASE) "Running clang-tidy (several minutes)" sh -c 'find src tests/core -name "*.cpp" | \
	  xargs -P 2 -n 1 $(BIN)/clang-tidy -p build/tidy --quiet'

# Line coverage of both languages, from one run of the tests against a core that counts its lines.
coverage: $(VENV)/.coverage
	$(PHASE) "Measuring coverage (about 15 minutes)" $(PY) tools/measure_coverage.py

hooks: $(VENV)/.dev
	$(BIN)/pre-commit install

stub: $(VENV)/.test
	$(PY) -m nanobind.stubgen -q -m boostkmeans._core -o src/boostkmeans/_core.pyi

layers: $(VENV)/.test
	env PYTHONPATH=src $(PY) tools/draw_layers.py

# A broken link or a name without a page is an error.
docs: $(VENV)/.docs
	$(PHASE) "Building the site (2-3 minutes)" $(PY) -m sphinx -q -n -W --keep-going -b html -d build/docs/doctrees docs build/docs/html
	@echo "Open build/docs/html/index.html"

# With TORCH=1, fastkmeans is compared, too. It needs PyTorch, which is large. The first run installs 0.7.0 from the git
# history into an environment of its own; BOOSTKMEANS_BASELINE_PYTHON=PATH uses an existing one.
bench: $(VENV)/.bench
	$(if $(TORCH),$(QUIET) "Installing PyTorch and fastkmeans" $(INSTALL_GROUP) bench-torch)
	$(PHASE) "Comparing with other libraries and 0.7.0 (about 2 hours)" $(PY) benchmarks/arena.py

bench-parts: $(VENV)/.bench
	$(PHASE) "Measuring the parts of the library (about 2 hours)" $(PY) benchmarks/run.py

paper: $(VENV)/.plot
	$(PHASE) "Running the experiments at a small size (less than 1 hour)" $(PY) paper/run_paper.py

# Data sets that cannot be downloaded are replaced by generated ones; the pages say so.
paper-data: $(VENV)/.plot
	-$(PHASE) "Downloading public data sets" $(PY) paper/public_data.py siftsmall sift cluto

paper-estimate: $(VENV)/.plot
	@$(PY) paper/run_paper.py --full --estimate

# It may run in the background, because it measures distortions. `make paper-seconds` measures times.
paper-full: paper-data
	$(PHASE) "Running the experiments at the paper's size (about a day)" $(PY) paper/run_paper.py --full $(if $(SYNTHETIC),--synthetic)

paper-seconds: paper-data
	$(PHASE) "Timing a few iterations of each method (about 1 hour)" $(PY) paper/run_paper.py --seconds

fuzz: $(VENV)/.test
	$(PHASE) "Reading damaged files (5 minutes)" $(PY) tests/fuzz.py --seconds 300

crash: $(VENV)/.test
	$(PHASE) "Killing saves and fits (a few minutes)" $(PY) tests/crash.py --saves 200 --fits 50

# Flipped bits, signals, changing rows, damaged files and more. A crash is counted, too.
hostile: $(VENV)/.test
	$(PHASE) "Attacking the library (about 10 minutes)" $(PY) tests/hostile.py --store

sanitize-python: $(VENV)/.test
	$(PHASE) "Running Python tests under AddressSanitizer (about 10 minutes)" tools/sanitize_python.sh $(PY)

sanitize: $(PY)
	$(QUIET) "Installing CMake" $(PIP_INSTALL) cmake
	for kind in address,undefined thread; do \
	  $(BIN)/cmake -S . -B build/$$kind -DBOOSTKMEANS_BINDINGS=OFF -DBOOSTKMEANS_WERROR=ON \
	    -DBOOSTKMEANS_SANITIZE=$$kind >/dev/null && \
	  $(BIN)/cmake --build build/$$kind --parallel && build/$$kind/exercise || exit 1; \
	done

clean:
	rm -rf $(VENV) build demo docs/gallery .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage*
