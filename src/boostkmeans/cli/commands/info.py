"""`boostkmeans info`: describe a file."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from boostkmeans import (
    DataFormatError,
    FileDescription,
    ProductQuantizer,
    SweepRecord,
    describe_file,
    load_model,
)
from boostkmeans.cli.command import Command, Result, command
from boostkmeans.cli.commands.pq.listing import Pairs, quantizer_pairs, quantizer_values
from boostkmeans.cli.files.column_input import describe_column
from boostkmeans.cli.files.result_output import ReportFile
from boostkmeans.cli.listing import (
    format_measure,
    format_sizes,
    summarize_sizes,
    to_json_types,
    two_columns,
)
from boostkmeans.cli.option_groups import Without, expand_option_groups
from boostkmeans.cli.options import CommonOptions, InputOptions, value_of
from boostkmeans.io import ArrayDescription, list_arrays

# Maximum number of column names in the listing.
MAX_NAMES_SHOWN = 8


@expand_option_groups
def info(
    path: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Model, quantizer, image pipeline, document model, checkpoint, vectors or column; - is "
            "standard input.",
        ),
    ],
    output: ReportFile = None,
    *,
    input_options: Annotated[InputOptions, Without("max_memory", "max_disk", "header")],
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans info model.safetensors
      boostkmeans info quantizer.st
      boostkmeans info fit.ckpt
      boostkmeans info vectors.fvecs --json
      boostkmeans info sift.hdf5

    Describe a file by its content: a model that fit wrote, a product quantizer, an image pipeline, a
    checkpoint, or vectors. A file with several arrays is described with all of them.
    """
    with command(common) as run:
        report = run.result_output(output)
        report.check({"FILE": path})
        is_ours = input_options.input_format is None and Path(path).is_file()
        found = describe_file(path) if is_ours else None
        if found is None:
            result, pairs = _describe_data(run, path, input_options)
        else:
            describe = {
                "model": _describe_model,
                "quantizer": _describe_quantizer,
                "image pipeline": _describe_pipeline,
                "document model": _describe_documents,
                "checkpoint": _describe_checkpoint,
            }[found.kind]
            result, pairs = describe(path, found)
        listing = two_columns([("file", path), *pairs])
        run.print_result({"file": path, **result}, lambda _: listing, report)


def _describe_model(path: str, found: FileDescription) -> tuple[Result, Pairs]:
    model = load_model(path)
    sizes = summarize_sizes(model.cluster_sizes_)
    result = {
        **_header_values(found),
        "estimator": found.estimator,
        "n_clusters": len(model.cluster_centers_),
        "n_features": model.n_features_in_,
        "n_rows": found.n_rows,
        "has_labels": found.has_labels,
        "feature_names": found.feature_names,
        "distortion": model.distortion_,
        "inertia": model.inertia_,
        "objective": getattr(model, "objective_", None),
        "sizes": sizes,
        "cluster_sizes": model.cluster_sizes_,
        "n_sweeps": model.n_iter_,
        "stop_reason": getattr(model, "stop_reason_", None),
        "converged": getattr(model, "converged_", None),
        "seconds": model.history_[-1].seconds if model.history_ else None,
        "history": [asdict(record) for record in model.history_],
    }
    pairs = [
        ("kind", f"model, written by boostkmeans {found.library_version}"),
        ("estimator", repr(model)),
        ("centres", f"{result['n_clusters']:,} of {result['n_features']:,} features"),
        ("rows", f"{found.n_rows:,} in the fit, labels {'' if found.has_labels else 'not '}included"),
        ("distortion", format_measure(model.distortion_)),
        ("inertia", format_measure(model.inertia_)),
        *_objective_pair(model),
        ("sizes", format_sizes(sizes)),
        *_history_pair(model.history_, model.n_iter_, result["stop_reason"]),
    ]
    return result, pairs


def _objective_pair(model: Any) -> Pairs:
    if not hasattr(model, "objective_"):
        return []
    return [("criterion", f"{model.criterion} {format_measure(model.objective_)}")]


def _history_pair(history: list[SweepRecord], n_sweeps: int, stop_reason: str | None) -> Pairs:
    if not history:
        return []
    stopped = f", stopped by {stop_reason}" if stop_reason else ""
    return [("history", f"{n_sweeps:,} sweeps in {history[-1].seconds:.2f} s{stopped}")]


def _describe_quantizer(path: str, found: FileDescription) -> tuple[Result, Pairs]:
    values = quantizer_values(ProductQuantizer.load(path))
    result = {**_header_values(found), "feature_names": found.feature_names, **values}
    kind = f"product quantizer, written by boostkmeans {found.library_version}"
    return result, [("kind", kind), *quantizer_pairs(to_json_types(values))]


