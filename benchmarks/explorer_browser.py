"""Benchmark of explorer pages in a browser: time to open a page, and frames per second.

`tests/browser_large` measures, so that the figures are those of pages whose controls were tested.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from environment import Json
from machine_load import record_load
from result_files import save_result

ROOT = Path(__file__).parents[1]
TEST = "tests/browser_large/test_million_rows.py::test_page_stays_usable"
# Variable with the name of the file to which the tests append their figures.
VARIABLE = "BOOSTKMEANS_BROWSER_RESULTS"
ROWS = (1_000, 100_000, 1_000_000)
# Seconds before and after each measurement in which the load of other processes is measured. During the
# measurement, it cannot be told from the processes of the browser.
LOAD_SECONDS = 5.0


def explorer_browser() -> None:
    """Open pages of 1,000 to 1,000,000 rows in a browser."""
    found = [measure_page(n) for n in ROWS]
    save_result("explorer_browser", {"browser": browser_version(), "pages": found})


def measure_page(n: int) -> Json:
    """Return the figures of one page, and the load before and after."""
    load: Json = {}
    with record_load(load):
        time.sleep(LOAD_SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "figures.json")
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-n", "0", f"{TEST}[{n}]"],
            cwd=ROOT,
            env={**os.environ, VARIABLE: str(path)},
            check=True,
        )
        figures: Json = json.loads(path.read_text())
    with record_load(load):
        time.sleep(LOAD_SECONDS)
    print(f"  {figures | load}", flush=True)
    return figures | load


def browser_version() -> str:
    """Return the name and the version of the browser."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    found = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return " ".join(found.stdout.split()[:2])


BENCHMARKS = [explorer_browser]
