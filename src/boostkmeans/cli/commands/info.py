"""`boostkmeans info`: what a file is."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from boostkmeans import ProductQuantizer, load_model
from boostkmeans._engine import checkpoint
from boostkmeans._runtime.errors import ChoiceError, DataFormatError
from boostkmeans._storage import format_names
from boostkmeans._storage.tensors import peek
from boostkmeans.cli import options
from boostkmeans.cli.bar import shown_progress
from boostkmeans.cli.column import column_header
from boostkmeans.cli.commands.pq.listing import quantizer_pairs, quantizer_values
from boostkmeans.cli.errors import exit_codes
from boostkmeans.cli.input import is_stream, opened
from boostkmeans.cli.listing import plain, shown_measure, shown_sizes, sizes_of, two_columns
from boostkmeans.cli.output import print_result
from boostkmeans.io import open_vectors

# Names of columns that are shown, where there are many.
NAMES_SHOWN = 8
# What of the identity of a fit is no parameter.
NO_PARAMETERS = ("estimator", "shape", "data", "parts", "sample_weight")


def info(
    path: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A model, quantizer, checkpoint, vectors or a column; - is stdin."
        ),
    ],
    input_format: options.InputFormat = None,
    key: options.Key = None,
    as_json: options.AsJson = False,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
) -> None:
    """\b
    Examples:
      boostkmeans info model.safetensors
      boostkmeans info quantizer.st
      boostkmeans info fit.ckpt
      boostkmeans info vectors.fvecs --json

    Says what a file is, by its content: a model that fit wrote, a product quantizer, a checkpoint, or
    vectors.
    """
    with exit_codes(debug=debug):
        found = None if input_format is not None or is_stream(path) else peek(path)
        kind = None if found is None else found[0]
        if found is not None and kind == format_names.MODEL:
            made, pairs = _model(path, *found[1:])
        elif found is not None and kind == format_names.QUANTIZER:
            made, pairs = _quantizer(path, *found[1:])
        elif found is not None and kind == checkpoint.FORMAT:
            made, pairs = _checkpoint_info(path, *found[1:])
        else:
            made, pairs = _data(path, input_format, key, verbose)
        made = plain({"file": path, **made})
        print_result(json.dumps(made, allow_nan=False) if as_json else two_columns(pairs))


def _model(
    path: str, version: int, header: dict[str, Any]
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    model = load_model(path)
    history = model.history_
    sizes = sizes_of(model.cluster_sizes_)
    made = {
        "kind": "model",
        "format_version": version,
        "written_by": header["library_version"],
        "estimator": header["estimator"],
        "parameters": header["parameters"],
        "n_clusters": len(model.cluster_centers_),
        "n_features": model.n_features_in_,
        "n_rows": header["n_rows"],
        "has_labels": header["has_labels"],
        "feature_names": header.get("feature_names"),
        "distortion": model.distortion_,
        "inertia": model.inertia_,
        "sizes": sizes,
        "cluster_sizes": model.cluster_sizes_,
        "n_sweeps": model.n_iter_,
        "stop_reason": getattr(model, "stop_reason_", None),
        "converged": getattr(model, "converged_", None),
        "seconds": history[-1].seconds if history else None,
        "history": [asdict(record) for record in history],
    }
    pairs = [
        ("file", path),
        ("kind", f"model, written by boostkmeans {header['library_version']}"),
        ("estimator", repr(model)),
        ("centres", f"{made['n_clusters']:,} of {made['n_features']:,} features"),
        ("rows", f"{made['n_rows']:,} in the fit, labels {'are' if made['has_labels'] else 'not'} here"),
        ("distortion", shown_measure(model.distortion_)),
        ("inertia", shown_measure(model.inertia_)),
        ("sizes", shown_sizes(sizes)),
    ]
    if history:
        pairs.append(("history", _course(made)))
    return made, pairs


def _quantizer(
    path: str, version: int, header: dict[str, Any]
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    quantizer = ProductQuantizer.load(path)
    made = {
        "kind": "quantizer",
        "format_version": version,
        "written_by": header["library_version"],
        "parameters": header["parameters"],
        "feature_names": header.get("feature_names"),
        **quantizer_values(quantizer),
    }
    pairs = [
        ("file", path),
        ("kind", f"product quantizer, written by boostkmeans {header['library_version']}"),
        *quantizer_pairs(made),
    ]
    return made, pairs


def _course(made: dict[str, Any]) -> str:
    text = f"{made['n_sweeps']:,} sweeps in {made['seconds']:.2f} s"
    return text + (f", stopped by {made['stop_reason']}" if made["stop_reason"] else "")


def _checkpoint_info(
    path: str, version: int, header: dict[str, Any]
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    identity = header.get("identity", {})
    shape = identity.get("shape", [0, 0])
    stage = header.get("stage")
    made = {
        "kind": "checkpoint",
        "format_version": version,
        "written_by": header["library_version"],
        "estimator": identity.get("estimator"),
        "parameters": {name: one for name, one in identity.items() if name not in NO_PARAMETERS},
        "n_rows": shape[0],
        "n_features": shape[1],
        "n_clusters": identity.get("n_clusters"),
        "n_runs_done": header.get("n_done"),
        "stage": stage,
        "bytes": Path(path).stat().st_size,
    }
    at = (
        "all runs are done" if stage is None else f"stage {stage!r} of run {header.get('n_done', 0) + 1}"
    )
    pairs = [
        ("file", path),
        ("kind", f"checkpoint, written by boostkmeans {header['library_version']}"),
        ("fit", f"{made['estimator']} of {shape[0]:,} rows and {shape[1]:,} features"),
        ("clusters", f"{made['n_clusters']:,}"),
        ("state", at),
    ]
    return made, pairs


def _data(
    path: str, input_format: options.Format | None, key: list[str] | None, verbose: bool
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    column = column_header(path) if Path(path).is_file() else None
    if column is not None:
        n_rows, dtype = column
        made = {"kind": "column", "format": "npy", "n_rows": n_rows, "dtype": dtype}
        return made, [
            ("file", path),
            ("kind", "column: a value for each row, such as labels or weights"),
            ("rows", f"{n_rows:,} of type {dtype}"),
        ]
    try:
        return _vectors(path, input_format, key, verbose)
    except ChoiceError as error:
        if not error.available:
            raise
        return _arrays(path, input_format, error.available)


def _arrays(
    path: str, input_format: options.Format | None, names: list[str]
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Of a file with several arrays."""
    arrays: list[dict[str, Any]] = []
    for name in names:
        kind = None if input_format is None else input_format.value
        try:
            with open_vectors(path, format=kind, key=name) as found:
                arrays.append({"name": name, "shape": list(found.shape), "dtype": str(found.dtype)})
        except DataFormatError:  # one that has no rows and columns
            arrays.append({"name": name, "shape": None, "dtype": None})
    pairs = [("file", path), ("kind", "several arrays, of which --key names one")]
    for one in arrays:
        rows = "no vectors" if one["shape"] is None else "{:,} x {:,} of type ".format(*one["shape"])
        pairs.append((f"  {one['name']}", rows + (one["dtype"] or "")))
    return {"kind": "arrays", "arrays": arrays}, pairs


def _vectors(
    path: str, input_format: options.Format | None, key: list[str] | None, verbose: bool
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    with (
        shown_progress(verbose=verbose) as shown,
        opened(path, shown, input_format=input_format, key=key) as vectors,
    ):
        n_rows, n_features = vectors.shape
        names = vectors.feature_names
        made = {
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
        ("file", path),
        ("kind", f"vectors, {'sparse' if made['is_sparse'] else 'dense'}, format {made['format']}"),
        ("rows", f"{n_rows:,}"),
        ("features", f"{n_features:,} of type {made['dtype']}"),
        ("memory", f"{made['bytes_if_dense']:,} bytes if dense"),
    ]
    if names is not None:
        more = f", and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
        pairs.append(("columns", ", ".join(names[:NAMES_SHOWN]) + more))
    return made, pairs
