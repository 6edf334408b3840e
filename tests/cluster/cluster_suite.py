"""Plugin of the suite: fixtures, the end of all processes, and the last line."""

import os
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from process_tags import TAG, end_tagged
from tally import TALLY

# Write the result file at the end of the suite.
VARIABLE = "BOOSTKMEANS_CLUSTER_RESULTS"


@pytest.fixture(scope="session", autouse=True)
def tag() -> Iterator[str]:
    """Mark all processes of this session, and kill those that are left at its end."""
    value = uuid.uuid4().hex
    os.environ[TAG] = value
    # Sockets have short paths. The address of our Ray must not become that of other users' programs.
    with tempfile.TemporaryDirectory(prefix="bkm", ignore_cleanup_errors=True) as folder:
        os.environ["RAY_TMPDIR"] = folder
        try:
            yield value
        finally:
            end_tagged(value)
            del os.environ["RAY_TMPDIR"], os.environ[TAG]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Folder for the logs and files of a cluster."""
    return tmp_path / "cluster"


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int) -> None:
    """Print the counts, and write them if asked to."""
    if not TALLY.equal:
        return
    terminalreporter.write_line(TALLY.line())
    if os.environ.get(VARIABLE):
        TALLY.write(passed=exitstatus == 0)
