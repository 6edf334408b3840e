"""Small results of the paper's experiments, made by hand, for the tests of pages and claims."""

import json
import subprocess
import time
from typing import Any

import numpy as np

import fig5_scalability
from scalability_methods import BISECTING

Json = dict[str, Any]


def stored(runs: list[Json]) -> Json:
    """Return a result file's content, after a round trip through JSON."""
    return dict(json.loads(json.dumps({"size": "small", "runs": runs}, default=float)))


def group_ends(group: int) -> bool:
    """Return whether all processes of a group end within some seconds, apart from zombies."""
    for _ in range(200):
        lines = subprocess.run(["ps", "-A", "-o", "pgid=,stat="], capture_output=True, text=True,
                               check=True).stdout.splitlines()  # fmt: skip
        found = [line.split() for line in lines]
        if not any(one == str(group) and not state.startswith("Z") for one, state in found):
            return True
        time.sleep(0.05)
    return False


def scalability_result(full: bool = False) -> Json:
    """Return times proportional to n and k, or to n for trees; k-means++ fails beyond 10,000 rows."""
    runs = []
    for run in fig5_scalability.plan(full):
        tree = run["method"] in BISECTING
        work = run["n"] * (100 if tree else run["k"])
        slower = {"BsKM": 1.5, "BsKM++": 1.4, "k-means": 1.2, "Mini-Batch": 1.3, "RBK": 1.1,
                  "BKM(rnd)+Fast": 0.9}.get(run["method"], 1.0)  # fmt: skip
        figures: Json = {"data": "synthetic, some", "seconds": slower * work / 5e6, "peak_megabytes": 10,
                         "distortion": slower * (0.8 if tree else 0.7 - run["k"] / 1e6)}  # fmt: skip
        if run["method"] == "k-means++" and run["n"] > 10_000:
            figures = {"failure": "more than 40 s"}
        runs.append({"run": run, **figures})
    return stored(runs)


def curve_run(method: str, curve: list[float]) -> Json:
    """Return a run with a distortion per iteration, one second each."""
    points = [[i + 1, i + 1.0, value] for i, value in enumerate(curve)]
    return {"run": {"method": method, "k": 8}, "data": "some", "distortion": curve[-1], "curve": points,
            "seconds": float(len(curve)), "iterations": len(curve)}  # fmt: skip


def distortion_result() -> Json:
    """Return curves in which BKM ends below k-means, and +Fast below BKM."""
    fall = [100 + 10 / (i + 1) for i in range(130)]
    low = [96 + 30 / (i + 1) ** 2 for i in range(40)]
    runs = [curve_run("k-means", fall), curve_run("k-means++", [x * 0.999 for x in fall])]
    runs += [curve_run(f"BKM({start})", low) for start in ("non", "rnd", "kpp")]
    runs += [curve_run(f"BKM({start})+Fast", [x * 0.99 for x in low]) for start in ("non", "rnd", "kpp")]
    runs += [curve_run("Mini-Batch", [130, 120.0]), curve_run("LVQ", [130, 110.0])]
    return stored(runs)


def bisecting_result() -> Json:
    """Return trees above k-means that end below it after refinement."""
    runs: list[Json] = [{"run": {"method": "k-means", "k": 8}, "data": "some", "distortion": 100.0,
                         "seconds_of_iteration": 1.0}]  # fmt: skip
    for method, end in (("RBK", 113.0), ("BsKM", 114.0), ("BsKM++", 114.5), ("BsBKM(non)", 112.0),
                        ("BsBKM(rnd)", 112.5), ("BsBKM(kpp)", 112.2)):  # fmt: skip
        runs.append({"run": {"method": method, "k": 8}, "data": "some", "distortion": end,
                     "seconds": 2.0, "refined": 98.0, "refined_after": [107.0]})  # fmt: skip
    return stored(runs)


def search_result() -> Json:
    """Return recalls that differ by a constant per method."""
    lows = {"BsKM": 0.01, "BsKM++": 0.01, "BsBKM(non)": 0.01, "RBK": 0.03, "Mini-Batch": 0.001}
    methods = [
        {"method": one, "recall": [0.5 - lows.get(one, 0.0)] * 100}
        for one in ("k-means", "k-means++", "BKM(non)", *lows)
    ]
    return stored([{"run": {"m": m, "seed": 0}, "data": "some", "methods": methods} for m in (8, 16)])


def documents_result() -> Json:
    """Return entropies that rise from method to method, and a missing set."""
    names = ["BsBKM(non)", "RBK", "BsKM", "BsKM++", "BKM(non)", "BKM(rnd)+Fast", "k-means", "k-means++",
             "Mini-Batch", "LVQ"]  # fmt: skip
    methods = {
        one: {str(k): {"entropy": [0.3 + 0.01 * i, 0.9]} for k in (5, 10)} for i, one in enumerate(names)
    }
    return stored([{"run": {"set": "re0", "ks": [5, 10]}, "data": "some", "methods": methods},
                 {"run": {"set": "gone", "ks": [5, 10]}, "missing": True}])  # fmt: skip


def all_results() -> dict[str, Json | None]:
    """Return a result of each experiment."""
    starts = {"rises": 0, "empty": 0, "elsewhere": 0, "iterations_boost": [8, 10]}
    states = [{"distortion": value} for value in (1.0, 0.2, 0.1)]
    samples = np.random.default_rng(0).normal(size=(3, 40))
    values = {"k-means": 100 + samples[0], "k-means++": 100 + samples[1], "BKM(non)": 90 + samples[2]}
    return {
        "iterations": stored([
            {"run": {"method": "boost"}, "states": states}, {"run": {"method": "starts"}, **starts},
        ]),
        "lloyd_condition": stored([
            {"run": {"k": 8}, "share_before": 0.2, "share_after": 0.0, "distortion_before": 2.0,
             "distortion_after": 1.5},
        ]),
        "distortion": distortion_result(),
        "significance": stored([{"run": {"method": one}, "distortion": list(some)}
                              for one, some in values.items()]),
        "bisecting": bisecting_result(),
        "top_k0": stored([
            {"run": {"n": 9, "k": 99, "k0": k0}, "distortion": end, "sweep_seconds": seconds}
            for k0, end, seconds in ((None, 100.0, 8.0), (64, 100.5, 2.0), (2, 120.0, 0.1))
        ]),
        "search": search_result(),
        "documents": documents_result(),
        "scalability": scalability_result(),
    }  # fmt: skip
