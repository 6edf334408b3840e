"""The methods of the paper's Fig. 6 on VLAD vectors of real photographs.

The paper's Flickr10M is not available. These sets have fewer photographs, but real ones: there is no
model of the vectors between the photographs and the figures. The numbers of clusters give the numbers of
rows per cluster of Fig. 5 and 6, from about 1,000 to about 10.
"""

import sys

import experiment
from experiment import Json, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np
from numpy.typing import NDArray

import photo_sets
import scalability_methods
from machine_load import is_quiet, record_load

NAME = "photos"
TITLE = "Real photographs (the paper's Fig. 6)"
LARGER_SIZE = "the larger number of seeds"

METHODS = ("k-means", "k-means++", "Mini-Batch", "BKM(non)", "BKM(rnd)+Fast", "BsKM", "BsKM++", "RBK",
           "BsBKM(non)", "sampled tree", "boostkmeans")  # fmt: skip
KS = (2, 16, 64, 200)
# Numbers of seeds at both sizes. The paper has 10.
SMALL_SEEDS, FULL_SEEDS = 3, 10
# Fits take milliseconds, and those of a busy machine many times as long.
NEEDS_QUIET = True
# Number of neighbours that are compared between two sets.
NEIGHBOURS = 10
PROVIDED, *COMPUTED = photo_sets.SETS


def plan(full: bool) -> list[Json]:
    """Return the runs. Both sizes have all photographs, and differ in the number of seeds."""
    runs: list[Json] = [
        {"set": name, "figure": "neighbours", "seed": photo_sets.SEED} for name in COMPUTED
    ]
    runs += [
        {"set": name, "k": k, "method": method, "seeds": FULL_SEEDS if full else SMALL_SEEDS}
        for name in photo_sets.SETS
        for k in KS
        for method in METHODS
    ]
    return runs


def cost(run: Json) -> float:
    """Return the estimated seconds of a run. Pictures are converted to vectors once."""
    return 15.0 if "figure" in run else 0.2 * float(run["seeds"])


def measure(run: Json) -> Json:
    """Return the distortions and the seconds of a method, or the neighbours that two sets share."""
    load: Json = {}
    # Fits take milliseconds, so the load is that of the whole run, including the reading of the vectors.
    with record_load(load):
        photos = photo_sets.load(run["set"])
        if "figure" in run:
            return {**photos.notes, **shared_neighbours(photos, photo_sets.load(PROVIDED))}
        fits = [
            scalability_methods.fit(run["method"], photos.vectors, run["k"], seed)
            for seed in range(run["seeds"])
        ]
    return {
        **load,
        "n": len(photos.vectors),
        "distortion": float(np.mean([one.distortion for one in fits])),
        "distortions": [one.distortion for one in fits],
        "seconds": float(np.median([one.seconds for one in fits])),
    }


def shared_neighbours(ours: photo_sets.PhotoSet, theirs: photo_sets.PhotoSet) -> Json:
    """Return the share of the nearest photographs that two sets have in common, and that of chance."""
    names = [name for name in ours.names if name in set(theirs.names)]
    ranks = [nearest_names(one, names) for one in (ours, theirs)]
    shared = [len(set(a) & set(b)) for a, b in zip(*ranks, strict=True)]
    return {
        "compared": len(names),
        "shared_neighbours": float(np.mean(shared)) / NEIGHBOURS,
        "same_nearest": float(np.mean(ranks[0][:, 0] == ranks[1][:, 0])),
        "chance": NEIGHBOURS / (len(names) - 1),
    }


def nearest_names(photos: photo_sets.PhotoSet, names: list[str]) -> NDArray[np.int64]:
    """Return the nearest other photographs of each one, as indices into the names."""
    places = {name: place for place, name in enumerate(photos.names)}
    rows = photos.vectors[[places[name] for name in names]]
    similarity = rows @ rows.T
    np.fill_diagonal(similarity, -np.inf)
    return np.argsort(-similarity, axis=1, kind="stable")[:, :NEIGHBOURS]


def conclusion(result: Json) -> str:
    """Return a sentence about the methods of the paper with the largest number of clusters."""
    k, gaps = KS[-1], []
    for name in photo_sets.SETS:
        some = [one for one in result["runs"] if one["run"]["set"] == name and "method" in one["run"]]
        own, reference = (value(some, one, k, "distortion") for one in ("BKM(non)", "k-means"))
        if own is not None and reference is not None:
            gaps.append(100 * (own / reference - 1))
    if not gaps:
        return "The real photographs are not measured yet."
    return (
        f"On {len(gaps)} sets of VLAD vectors of about 2,000 real photographs, BKM(non) ends "
        f"{min(gaps):+.1f} to {max(gaps):+.1f} % relative to k-means, for {k} clusters."
    )


