"""Small results of the paper's experiments, made by hand, for the tests of pages and claims."""

import json
import subprocess
from typing import Any

import numpy as np

import fig5_scalability
from processes import wait_until
from scalability_methods import BISECTING

Json = dict[str, Any]


def stored(runs: list[Json], size: str = "small") -> Json:
    """Return a result file's content, after a round trip through JSON."""
    return dict(json.loads(json.dumps({"size": size, "runs": runs}, default=float)))


def group_ends(group: int) -> bool:
    """Return whether all processes of a group end, apart from zombies."""

    def has_ended() -> bool:
        lines = subprocess.run(["ps", "-A", "-o", "pgid=,stat="], capture_output=True, text=True,
                               check=True).stdout.splitlines()  # fmt: skip
        found = [line.split() for line in lines]
        return not any(one == str(group) and not state.startswith("Z") for one, state in found)

    return wait_until(has_ended)


def scalability_result(full: bool = False) -> Json:
    """Return times proportional to n and k, or to n for trees; k-means++ fails beyond 50,000 rows."""
    runs = []
    for run in fig5_scalability.plan(full):
        tree = run["method"] in BISECTING
        work = run["n"] * (100 if tree else run["k"])
        slower = {"BsKM": 1.5, "BsKM++": 1.4, "k-means": 1.2, "Mini-Batch": 1.3, "RBK": 1.1,
                  "BKM(rnd)+Fast": 0.9}.get(run["method"], 1.0)  # fmt: skip
        figures: Json = {"data": "synthetic, some", "seconds": slower * work / 5e6, "peak_megabytes": 10,
                         "distortion": slower * (0.8 if tree else 0.7 - run["k"] / 1e6)}  # fmt: skip
        if run["method"] == "k-means++" and run["n"] > 50_000:
            figures = {"failure": "more than 40 s"}
        runs.append({"run": run, **figures})
    return stored(runs, "full" if full else "small")


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
    runs += [curve_run("Mini-Batch", [130, 120.0]), curve_run("LVQ", [130, 125, 120, 115, 110.0]),
             curve_run("Mini-Batch, 10 % in total", [150, 140.0])]  # fmt: skip
    return stored(runs)


def bisecting_result() -> Json:
    """Return trees above k-means that end below it after refinement."""
    runs: list[Json] = [{"run": {"method": "k-means", "k": 8}, "data": "some", "distortion": 100.0,
                         "after_one": 113.0, "seconds_of_iteration": 1.0,
                         "iterations": 130}]  # fmt: skip
    for method, end in (("RBK", 113.0), ("BsKM", 114.0), ("BsKM++", 114.5), ("BsBKM(non)", 112.0),
                        ("BsBKM(rnd)", 112.5), ("BsBKM(kpp)", 112.2)):  # fmt: skip
        runs.append({"run": {"method": method, "k": 8}, "data": "some", "distortion": end,
                     "seconds": 2.0, "refined": 98.0 + end / 1000, "refined_after": [107.0],
                     "passes": {"mean": 9.0, "max": 30}})  # fmt: skip
    return stored(runs)


def seeded(result: Json) -> Json:
    """Return a result with three seeds of each method, whose figures hardly differ."""
    runs = [
        {**run, "run": {**run["run"], "seed": seed},
         **{name: run[name] * (1 + 1e-7 * seed) for name in ("distortion", "refined") if name in run}}
        for run in result["runs"]
        for seed in range(3)
    ]  # fmt: skip
    return {**result, "runs": runs}


def search_result() -> Json:
    """Return recalls that differ by a constant per method."""
    lows = {"BsKM": 0.01, "BsKM++": 0.01, "BsBKM(non)": 0.01, "RBK": 0.03, "Mini-Batch": 0.001,
            "Mini-Batch, 10 % in total": 0.03}  # fmt: skip
    methods = [
        {"method": one, "recall": [0.5 - lows.get(one, 0.0)] * 100}
        for one in ("k-means", "k-means++", "BKM(non)", *lows)
    ]
    return stored([{"run": {"m": m, "seed": 0}, "data": "some", "methods": methods} for m in (8, 16)])


def documents_result() -> Json:
    """Return entropies that rise from method to method, and a missing set."""
    names = ["BsBKM(non)", "RBK", "BsKM", "BsKM++", "BKM(non)", "BKM(rnd)+Fast", "k-means", "k-means++",
             "Mini-Batch", "LVQ"]  # fmt: skip
    runs: list[Json] = [
        {"run": {"set": "re0", "method": one, "ks": [5, 10]}, "data": "some", "documents": 9, "terms": 9,
         "classes": 2, "figures": {str(k): {"entropy": [0.3 + 0.01 * i, 0.9]} for k in (5, 10)}}
        for i, one in enumerate(names)
    ]  # fmt: skip
    return stored([*runs, {"run": {"set": "gone", "method": "RBK", "ks": [5, 10]}, "missing": True}])


