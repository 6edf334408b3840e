#!/bin/sh
# Usage: tools/try_clang.sh [CLANG++]
# Compiles the core and the Python module with Clang 16 or later, with warnings as errors, and runs the test program of
# the core and a part of the Python tests. Without an argument, the newest Clang on the PATH is used; if there is none,
# apt-get installs clang-16.
set -eu
cd "$(dirname "$0")/.."
clang=${1:-}
if [ -z "$clang" ]; then
  for version in 22 21 20 19 18 17 16; do
    if command -v "clang++-$version" >/dev/null; then clang=clang++-$version; break; fi
  done
fi
if [ -z "$clang" ]; then
  echo "Installing clang-16 with apt-get"
  apt-get install -y --no-install-recommends clang-16 >/dev/null
  clang=clang++-16
fi
echo "Compiler: $("$clang" --version | head -n 1)"
python=.venv/bin/python
export PATH="$PWD/.venv/bin:$PATH"
command -v cmake >/dev/null && command -v ninja >/dev/null || "$python" -m pip install --quiet cmake ninja
launcher=
if command -v ccache >/dev/null; then launcher=-DCMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
configure() {
  cmake -G Ninja -S . -B "build/$1" -DCMAKE_CXX_COMPILER="$clang" -DBOOSTKMEANS_WERROR=ON $launcher "$2" "$3" >/dev/null
  cmake --build "build/$1"
}
configure clang-core -DBOOSTKMEANS_BINDINGS=OFF -DCMAKE_BUILD_TYPE=Release
build/clang-core/exercise
configure clang-module -Dnanobind_DIR="$("$python" -m nanobind --cmake_dir)" -DPython_EXECUTABLE="$PWD/$python"
# The package of this clone, with the module of Clang instead of that of the environment.
package=build/clang-package
rm -rf $package && mkdir -p $package
cp -r src/boostkmeans $package/
rm -f $package/boostkmeans/_core*.so
cp build/clang-module/_core*.so $package/boostkmeans/
PYTHONPATH=$package "$python" -m pytest -q -m "not slow and not process" -p no:cacheprovider \
  tests/core tests/steps tests/data tests/estimators/test_sparse.py tests/quantization