def page(result: Json) -> str:
    """Return the page: the sets, distortions, and the seconds of a quiet machine."""
    runs = result["runs"]
    fits = [run for run in runs if "method" in run["run"]]
    seeds = fits[0]["run"]["seeds"] if fits else 0
    parts = [INTRODUCTION.format(seeds=seeds), set_table(runs), NEIGHBOUR_TEXT]
    for name in photo_sets.SETS:
        some = [run for run in fits if run["run"]["set"] == name]
        if some:
            parts += [
                f"## {name[0].upper()}{name[1:]}: {some[0]['n']:,} x 512\n",
                "Average distortion, mean of the seeds:\n",
                distortion_table(some),
                best_text(some),
            ]
            quiet = [run for run in some if is_quiet(run) and "seconds" in run]
            parts += ["Seconds, median of the seeds:\n", seconds_table(quiet)] if quiet else []
    return "\n".join(parts)


def set_table(runs: list[Json]) -> str:
    """Return a table of the computed sets."""
    lines = [
        [
            run["run"]["set"],
            f"{run['photographs']:,}",
            f"{run['without_keypoints']:,}",
            f"{run['explained_variance']:.1%}",
            f"{run['compared']:,}",
            f"{run['shared_neighbours']:.1%}",
            f"{run['same_nearest']:.1%}",
            f"{run['chance']:.1%}",
        ]
        for run in runs
        if "figure" in run["run"]
    ]
    header = ["set", "photographs", "without keypoints", "variance in 512 components", "compared",
              f"shared {NEIGHBOURS} nearest", "same nearest", "shared by chance"]  # fmt: skip
    return table(header, lines)


def value(runs: list[Json], method: str, k: int, figure: str) -> float | None:
    """Return a figure of a method, or None if it is not measured."""
    found = [run for run in runs if (run["run"]["method"], run["run"]["k"]) == (method, k)]
    return float(found[0][figure]) if found else None


def distortion_table(runs: list[Json]) -> str:
    """Return distortions, with the difference to k-means in per cent."""
    lines = []
    for method in METHODS:
        line = [method]
        for k in KS:
            own, reference = (value(runs, one, k, "distortion") for one in (method, "k-means"))
            if own is None:
                line.append("")
            elif reference is None or method == "k-means":
                line.append(f"{own:.4f}")
            else:
                line.append(f"{own:.4f} ({own / reference - 1:+.1%})")
        lines.append(line)
    return table(["", *[f"k = {k}" for k in KS]], lines)


def seconds_table(runs: list[Json]) -> str:
    """Return the seconds of each method."""
    lines = []
    for method in METHODS:
        some = [value(runs, method, k, "seconds") for k in KS]
        lines.append([method, *["" if one is None else f"{one:.3f}" for one in some]])
    return table(["", *[f"k = {k}" for k in KS]], lines)


def best_text(runs: list[Json]) -> str:
    """Return a sentence about the methods with the lowest distortion."""
    parts = []
    for k in KS:
        found = {method: value(runs, method, k, "distortion") for method in METHODS}
        measured = {method: one for method, one in found.items() if one is not None}
        if not measured:
            continue
        ranked = sorted(measured, key=measured.__getitem__)
        text = ranked[0]
        if ranked[0] in OWN and len(measured) > len(OWN):
            text += f" ({next(method for method in ranked if method not in OWN)} among the paper's)"
        parts.append(f"{text} for k = {k}")
    return f"Lowest: {'; '.join(parts)}.\n"


# Methods that the paper does not have.
OWN = ("boostkmeans", "sampled tree")

INTRODUCTION = """The paper clusters VLAD vectors of 10 million photographs from Flickr, which are not
available. This page has real photographs instead, with the paper's pipeline and methods, but about
2,000 of them. Direct k-way methods run for at most 20 iterations, as in the paper, and each method has
{seeds} seeds (10 in the paper). The numbers of clusters range from about 1,000 to about 10 rows per
cluster, as in Fig. 5 and 6. The sets differ in how the vectors were made:

- *Provided VLAD vectors*: 512 dimensions, computed from the photographs by another program (RootSIFT,
  64 words, PCA).
- *PhotoSIFT by image number*: `boostkmeans.images` computed VLAD vectors from 1,000,000 SIFT
  descriptors.
- *Thumbnails*: `boostkmeans.images` computed everything from images of 128 pixels, from the keypoints
  on. Images without keypoints are left out.
"""

NEIGHBOUR_TEXT = f""""Shared {NEIGHBOURS} nearest" is the share of a photograph's {NEIGHBOURS} nearest
photographs that are also among its {NEIGHBOURS} nearest ones by the provided vectors. The sets use other
keypoints and other resolutions, so that an agreement above chance is expected, but not equality.
"""


if __name__ == "__main__":
    import photos

    sys.exit(experiment.main(photos))
