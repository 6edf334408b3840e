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

.PHONY: help demo test check test-slow test-oldest test-clang test-arm wheels test-browser test-cluster browser lint hooks tidy coverage sanitize sanitize-python fuzz crash hostile docs \
  linkcheck docs-site stub layers page-bundle screenshots page-outputs bench bench-parts bench-history paper paper-data \
  paper-estimate paper-full paper-seconds clean

# `make help` prints the text after ## of each target, under the headings after ##@.
help:
	@awk 'BEGIN { FS = ":.*## " } /^##@ / { printf "%s%s:\n", n++ ? "\n" : "", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

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

# Tools that do not depend on the sources of the package, among them CMake and Ninja: they are installed once.
$(VENV)/.coverage: $(VENV)/.test
	$(QUIET) "Installing the coverage tools" $(INSTALL_GROUP) coverage
	@touch $@ $(VENV)/.test $(VENV)/.plot

$(VENV)/.dev: $(VENV)/.test
	$(QUIET) "Installing pre-commit and clang-tidy" $(INSTALL_GROUP) dev
	@touch $@ $(VENV)/.test $(VENV)/.plot

##@ For users

demo: $(VENV)/.plot ## Cluster a real sample with boost k-means and k-means, draw a picture, and show the clusters.
	$(PHASE) "Clustering the sample in examples/data (half a minute)" $(PY) examples/demo.py

##@ Tests

test: lint check ## Check style and types, then run the tests, also in a browser (about 5 minutes on 2 cores).
	$(PHASE) "Testing the explorer's page in a browser (about 1 minute)" $(PYTEST) tests/browser

check: $(VENV)/.test ## Run the tests without style, browser and slow tests (about 4 minutes).
	$(PHASE) "Running the tests on 2 cores (about 4 minutes)" $(PYTEST) -m "not slow"

# Tests that kill processes, start clusters, damage files systematically or run all examples of the pages.
test-slow: $(VENV)/.test ## Run the tests that take more than two seconds each (about 8 minutes).
	$(PHASE) "Running the slow tests on 2 cores (about 8 minutes)" $(PYTEST) -m slow

# The oldest versions that pyproject.toml allows, in an environment of their own.
test-oldest: $(PY) ## Run tests, also of Dask and Ray, with the oldest supported packages (about 12 minutes).
	$(PHASE) "Testing with the oldest supported packages (about 12 minutes)" $(PY) tools/try_oldest.py

# CLANG=clang++-19 chooses another version.
test-clang: $(VENV)/.test ## Compile with Clang, warnings as errors, and run the tests of the core (about 10 minutes).
	$(PHASE) "Testing a core that Clang has compiled (about 10 minutes)" tools/try_clang.sh $(CLANG)

test-arm: $(PY) ## Compile for arm64, and run the tests of the core under qemu (about an hour; apt-get).
	$(PHASE) "Testing on an emulated arm64 processor (about an hour)" tools/try_arm.sh

# The wheels are in build/dist. zig compiles them for an old glibc; interpreters are searched on the PATH and in pyenv.
wheels: $(PY) ## Build, check and test the source distribution and the wheels (about 20 minutes).
	$(QUIET) "Creating build/wheels/tools" $(PY) -m venv --clear build/wheels/tools
	$(QUIET) "Installing the tools" build/wheels/tools/bin/python tools/install_group.py wheels
	$(PHASE) "Building and checking the wheels (about 15 minutes)" build/wheels/tools/bin/python tools/build_wheels.py
	$(PHASE) "Testing the wheels in new environments (about 5 minutes)" build/wheels/tools/bin/python tools/try_wheels.py

# One million rows in a browser: how long the page takes to open, and how long a frame takes.
test-browser: $(VENV)/.test browser ## Open pages of up to 1,000,000 rows in a browser, and print times (about 2 minutes).
	$(PHASE) "Testing the explorer's page in a browser (about 2 minutes)" $(PY) -m pytest tests/browser tests/browser_large -s

# Tests start and kill clusters of their own, so they run one after the other.
test-cluster: $(VENV)/.test ## Fit on Dask and Ray while workers are killed (about 20 minutes; RESULTS=1 stores the counts).
	$(PHASE) "Comparing labels on Dask and Ray, and killing workers (about 20 minutes)" \
	  env $(if $(RESULTS),BOOSTKMEANS_CLUSTER_RESULTS=1) $(PY) -m pytest tests/cluster --durations=10