def seeds_result(gaps: dict[str, float], n_seeds: int = 12) -> Json:
    """Return distortions of both kinds of moves by seed; +Fast is above by a percentage per start."""
    noise = np.random.default_rng(0).normal(size=(2, n_seeds)) / 100
    runs = []
    for start, gap in gaps.items():
        best = 100 + noise[0]
        fast = best * (1 + (gap + noise[1]) / 100)
        for end, values in (("", best), ("+Fast", fast)):
            runs.append({"run": {"method": f"BKM({start}){end}", "k": 8, "seeds": [0, n_seeds]},
                         "data": "some", "distortion": list(values)})  # fmt: skip
    return stored(runs)


def priority_result(deviations: dict[str, tuple[float, float]]) -> Json:
    """Return the distortions of 20 trees by data set, with the deviations of both priorities."""
    noise = np.random.default_rng(0).normal(size=20)
    return stored([
        {"run": {"set": name, "split": split, "k": 8, "seeds": [0, 20]}, "data": "some",
         "distortion": list(100 + deviation * noise), "largest": [1.0] * 20}
        for name, both in deviations.items()
        for split, deviation in zip(("largest", "average"), both, strict=True)
    ])  # fmt: skip


def sections_result(comparisons: list[float], seconds: list[float]) -> Json:
    """Return comparisons and seconds of s = 2, 3, 4, 8 and 16."""
    return stored([
        {"run": {"s": s, "n": 100, "k": 16, "seed": 0}, "data": "some", "comparisons": count,
         "seconds": time, "passes": 5.0, "distortion": 10.0}
        for s, count, time in zip((2, 3, 4, 8, 16), comparisons, seconds, strict=True)
    ])  # fmt: skip


def objectives_result(i2_of_small: list[float], i2_of_large: list[float]) -> Json:
    """Return both objectives for few and for many rows per cluster."""
    return stored([
        {"run": {"method": "BKM(non)", "n": 100, "k": k, "seed": 0}, "data": "some",
         "i1": [5.0, 4.0, 3.0], "i2": i2}
        for k, i2 in ((50, i2_of_small), (5, i2_of_large))
    ])  # fmt: skip


def pair_result() -> Json:
    """Return the refinement of random pairs and of all clusters."""
    return stored([
        {"run": {"pairs": pairs, "n": 100, "k": 8, "seed": 0}, "data": "some", "tree": 100.0,
         "after": [[1, first], [2, first - 5]]}
        for pairs, first in (("random", 99.0), ("all", 93.0))
    ])  # fmt: skip


def all_results() -> dict[str, list[Json]]:
    """Return a result of each experiment, at the small size."""
    return {name: [result] for name, result in each_result().items()}


def each_result() -> dict[str, Json]:
    """Return a result of each experiment."""
    starts = {"rises": 0, "empty": 0, "elsewhere": 0, "iterations_boost": [8, 10],
              "distortions_boost": [1.0, 1.0]}  # fmt: skip
    states = [{"distortion": value} for value in (1.0, 0.2, 0.1)]
    samples = np.random.default_rng(0).normal(size=(5, 40)) / 10
    means = {"k-means": 100, "k-means++": 100, "BKM(non)": 90, "Mini-Batch": 110, "LVQ": 120}
    values = {one: mean + some for (one, mean), some in zip(means.items(), samples, strict=True)}
    return {
        "iterations": stored([
            {"run": {"method": "boost"}, "states": states}, {"run": {"method": "starts"}, **starts},
        ]),
        "lloyd_condition": stored([
            {"run": {"k": 8}, "share_before": 0.2, "share_after": 0.0, "distortion_before": 2.0,
             "distortion_after": 1.5},
        ]),
        "objectives": objectives_result([9.0, 8.0, 7.0], [9.0, 8.0, 7.0]),
        "distortion": distortion_result(),
        "fast_moves": seeds_result({"non": -1.0, "rnd": -1.0, "kpp": -1.0}),
        "significance": stored([{"run": {"method": one}, "distortion": list(some)}
                              for one, some in values.items()]),
        "bisecting": seeded(bisecting_result()),
        "pair_refinement": pair_result(),
        "sections": sections_result([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]),
        "split_priority": priority_result({"SIFT": (1.0, 3.0), "re0": (1.0, 4.0)}),
        "top_k0": stored([
            {"run": {"n": 9, "k": 99, "k0": k0}, "distortion": end, "sweep_seconds": seconds}
            for k0, end, seconds in ((None, 100.0, 8.0), (64, 100.5, 2.0), (2, 120.0, 0.1))
        ]),
        "search": search_result(),
        "documents": documents_result(),
        "scalability": scalability_result(),
    }  # fmt: skip