def _describe_pipeline(path: str, found: FileDescription) -> tuple[Result, Pairs]:
    pipeline = load_model(path)
    n_words, n_features = pipeline.words_.shape
    result = {
        **_header_values(found),
        "estimator": found.estimator,
        "keypoints": pipeline.keypoints_,
        "n_images": pipeline.n_images_,
        "n_words": n_words,
        "n_descriptor_features": n_features,
        "n_components": pipeline.n_components_,
    }
    pairs = [
        ("kind", f"image pipeline, written by boostkmeans {found.library_version}"),
        ("estimator", repr(pipeline)),
        ("keypoints", pipeline.keypoints_),
        ("images", f"{pipeline.n_images_:,} in the fit"),
        ("vocabulary", f"{n_words:,} words of {n_features:,} features"),
        ("vectors", f"{pipeline.n_components_:,} components"),
    ]
    return result, pairs


def _describe_documents(path: str, found: FileDescription) -> tuple[Result, Pairs]:
    model = load_model(path)
    sizes = summarize_sizes(model.clusterer.cluster_sizes_)
    result = {
        **_header_values(found),
        "estimator": found.estimator,
        "n_clusters": len(model.cluster_names),
        "n_terms": len(model.weights.terms),
        "n_documents": found.n_rows,
        "documents": model.weights.kind,
        "cluster_names": model.cluster_names,
        "sizes": sizes,
        "cluster_sizes": model.clusterer.cluster_sizes_,
    }
    pairs = [
        ("kind", f"model of documents, written by boostkmeans {found.library_version}"),
        ("estimator", repr(model.clusterer)),
        ("documents", f"{found.n_rows:,} in the fit, as {model.weights.kind}"),
        ("vocabulary", f"{result['n_terms']:,} terms"),
        ("sizes", format_sizes(sizes)),
        *((f"  cluster {i}", name) for i, name in enumerate(model.cluster_names)),
    ]
    return result, pairs


def _describe_checkpoint(path: str, found: FileDescription) -> tuple[Result, Pairs]:
    n_clusters = found.parameters.get("n_clusters")
    result = {
        **_header_values(found),
        "estimator": found.estimator,
        "n_rows": found.n_rows,
        "n_features": found.n_features,
        "n_clusters": n_clusters,
        "n_runs_done": found.n_runs_done,
        "stage": found.stage,
        "bytes": Path(path).stat().st_size,
    }
    state = "all runs are complete"
    if found.stage is not None:
        state = f"stage {found.stage!r} of run {(found.n_runs_done or 0) + 1}"
    pairs = [
        ("kind", f"checkpoint, written by boostkmeans {found.library_version}"),
        ("fit", f"{found.estimator} of {found.n_rows:,} rows and {found.n_features:,} features"),
        ("clusters", f"{n_clusters:,}"),
        ("state", state),
    ]
    return result, pairs


def _header_values(found: FileDescription) -> Result:
    return {
        "kind": found.kind,
        "format_version": found.format_version,
        "written_by": found.library_version,
        "parameters": found.parameters,
    }


def _describe_data(run: Command, path: str, options: InputOptions) -> tuple[Result, Pairs]:
    column = describe_column(path) if Path(path).is_file() else None
    if column is not None:
        n_rows, dtype = column
        result = {"kind": "column", "format": "npy", "n_rows": n_rows, "dtype": dtype}
        return result, [
            ("kind", "column: one value per row, such as labels or weights"),
            ("rows", f"{n_rows:,} of type {dtype}"),
        ]
    found = list_arrays(path, format=value_of(options.input_format)) if Path(path).is_file() else None
    try:
        result, pairs = _describe_vectors(run, path, options)
    except DataFormatError:
        if not found or options.key:
            raise
        # The user must choose an array, or none holds vectors.
        result, pairs = {"kind": "arrays"}, [("kind", "several arrays; choose one with --key")]
    if found is None:
        return result, pairs
    arrays = [{"name": one.name, "shape": one.shape, "dtype": one.dtype} for one in found]
    listed = [(f"  {one.name}", _format_array(one)) for one in found]
    header = [("arrays", f"{len(found):,}")] if result["kind"] == "vectors" else []
    return {**result, "arrays": arrays}, [*pairs, *header, *listed]


def _format_array(array: ArrayDescription) -> str:
    shape = " x ".join(f"{n:,}" for n in array.shape) or "a single value"
    return f"{shape} of type {array.dtype}"


def _describe_vectors(run: Command, path: str, options: InputOptions) -> tuple[Result, Pairs]:
    with run.reading(path, options) as (vectors, _):
        n_rows, n_features = vectors.shape
        names = vectors.feature_names
        result = {
            "kind": "vectors",
            "format": vectors.format,
            "n_rows": n_rows,
            "n_features": n_features,
            "dtype": str(vectors.dtype),
            "is_sparse": vectors.is_sparse,
            "bytes_if_dense": vectors.nbytes,
            "feature_names": names,
        }
    pairs = [
        ("kind", f"vectors, {'sparse' if result['is_sparse'] else 'dense'}, format {result['format']}"),
        ("rows", f"{n_rows:,}"),
        ("features", f"{n_features:,} of type {result['dtype']}"),
        ("memory", f"{result['bytes_if_dense']:,} bytes if dense"),
    ]
    if names is not None:
        n_more = len(names) - MAX_NAMES_SHOWN
        more = f", and {n_more} more" if n_more > 0 else ""
        pairs.append(("columns", ", ".join(names[:MAX_NAMES_SHOWN]) + more))
    return result, pairs