# Where apt-get is missing or not allowed, the tests that need a browser are skipped.
browser: ## Install Chromium with apt-get, for the tests of the explorer's page.
	@tools/install_browser.sh

##@ Checks

lint: $(VENV)/.test ## Check style, types, layers, spelling and docstrings (about 1 minute).
	$(QUIET) "Checking style with ruff" $(PY) -m ruff check .
	$(QUIET) "Checking the format of the Python code" $(PY) -m ruff format --check .
	$(QUIET) "Checking the format of the C++ code" $(BIN)/clang-format --dry-run --Werror $(CPP)
	$(QUIET) "Checking spelling" $(BIN)/codespell
	$(QUIET) "Checking the layers with import-linter" env PYTHONPATH=src $(BIN)/lint-imports --no-logo
	$(QUIET) "Checking public docstrings with numpydoc" $(PY) tools/check_docstrings.py
	$(QUIET) "Checking types with mypy (half a minute the first time)" $(PY) -m mypy

hooks: $(VENV)/.dev ## Install the pre-commit hooks into this clone.
	$(BIN)/pre-commit install

# clang-tidy reads how each file is compiled from build/tidy. Two processes at a time.
tidy: $(VENV)/.dev ## Run clang-tidy on the C++ core (several minutes).
	$(QUIET) "Configuring build/tidy" $(BIN)/cmake -G Ninja -S . -B build/tidy -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
	  -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) -DPython_EXECUTABLE=$(abspath $(PY)) \
	  -Dnanobind_DIR="$$($(PY) -m nanobind --cmake_dir)"
	$(PHASE) "Running clang-tidy (several minutes)" sh -c 'find src tests/core -name "*.cpp" | \
	  xargs -P 2 -n 1 $(BIN)/clang-tidy -p build/tidy --quiet'

# Line coverage of both languages, from one run of the tests against a core that counts its lines.
coverage: $(VENV)/.coverage ## Measure the line coverage of Python and C++ (about 15 minutes).
	$(PHASE) "Measuring coverage (about 15 minutes)" $(PY) tools/measure_coverage.py

sanitize: $(PY) ## Run the core under AddressSanitizer, UBSan and ThreadSanitizer.
	$(QUIET) "Installing CMake" $(PIP_INSTALL) cmake
	for kind in address,undefined thread; do \
	  $(BIN)/cmake -S . -B build/$$kind -DBOOSTKMEANS_BINDINGS=OFF -DBOOSTKMEANS_WERROR=ON \
	    -DBOOSTKMEANS_SANITIZE=$$kind >/dev/null && \
	  $(BIN)/cmake --build build/$$kind --parallel && build/$$kind/exercise || exit 1; \
	done

sanitize-python: $(VENV)/.coverage ## Run part of the Python tests under AddressSanitizer (about 10 minutes).
	$(PHASE) "Running Python tests under AddressSanitizer (about 10 minutes)" tools/sanitize_python.sh $(PY)

fuzz: $(VENV)/.test ## Read damaged files of every format for five minutes.
	$(PHASE) "Reading damaged files (5 minutes)" $(PY) tests/fuzz.py --seconds 300

crash: $(VENV)/.test ## Kill saves and fits at random moments, and check what is left.
	$(PHASE) "Killing saves and fits (a few minutes)" $(PY) tests/crash.py --saves 200 --fits 50

# Flipped bits, signals, changing rows, damaged files and more. A crash is counted, too.
hostile: $(VENV)/.test ## Attack the library in many ways, and count failures: docs/reliability.md (about 10 minutes).
	$(PHASE) "Attacking the library (about 10 minutes)" $(PY) tests/hostile.py --store

##@ Documentation

# A broken link or a name without a page is an error.
docs: $(VENV)/.docs ## Build the documentation as a web site in build/docs/html.
	$(PHASE) "Building the site (2-3 minutes)" $(PY) -m sphinx -q -n -W --keep-going -b html -d build/docs/doctrees docs build/docs/html
	@echo "Open build/docs/html/index.html"

linkcheck: docs ## Check all links within the site; EXTERNAL=1 also those to other sites.
	$(PHASE) "Checking links and anchors" $(PY) tools/check_links.py build/docs/html
	$(if $(EXTERNAL),$(PHASE) "Checking links to other sites" $(PY) -m sphinx -q -b linkcheck -d build/docs/doctrees docs build/docs/linkcheck)

