"""The interpreters of tests that are forks of another one."""

import os
import subprocess
from pathlib import Path

import pytest

from conftest import run_python
from warm_interpreter import run_warm

pytestmark = pytest.mark.process


def test_behaves_like_a_new_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOME_VARIABLE", "some value")
    code = """
import os, sys, warnings
assert not [name for name in sys.modules if name.startswith("boostkmeans")]
print(__name__, sys.argv, os.getcwd(), os.environ["SOME_VARIABLE"], sys.stdin.read() == "")
print(sorted(name for name in vars() if not name.startswith("__")))
try:
    warnings.warn("a warning")
except UserWarning:
    print("is an error", file=sys.stderr)
sys.exit(3)
"""
    warm, fresh = run_warm(code, 60.0), run_python(code, fresh=True)
    assert (warm.returncode, warm.stdout, warm.stderr) == (
        fresh.returncode, fresh.stdout.replace("False", "True"), fresh.stderr,
    )  # fmt: skip
    assert warm.returncode == 3
    assert str(tmp_path) in warm.stdout


def test_reports_errors_signals_and_timeouts() -> None:
    failed = run_warm("value = 1\nvalue.missing", 60.0)
    assert failed.returncode == 1
    assert "AttributeError: 'int' object has no attribute 'missing'" in failed.stderr
    assert run_warm("import os; os.kill(os.getpid(), 9)", 60.0).returncode == -9
    with pytest.raises(subprocess.TimeoutExpired):
        run_warm("import time; time.sleep(60)", 0.2)
    after = run_warm("import os; print(os.getppid())", 60.0)
    assert int(after.stdout) != os.getpid(), "the next request is answered"
