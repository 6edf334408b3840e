"""`boostkmeans evaluate`: measure a model on vectors, and against classes."""

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from boostkmeans import DataFormatError, metrics
from boostkmeans.cli.command import Result, command
from boostkmeans.cli.files.column_input import read_column
from boostkmeans.cli.files.input import check_side_files, input_files
from boostkmeans.cli.files.label_output import LabelOutput
from boostkmeans.cli.files.model_input import read_model
from boostkmeans.cli.files.result_output import TableFile
from boostkmeans.cli.listing import format_measure, format_sizes, summarize_sizes, two_columns
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import CommonOptions, InputOptions, ModelPath, Threads, VectorsPaths
from boostkmeans.io import Vectors, check_memory
from boostkmeans.metrics._silhouette import silhouette_values

# External measures: JSON key -> (name in the listing, function of classes and clusters).
SCORES: dict[str, tuple[str, Callable[[Any, Any], float]]] = {
    "entropy": ("entropy (0 is best)", metrics.entropy),
    "purity": ("purity (1 is best)", metrics.purity),
    "nmi": ("NMI (1 is best)", normalized_mutual_info_score),
    "ari": ("ARI (1 is best)", adjusted_rand_score),
}


@expand_option_groups
def evaluate(
    model_path: ModelPath,
    paths: VectorsPaths,
    classes: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="File with the class of each row: .npy, or one per line."),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|DIR/",
            help="File for the cluster of each row, as in predict. With --id, it contains the ids.",
        ),
    ] = None,
    output: TableFile = None,
    threads: Threads = None,
    *,
    input_options: InputOptions,
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans evaluate model.safetensors vectors.fvecs
      boostkmeans evaluate model.safetensors vectors.npy --classes classes.txt --json
      boostkmeans evaluate model.safetensors vectors.npy -o clusters.csv

    Assign each vector to its nearest centre, and print the distortion and the sizes of the clusters.
    With classes, also print how well clusters and classes agree. The table of -o has one row per
    cluster.
    """
    with command(common) as run:
        report = run.result_output(output, _clusters)
        label_output = LabelOutput.from_options(
            labels, None, input_options.id_column, force=common.force
        )
        if label_output is not None and label_output.is_stdout:
            raise ValueError("--labels must be a file: `boostkmeans predict` prints labels.")
        check_side_files({"--classes": classes})
        inputs = input_files(paths, input_options)
        report.check(
            {"MODEL": model_path, "PATH": inputs, "--classes": classes},
            labels=None if label_output is None else label_output.outputs(inputs),
        )
        model = read_model(model_path, threads, paths)
        true_classes = None if classes is None else read_column(classes)
        k = len(model.cluster_centers_)
        batches: list[NDArray[np.int32]] = []
        inertias, silhouette = np.zeros(k), 0.0
        with run.reading(paths, input_options, model=model_path) as (vectors, display):
            if true_classes is not None:
                _check_length(true_classes, str(classes), vectors)
            check_memory(vectors, k)
            n_done, progress = 0, display.counter("rows")
            progress("evaluating", 0, len(vectors))
            for distances, nearest in model.predict_many_batches(vectors, min(k, 2)):
                found, own = nearest[:, 0].copy(), distances[:, 0].astype(np.float64)
                inertias += np.bincount(found, weights=np.square(own), minlength=k)
                if k > 1:
                    silhouette += float(silhouette_values(own, distances[:, 1]).sum())
                batches.append(found)
                n_done += len(found)
                progress("evaluating", n_done, len(vectors))
            if label_output is not None:
                with label_output.writing(vectors) as write:
                    write(np.concatenate(batches))
        result = {
            "source": vectors.name,
            "model": model_path,
            **_measure(np.concatenate(batches), inertias, true_classes),
            "simplified_silhouette": silhouette / n_done if k > 1 else None,
            "distortion_of_fit": model.distortion_,
        }
        run.print_result(result, _listing, report)


def _clusters(result: Result) -> list[Result]:
    """Return the table of clusters."""
    return [{"cluster": i, **cluster} for i, cluster in enumerate(result["clusters"])]


def _check_length(classes: NDArray[Any], file: str, vectors: Vectors) -> None:
    if len(classes) != len(vectors):
        raise DataFormatError(
            f"{len(classes):,} classes for {len(vectors):,} rows of {vectors.name}. One class per row "
            "is needed.",
            file=file,
        )


def _measure(
    labels: NDArray[np.int32], inertias: NDArray[np.float64], classes: NDArray[Any] | None
) -> Result:
    """Return all measures by the names of the JSON output."""
    n_rows, k = len(labels), len(inertias)
    sizes = np.bincount(labels, minlength=k)
    scores = None
    if classes is not None:
        scores = {name: float(score(classes, labels)) for name, (_, score) in SCORES.items()}
    return {
        "n_rows": n_rows,
        "n_clusters": k,
        "distortion": inertias.sum() / n_rows,
        "inertia": inertias.sum(),
        "size_imbalance": metrics.size_imbalance(labels, n_clusters=k),
        "sizes": summarize_sizes(sizes),
        "clusters": [
            {"size": size, "share": size / n_rows, "distortion": inertia / max(1, size)}
            for size, inertia in zip(sizes.tolist(), inertias.tolist(), strict=True)
        ],
        "scores": scores,
    }


def _listing(result: Result) -> str:
    largest = max(cluster["share"] for cluster in result["clusters"])
    pairs = [
        ("rows", f"{result['n_rows']:,}"),
        ("clusters", f"{result['n_clusters']:,}"),
        ("distortion", format_measure(result["distortion"])),
        ("in the fit", format_measure(result["distortion_of_fit"])),
        ("inertia", format_measure(result["inertia"])),
        ("sizes", format_sizes(result["sizes"])),
        ("size imbalance", f"{result['size_imbalance']:.4f} (1 is even)"),
        ("largest share", f"{largest:.2%} of the rows in one cluster"),
    ]
    silhouette = result["simplified_silhouette"]
    if silhouette is not None:
        pairs.append(("simplified silhouette", f"{silhouette:.4f} (1 is best)"))
    scores = result["scores"] or {}
    return two_columns([*pairs, *((SCORES[name][0], f"{one:.4f}") for name, one in scores.items())])
