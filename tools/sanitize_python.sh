#!/bin/sh
# Usage: tools/sanitize_python.sh PYTHON [PYTEST ARGUMENTS...]
# Builds the module with AddressSanitizer and UBSan, and runs those Python tests that reach every part of the core. An
# invalid access ends the process with a report. Needs GCC.
set -e
python=$1
shift
build=build/python-sanitized
[ $# -gt 0 ] || set -- tests/core tests/steps tests/data tests/quantization tests/estimators/test_sparse.py \
  tests/estimators/test_awkward_input.py tests/estimators/test_changing_rows.py tests/engine/test_small_fits.py
# CMake and Ninja are installed next to Python.
PATH="$(dirname "$(command -v "$python")"):$PATH"
cmake -G Ninja -S . -B $build -DBOOSTKMEANS_SANITIZE=address,undefined -DBOOSTKMEANS_WERROR=ON \
  -DPython_EXECUTABLE="$(command -v "$python")" -Dnanobind_DIR="$("$python" -m nanobind --cmake_dir)" >/dev/null
cmake --build $build --parallel 2
# A copy of the package with this module: the tests import it instead of the installed package.
rm -rf $build/package
mkdir $build/package
cp -r src/boostkmeans $build/package/
rm -f $build/package/boostkmeans/_core.*.so
cp $build/_core*.so $build/package/boostkmeans/
# The sanitizer's library must be loaded first, and libstdc++ before the module, so that exceptions are seen. Python
# does not free everything at exit, so leaks are not reported. Its own allocator would hide accesses. pytest must not
# capture the report of the sanitizer, which is written before the process ends.
LD_PRELOAD="$(c++ -print-file-name=libasan.so):$(c++ -print-file-name=libstdc++.so)"
ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
UBSAN_OPTIONS=print_stacktrace=1
PYTHONMALLOC=malloc
PYTHONPATH=$build/package
export LD_PRELOAD ASAN_OPTIONS UBSAN_OPTIONS PYTHONMALLOC PYTHONPATH
exec "$python" -m pytest -q --capture=sys -p no:cacheprovider -m "not slow and not process" "$@"
