"""`boostkmeans evaluate`: how well the clusters of a model suit vectors, and classes."""

import json
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from boostkmeans import metrics
from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.cli import options
from boostkmeans.cli.bar import shown_progress
from boostkmeans.cli.column import read_column
from boostkmeans.cli.errors import exit_codes
from boostkmeans.cli.input import check_memory, check_side_files, opened
from boostkmeans.cli.listing import plain, shown_measure, shown_sizes, sizes_of, two_columns
from boostkmeans.cli.model_input import read_model
from boostkmeans.cli.output import print_result

# By their names in JSON: what classes are held against clusters by, and how to call it.
SCORES: dict[str, tuple[str, Callable[[Any, Any], float]]] = {
    "entropy": ("entropy (0 is best)", metrics.entropy),
    "purity": ("purity (1 is best)", metrics.purity),
    "nmi": ("NMI (1 is best)", normalized_mutual_info_score),
    "ari": ("ARI (1 is best)", adjusted_rand_score),
}


def evaluate(
    model_path: options.ModelPath,
    path: options.VectorsPath,
    classes: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The class of each row: one a line, or a vector in .npy."),
    ] = None,
    threads: options.Threads = None,
    max_memory: options.MaxMemory = None,
    input_format: options.InputFormat = None,
    key: options.Key = None,
    header: options.Header = None,
    as_json: options.AsJson = False,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
) -> None:
    """\b
    Examples:
      boostkmeans evaluate model.safetensors vectors.fvecs
      boostkmeans evaluate model.safetensors vectors.npy --classes classes.txt --json

    Gives each vector its nearest centre, and says how far that is and how even the clusters are. With
    classes, how far clusters and classes agree.
    """
    with exit_codes(debug=debug):
        model = read_model(model_path, threads)
        check_side_files({"--classes": classes})
        given = None if classes is None else read_column(classes)
        k = len(model.cluster_centers_)
        sizes, inertias = np.zeros(k, dtype=np.int64), np.zeros(k)
        every: list[NDArray[np.int32]] = []
        with (
            shown_progress(verbose=verbose) as shown,
            opened(
                path,
                shown,
                input_format=input_format,
                key=key,
                header=header,
                max_memory=max_memory,
                model=model_path,
            ) as vectors,
        ):
            n_rows = vectors.shape[0]
            if given is not None and len(given) != n_rows:
                raise DataFormatError(
                    f"{classes}: {len(given):,} classes for {n_rows:,} rows of {vectors.name}. One for "
                    "each row is needed."
                )
            check_memory(vectors, n_rows, k, at_once=1)
            show = shown.counting("rows")
            show("evaluating", 0, n_rows)
            for labels, distances in model.predict_batches(vectors):
                sizes += np.bincount(labels, minlength=k)
                inertias += np.bincount(labels, weights=np.square(distances), minlength=k)
                every.append(labels)
                show("evaluating", int(sizes.sum()), n_rows)
        found = np.concatenate(every)
        made = plain(
            {
                "source": vectors.name,
                "model": model_path,
                "n_rows": n_rows,
                "n_clusters": k,
                "distortion": inertias.sum() / n_rows,
                "inertia": inertias.sum(),
                "distortion_of_fit": model.distortion_,
                "size_imbalance": metrics.size_imbalance(found, n_clusters=k),
                "sizes": sizes_of(sizes),
                "clusters": [
                    {"size": size, "share": size / n_rows, "distortion": inertia / max(1, size)}
                    for size, inertia in zip(sizes.tolist(), inertias.tolist(), strict=True)
                ],
                "scores": None if given is None else _scores(given, found),
            }
        )
        print_result(json.dumps(made, allow_nan=False) if as_json else _listing(made))


def _scores(classes: NDArray[Any], clusters: NDArray[np.int32]) -> dict[str, float]:
    return {name: float(score(classes, clusters)) for name, (_, score) in SCORES.items()}


def _listing(made: dict[str, Any]) -> str:
    largest = max(one["share"] for one in made["clusters"])
    pairs = [
        ("rows", f"{made['n_rows']:,}"),
        ("clusters", f"{made['n_clusters']:,}"),
        ("distortion", shown_measure(made["distortion"])),
        ("in the fit", shown_measure(made["distortion_of_fit"])),
        ("inertia", shown_measure(made["inertia"])),
        ("sizes", shown_sizes(made["sizes"])),
        ("size imbalance", f"{made['size_imbalance']:.4f} (1 is even)"),
        ("largest share", f"{largest:.2%} of the rows in one cluster"),
    ]
    scores = made["scores"] or {}
    return two_columns([*pairs, *((SCORES[name][0], f"{one:.4f}") for name, one in scores.items())])
