#!/bin/sh
# Usage: tools/try_arm.sh [--core | --python]
# Compiles the core for arm64 with Debian's cross compiler and runs its test program under qemu, on a processor with and
# without dot products of bytes. Then runs a part of the Python tests with Debian's arm64 Python 3.11, the wheels of
# NumPy, SciPy and scikit-learn, and the arm64 wheel of build/dist (built if it is missing). --core leaves out Python,
# and --python leaves out the test program of the core, which takes most of the time.
# Debian 12 has all packages; nothing is installed for arm64 outside build/arm.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
work=$PWD/build/arm
if ! command -v qemu-aarch64-static >/dev/null || ! command -v aarch64-linux-gnu-g++ >/dev/null; then
  echo "Installing qemu and the cross compiler with apt-get"
  apt-get install -y --no-install-recommends qemu-user-static g++-aarch64-linux-gnu >/dev/null
fi
command -v cmake >/dev/null || "$python" -m pip install --quiet cmake
PATH="$PWD/.venv/bin:$PATH"
if [ "${1:-}" != --python ]; then
  launcher=
  if command -v ccache >/dev/null; then launcher=-DCMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
  cmake -S . -B "$work/core" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DBOOSTKMEANS_WERROR=ON \
    -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DBOOSTKMEANS_BINDINGS=OFF $launcher >/dev/null
  cmake --build "$work/core" --parallel 2
  for processor in cortex-a53 max; do
    echo "Test program of the core on the processor $processor"
    qemu-aarch64-static -cpu $processor -L /usr/aarch64-linux-gnu "$work/core/exercise"
  done
fi
if [ "${1:-}" = --core ]; then exit; fi

# Debian's Python for arm64, unpacked. apt-get keeps its lists apart from those of this machine.
root=$work/root
if [ ! -x "$root/usr/bin/python3.11" ]; then
  mkdir -p "$work/apt/state/lists/partial" "$work/apt/cache/archives/partial" "$work/packages" "$root"
  : >"$work/apt/status"
  apt="-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State=$work/apt/state -o Dir::Cache=$work/apt/cache"
  apt="$apt -o Dir::State::status=$work/apt/status -o APT::Sandbox::User=root"
  apt-get $apt -qq update
  (cd "$work/packages" && apt-get $apt -qq download libc6 libgcc-s1 libstdc++6 zlib1g libexpat1 libffi8 libbz2-1.0 \
    liblzma5 libssl3 libuuid1 libcrypt1 libsqlite3-0 libpython3.11-minimal libpython3.11-stdlib python3.11-minimal)
  for package in "$work"/packages/*.deb; do dpkg-deb -x "$package" "$root"; done
fi

if ! ls build/dist/*cp311*aarch64.whl >/dev/null 2>&1; then
  "$python" -m venv build/wheels/tools
  build/wheels/tools/bin/python tools/install_group.py wheels --quiet
  build/wheels/tools/bin/python tools/build_wheels.py --arch aarch64 --only cp311
fi
rm -rf "$work/site"
"$python" tools/install_group.py test-core --quiet --target "$work/site" --python-version 3.11 --only-binary=:all: \
  --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux_2_17_aarch64 \
  build/dist/*cp311*aarch64.whl
# Processes that the tests start would run without qemu: those tests are left out.
emulated() {
  processor=$1
  shift
  PYTHONHOME="$root/usr" PYTHONPATH="$work/site" PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1 \
    qemu-aarch64-static -cpu "$processor" -L "$root" "$root/usr/bin/python3.11" "$@"
}
for processor in cortex-a53 max; do
  emulated $processor -c 'import boostkmeans as b; print("Instruction sets:", *b.instruction_sets())'
done
emulated cortex-a53 -m pytest -q -p no:cacheprovider -m "not slow and not process" tests/core/test_core_nearest.py
emulated max -m pytest -q -p no:cacheprovider -m "not slow and not process" tests/core tests/steps tests/storage \
  tests/models/test_saving.py tests/behaviour/test_labels.py
