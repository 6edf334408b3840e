"""The package on systems without the functions that only Linux or POSIX has."""

import sys
from pathlib import Path

import pytest

from conftest import run_python

ROOT = Path(__file__).parents[2]

# Removes what Windows, macOS or both do not have. Python's own modules are imported before.
OTHER_SYSTEM = """
import mmap, multiprocessing, os, shutil, signal, socket, subprocess, sys, tempfile
import joblib, numpy as np, scipy.sparse, sklearn.cluster, typer.testing, rich.console
for module, names in (
    (os, "fork getuid nice preadv pread sched_getaffinity statvfs sysconf O_DIRECTORY O_NONBLOCK"),
    (signal, "SIGHUP SIGKILL SIGQUIT SIGUSR1 SIGALRM setitimer pthread_sigmask"),
    (mmap, "MADV_DONTNEED MADV_SEQUENTIAL MAP_PRIVATE PROT_READ"),
):
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
for name in ("fcntl", "grp", "posix", "pty", "pwd", "resource", "termios"):
    sys.modules[name] = None
"""


@pytest.mark.process
def test_works_without_functions_of_posix(tmp_path: Path) -> None:
    result = run_python(
        OTHER_SYSTEM
        + f"""
from pathlib import Path
import boostkmeans
from boostkmeans import BisectingBoostKMeans, BoostKMeans, io, load_model
folder = Path({str(tmp_path)!r})
X = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)
io.write_vectors(folder / "x.fvecs", X)
rows = io.open_vectors(folder / "x.fvecs", max_memory="300MB")
model = BoostKMeans(4, random_state=0, checkpoint=folder / "fit.ckpt").fit(rows)
model.save(folder / "model")
assert (load_model(folder / "model").predict(X) == model.labels_).all()
assert (np.asarray(rows.load()) == X).all()
assert BisectingBoostKMeans(4, random_state=0).fit(scipy.sparse.csr_matrix(X)).labels_.max() == 3
from boostkmeans.cli.app import app
command = ["fit", str(folder / "x.fvecs"), "-k", "4", "-o", str(folder / "by_command")]
done = typer.testing.CliRunner().invoke(app, command)
assert done.exit_code == 0, done.output
""",
        fresh=True,
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="the tests themselves show it")
def test_tests_of_windows_can_be_collected() -> None:
    """The folders and the packages are those of the Windows jobs in .github/workflows."""
    result = run_python(
        OTHER_SYSTEM
        + f"""
import pytest
os.chdir({str(ROOT)!r})
for name in ("killpg", "getpgid", "mkfifo"):
    delattr(os, name)
for name in ("matplotlib", "pandas", "polars", "pyarrow", "typer"):
    sys.modules[name] = None
folders = [f"tests/{{name}}" for name in ("core", "data", "steps", "estimators")]
options = ["--collect-only", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore"]
sys.exit(pytest.main([*options, "-m", "not slow and not process", *folders]))
""",
        fresh=True,
    )
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr
