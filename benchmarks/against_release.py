"""Compare the speed of two installed versions of boostkmeans, fit by fit.

    python benchmarks/against_release.py OLD_PYTHON NEW_PYTHON [--repeats 14] [--only NAME] [--json FILE]

OLD_PYTHON and NEW_PYTHON are interpreters of two environments. Each has one worker process for the whole
run, so that imports, threads and data are ready before anything is measured. A repetition measures all
fits in random order, each with both versions one right after the other, in random order as well; so slow
changes of the machine affect both alike. A measurement repeats a quick fit until it takes long enough.
The table has medians of the seconds of one fit, and the median and the smallest of the ratios new/old.

Only the public interface is used, and all data is synthetic. Nothing else should run on the machine.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

N_THREADS = 2
# A measurement takes at least this many seconds, by repeating what is quick.
SHORTEST = 0.25
# In a repetition, a measurement that takes less than so many seconds is made several times.
QUICK, TIMES_IF_QUICK = 1.5, 3
# No more than 3 % slower is allowed; single fits vary by that much.
MOST_RATIO = 1.03

Json = dict[str, Any]
Fit = Callable[[], Any]

# --- The worker: it imports NumPy and boostkmeans late, in the process that measures -------------------


def fits(folder: Path) -> dict[str, Callable[[], Fit]]:
    """Return functions by name: each makes its data, and returns a fit that is ready to be called."""
    import numpy as np
    from scipy import sparse

    from boostkmeans import BisectingBoostKMeans, BoostKMeans, ProductQuantizer
    from boostkmeans.io import open_vectors, write_vectors

    def blobs(n: int, d: int, k: int, spread: float = 2.0) -> Any:
        rng = np.random.default_rng(n + d + k)
        centres = spread * rng.standard_normal((k, d), dtype=np.float32)
        return centres[rng.integers(k, size=n)] + rng.standard_normal((n, d), dtype=np.float32)

    def pixels(n: int, d: int, k: int) -> Any:
        return np.clip(60 * blobs(n, d, k, 1.0) + 20, 0, 255).astype(np.uint8)

    def documents(n: int, d: int, k: int) -> Any:
        rng = np.random.default_rng(n)
        per_row = 60
        topic = np.repeat(rng.integers(k, size=n), per_row)
        own = topic * (d // k) + rng.integers(d // k, size=n * per_row)
        columns = np.where(
            rng.random(n * per_row) < 0.4, own, (d * rng.random(n * per_row) ** 2).astype(int)
        )
        rows = np.repeat(np.arange(n), per_row)
        found = sparse.csr_array((np.ones(n * per_row), (rows, columns)), shape=(n, d))
        found.sum_duplicates()
        return found

    def boost(k: int, rows: Any, **parameters: Any) -> Fit:
        model = BoostKMeans(k, random_state=0, n_threads=N_THREADS, **parameters)
        return lambda: model.fit(rows)

    def bisecting(k: int, rows: Any, **parameters: Any) -> Fit:
        model = BisectingBoostKMeans(k, random_state=0, n_threads=N_THREADS, **parameters)
        return lambda: model.fit(rows)

    def streamed() -> Fit:
        path = folder / "rows.npy"
        if not path.exists():
            write_vectors(path, blobs(400_000, 32, 60))
        model = BoostKMeans(40, random_state=0, n_threads=N_THREADS, max_iter=15)
        return lambda: model.fit(open_vectors(path, max_memory=2**28 + 20_000_000))

    def quantizer() -> Fit:
        rows = blobs(20_000, 64, 200)
        model = ProductQuantizer(8, 256, random_state=0, n_threads=N_THREADS)
        return lambda: model.fit(rows)

    def encoding() -> Fit:
        rows = blobs(20_000, 64, 200)
        model = ProductQuantizer(8, 256, random_state=0, n_threads=N_THREADS).fit(rows[:4000])
        return lambda: model.encode(rows)

    def batches() -> Fit:
        rows = blobs(20_000, 16, 30)

        def run() -> None:
            model = BoostKMeans(20, random_state=0, n_threads=N_THREADS)
            for begin in range(0, len(rows), 2000):
                model.partial_fit(rows[begin : begin + 2000])

        return run

    def predict(n_candidates: int | None) -> Fit:
        rows = blobs(60_000, 32, 900)
        model = BisectingBoostKMeans(800, random_state=0, n_threads=N_THREADS).fit(rows[:20_000])
        return lambda: model.predict(rows, n_candidates=n_candidates)

    def small_predict() -> Fit:
        rows = blobs(2000, 8, 12)
        model = BoostKMeans(8, random_state=0, n_threads=N_THREADS).fit(rows)
        return lambda: model.predict(rows[:100])

    return {
        "iris-like: 150 x 4, k=3": lambda: boost(3, blobs(150, 4, 3)),
        "blobs: 600 x 6, k=12": lambda: boost(12, blobs(600, 6, 20)),
        "digits-like: 1,800 x 64 uint8, k=10": lambda: boost(10, pixels(1800, 64, 10)),
        "5,000 x 16, k=8": lambda: boost(8, blobs(5000, 16, 12)),
        "5,000 x 16, k=8, certified": lambda: boost(8, blobs(5000, 16, 12), tol=0),
        "size limits: 5,000 x 8, k=20": lambda: boost(
            20, blobs(5000, 8, 30), min_size=200, max_size=300
        ),
        "a sample first: 200,000 x 16, k=10": lambda: boost(10, blobs(200_000, 16, 20)),
        "MNIST-like: 20,000 x 784 uint8, k=10": lambda: boost(10, pixels(20_000, 784, 30)),
        "uint8: 30,000 x 128, k=256, fast": lambda: boost(256, pixels(30_000, 128, 400), quality="fast"),
        "candidates: 30,000 x 32, k=2,000": lambda: boost(2000, blobs(30_000, 32, 2500)),
        "100,000 x 128, k=1,024": lambda: boost(1024, blobs(100_000, 128, 1500)),
        "200,000 x 128, k=2,048": lambda: boost(2048, blobs(200_000, 128, 2500)),
        "documents: 8,000 x 20,000 sparse, k=20, cosine": lambda: boost(
            20, documents(8000, 20_000, 25), metric="cosine"
        ),
        "bisecting: 100,000 x 32, k=1,000": lambda: bisecting(1000, blobs(100_000, 32, 1500)),
        "bisecting, refined: 10,000 x 16, k=100": lambda: bisecting(
            100, blobs(10_000, 16, 150), refine=True
        ),
        "streamed: 400,000 x 32 in a file, k=40": streamed,
        "quantizer: 20,000 x 64, 8 x 256": quantizer,
        "encoding: 20,000 x 64, 8 x 256": encoding,
        "partial_fit: 10 batches of 2,000 x 16, k=20": batches,
        "predict: 100 x 8, k=8": small_predict,
        "predict: 60,000 x 32, k=800": lambda: predict(None),
        "predict with candidates: 60,000 x 32, k=800": lambda: predict(64),
    }


def seconds_of(fit: Fit, n_times: int) -> float:
    """Return the seconds of one call, on average."""
    began = time.perf_counter()
    for _ in range(n_times):
        fit()
    return (time.perf_counter() - began) / n_times


def enough_times(fit: Fit) -> int:
    """Return how often a fit is called in a measurement; the first call warms it up."""
    seconds = seconds_of(fit, 1)
    if seconds < SHORTEST:
        seconds = seconds_of(fit, 1)
    return max(1, round(SHORTEST / max(seconds, 1e-6)))


def work(folder: Path) -> None:
    """Answer requests, one a line on standard input, until there are no more."""
    import warnings

    warnings.simplefilter("ignore")
    import boostkmeans

    by_name = fits(folder)
    ready: dict[str, Fit] = {}
    print(json.dumps({"version": boostkmeans.__version__, "names": list(by_name)}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        name = request["fit"]
        if name not in ready:
            ready[name] = by_name[name]()
        if "times" in request:
            answer: Json = {"seconds": seconds_of(ready[name], request["times"])}
        else:
            times = enough_times(ready[name])
            answer = {"times": times, "seconds": seconds_of(ready[name], times) * times}
        print(json.dumps(answer), flush=True)


# --- The comparison ------------------------------------------------------------------------------------


class Worker:
    """Talk to the worker process of an interpreter."""

    def __init__(self, python: str, folder: Path) -> None:
        """Start it, and wait until everything is imported."""
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(N_THREADS))
        self._process = subprocess.Popen(
            [python, "-P", __file__, "--work", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **threads},
        )
        hello = self._answer()
        self.version: str = hello["version"]
        self.names: list[str] = hello["names"]

    def ask(self, **request: Any) -> Json:
        """Send a request; return the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _answer(self) -> Json:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            sys.exit("A worker failed: see above.")
        answer: Json = json.loads(line)
        return answer


def compare(old: Worker, new: Worker, names: list[str], n_repeats: int) -> dict[str, list[Json]]:
    """Return all measurements of each fit, as pairs of old and new."""
    shuffle = random.Random(0).shuffle
    times, schedule = {}, []
    for name in names:  # as often with both versions
        ready = [worker.ask(fit=name) for worker in (old, new)]
        times[name] = min(answer["times"] for answer in ready)
        quick = max(answer["seconds"] for answer in ready) < QUICK
        schedule += [name] * (TIMES_IF_QUICK if quick else 1)
        print(f"ready: {name}, {times[name]} at a time", file=sys.stderr)
    found: dict[str, list[Json]] = {name: [] for name in names}
    for repeat in range(n_repeats):
        began = time.perf_counter()
        order = list(schedule)
        shuffle(order)
        for name in order:
            both = [("old", old), ("new", new)]
            shuffle(both)
            pair = {which: worker.ask(fit=name, times=times[name])["seconds"] for which, worker in both}
            found[name].append(pair)
        seconds = time.perf_counter() - began
        print(f"repetition {repeat + 1} of {n_repeats}: {seconds:.0f} s", file=sys.stderr)
    return found


def summary(pairs: list[Json]) -> Json:
    """Return medians and ratios of a fit."""
    old, new = ([pair[which] for pair in pairs] for which in ("old", "new"))
    ratios = [pair["new"] / pair["old"] for pair in pairs]
    return {
        "old": statistics.median(old),
        "new": statistics.median(new),
        "ratio_of_medians": statistics.median(new) / statistics.median(old),
        "median_ratio": statistics.median(ratios),
        "smallest_ratio": min(ratios),
        "ratio_of_fastest": min(new) / min(old),
    }


def table(old: Worker, new: Worker, found: dict[str, list[Json]]) -> str:
    """Return the comparison as a table in Markdown, the quickest fits first."""
    summaries = {name: summary(pairs) for name, pairs in found.items()}
    lines = [
        f"| fit | {old.version} (old) | {new.version} (new) | new/old | median of ratios "
        "| smallest ratio | fastest/fastest |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, one in sorted(summaries.items(), key=lambda item: float(item[1]["old"])):
        lines.append(
            f"| {name} | {shown(one['old'])} | {shown(one['new'])} "
            f"| {one['ratio_of_medians']:.3f} | {one['median_ratio']:.3f} "
            f"| {one['smallest_ratio']:.3f} | {one['ratio_of_fastest']:.3f} |"
        )
    slower = [name for name, one in summaries.items() if one["ratio_of_medians"] > MOST_RATIO]
    lines += ["", f"More than {MOST_RATIO - 1:.0%} slower: {'; '.join(slower) or 'none'}."]
    return "\n".join(lines)


def shown(seconds: float) -> str:
    """Return seconds in a unit that suits them."""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def main() -> None:
    """Compare two interpreters, or be the worker of one."""
    parser = argparse.ArgumentParser(description="Compare the speed of two versions, fit by fit.")
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", help="the old one, then the new one")
    parser.add_argument("--repeats", type=int, default=14, help="repetitions of all fits")
    parser.add_argument("--only", action="append", help="fits whose name contains this")
    parser.add_argument("--json", type=Path, help="a file for all measurements")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work is not None:
        work(given.work)
        return
    if len(given.pythons) != 2:
        parser.error("two interpreters are needed: the old one and the new one")
    with tempfile.TemporaryDirectory() as folder:
        old, new = (Worker(python, Path(folder)) for python in given.pythons)
        wanted = given.only or [""]
        names = [name for name in old.names if any(part in name for part in wanted)]
        found = compare(old, new, names, given.repeats)
        for worker in (old, new):
            worker.close()
    print(table(old, new, found))
    if given.json is not None:
        result = {"old": old.version, "new": new.version, "seconds": found}
        given.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