# Readers can switch between the versions in this folder.
docs-site: docs ## Add the site of this version to the folder SITE, which has one site per version.
	$(if $(SITE),,$(error Name the folder: make docs-site SITE=FOLDER))
	@$(PY) tools/publish_docs.py '$(SITE)'

##@ Files that are generated and checked in

stub: $(VENV)/.test ## Regenerate src/boostkmeans/_core.pyi from the compiled core.
	$(PY) -m nanobind.stubgen -q -m boostkmeans._core -o src/boostkmeans/_core.pyi

layers: $(VENV)/.test ## Redraw the diagram of the layers in CONTRIBUTING.md.
	env PYTHONPATH=src $(PY) tools/draw_layers.py

# The sources are in explorer/. The bundle is checked in, so that users need no npm.
page-bundle: ## Bundle the explorer's page from explorer/ (needs npm).
	$(QUIET) "Installing esbuild" npm --prefix explorer ci
	$(PHASE) "Bundling the explorer's page" npm --prefix explorer run --silent build

screenshots: $(VENV)/.test browser ## Take the screenshots of the explorer in docs/images.
	$(PHASE) "Taking screenshots for the documentation" env BOOSTKMEANS_SCREENSHOTS=1 $(PY) -m pytest tests/browser/test_page_screenshots.py

page-outputs: $(VENV)/.test ## Run the tutorial and the page on embeddings; store what they print and draw.
	$(PHASE) "Running the examples of pages" $(PY) tools/update_page_outputs.py

##@ Measurements

# With TORCH=1, fastkmeans is compared, too. It needs PyTorch, which is large. The first run installs 0.7.0 from the git
# history into an environment of its own; BOOSTKMEANS_BASELINE_PYTHON=PATH uses an existing one.
bench: $(VENV)/.bench ## Compare with other libraries: docs/peers.md (about 2 hours; TORCH=1 adds fastkmeans).
	$(if $(TORCH),$(QUIET) "Installing PyTorch and fastkmeans" $(INSTALL_GROUP) bench-torch)
	$(PHASE) "Comparing with other libraries and 0.7.0 (about 2 hours)" $(PY) benchmarks/arena.py

bench-parts: $(VENV)/.bench ## Measure the parts of the library: docs/benchmarks.md (about 2 hours).
	$(PHASE) "Measuring the parts of the library (about 2 hours)" $(PY) benchmarks/run.py

# Versions of the git history, each in an environment of its own. REVISIONS="v0.13.0 HEAD" measures these commits; without
# it, the last commit of every version is measured, unless it has a record.
bench-history: $(VENV)/.test ## Measure earlier versions and commits: docs/benchmarks.md (3 minutes per commit).
	$(PHASE) "Measuring versions (3 minutes per commit)" $(PY) benchmarks/history.py $(or $(REVISIONS),--versions)

paper: $(VENV)/.plot ## Run the experiments of the paper at a small size: docs/paper (less than 1 hour).
	$(PHASE) "Running the experiments at a small size (less than 1 hour)" $(PY) paper/run_paper.py

# Data sets that cannot be downloaded are replaced by generated ones; the pages say so.
paper-data: $(VENV)/.plot ## Download the public data sets of the paper.
	-$(PHASE) "Downloading public data sets" $(PY) paper/public_data.py siftsmall sift cluto

paper-estimate: $(VENV)/.plot ## Show what is stored at the paper's size, and how long the rest takes.
	@$(PY) paper/run_paper.py --full --estimate

# It may run in the background, because it measures distortions. `make paper-seconds` measures times.
paper-full: paper-data ## Run the experiments at the paper's size (about a day; continues where it stopped).
	$(PHASE) "Running the experiments at the paper's size (about a day)" $(PY) paper/run_paper.py --full $(if $(SYNTHETIC),--synthetic)

# It prints an estimate first. Times that other processes disturb are not stored. FOR=3600 stops after an hour.
paper-seconds: paper-data ## Time the methods at the paper's size, on a quiet machine (about 8 hours; continues).
	$(PHASE) "Timing the methods (about 8 hours, most of them for scalability)" $(PY) paper/run_paper.py --seconds $(if $(FOR),--for $(FOR))

##@ Other

clean: ## Remove everything that these commands created.
	rm -rf $(VENV) build demo docs/gallery .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage*
