"""`boostkmeans pq train`: a quantizer for vectors."""

import json
import time
from typing import Annotated, Any

import typer

import boostkmeans
from boostkmeans import BisectingBoostKMeans, BoostKMeans, ProductQuantizer, QuantizerRecord
from boostkmeans.cli import options
from boostkmeans.cli.bar import Shown, shown_progress
from boostkmeans.cli.commands.pq.files import opened_dense
from boostkmeans.cli.commands.pq.listing import quantizer_pairs, quantizer_values, sizes_of_code
from boostkmeans.cli.commands.pq.training_rows import TrainingRows
from boostkmeans.cli.errors import exit_codes
from boostkmeans.cli.listing import plain, two_columns
from boostkmeans.cli.options import Quality
from boostkmeans.cli.output import STDOUT, Output, check_outputs, print_result, writing_to
from boostkmeans.quantization._codes import MAX_CENTROIDS

# By the kinds of a `QuantizerRecord`: what a bar says.
STEPS = {"rotation": "learning a rotation", "subspace": "training subspaces"}


def train(
    path: options.VectorsPath,
    target: Annotated[str, typer.Argument(metavar="OUT", help="Where to write the quantizer.")],
    subspaces: Annotated[
        int, typer.Option(min=1, metavar="M", help="Parts of a code. Must divide the features.")
    ] = 8,
    centroids: Annotated[
        int,
        typer.Option(
            min=1,
            max=MAX_CENTROIDS,
            metavar="N",
            help="Centroids of each subspace: up to 256, a part of a code is a byte, else two.",
        ),
    ] = 256,
    quality: Annotated[
        Quality | None, typer.Option(help="Effort of the clusterings. By default fast.")
    ] = None,
    bisecting: Annotated[
        bool, typer.Option("--bisecting", help="Cluster by a tree instead: faster, less exact.")
    ] = False,
    rotation: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="ROUNDS",
            help="Rotate vectors first, by a rotation that is learned in so many rounds: 20 are enough.",
        ),
    ] = 0,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Train on so many rows, drawn evenly from the file, if it has more. By default on all "
            "of them, or on as many as fit into memory.",
        ),
    ] = None,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    max_memory: options.MaxMemory = None,
    input_format: options.InputFormat = None,
    key: options.Key = None,
    header: options.Header = None,
    as_json: options.AsJson = False,
    force: options.Force = False,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
) -> None:
    """\b
    Examples:
      boostkmeans pq train vectors.fvecs quantizer.st
      boostkmeans pq train vectors.npy better.st --quality balanced --rotation 20
      boostkmeans pq train huge.bvecs quantizer.st --sample 1000000 --subspaces 16

    Learns a product quantizer from vectors: the features are divided into subspaces, and the vectors are
    clustered in each of them. Prints the distortion, which is the mean squared error of the codes.
    """
    with exit_codes(debug=debug):
        if target == STDOUT:
            raise ValueError("OUT must be a file: it is binary, and not for standard output.")
        check_outputs({"PATH": path}, {"OUT": Output(target, force)})
        quantizer = ProductQuantizer(
            subspaces,
            centroids,
            clusterer=_clusterer(quality, bisecting),
            rotation=rotation,
            random_state=seed,
            n_threads=threads,
        )
        chosen = TrainingRows(sample, seed, subspaces, centroids, rotation > 0)
        with (
            shown_progress(verbose=verbose) as shown,
            opened_dense(
                path, shown, input_format=input_format, key=key, header=header, max_memory=max_memory
            ) as vectors,
        ):
            began = time.perf_counter()
            rows = chosen.of(vectors)
            _fit(quantizer, rows, shown)
            seconds = time.perf_counter() - began
            made = plain(
                {
                    "boostkmeans": boostkmeans.__version__,
                    "source": vectors.name,
                    "format": vectors.format,
                    "n_rows": rows.shape[0],
                    "n_rows_of_file": len(vectors),
                    **quantizer_values(quantizer),
                    **sizes_of_code(quantizer, vectors),
                    "clusterer": repr(quantizer._trainer()),
                    "rotation": rotation,
                    "seed": seed,
                    "seconds": seconds,
                    "file": target,
                }
            )
        with writing_to(target):
            quantizer.save(target)
        print_result(json.dumps(made, allow_nan=False) if as_json else _listing(made))


def _clusterer(quality: Quality | None, bisecting: bool) -> BoostKMeans | BisectingBoostKMeans | None:
    """None is the quantizer's own: the fast one."""
    if bisecting:
        if quality is not None:
            raise ValueError("--quality is not for --bisecting: leave one of them out.")
        return BisectingBoostKMeans()
    if quality is None or quality is Quality.FAST:
        return None
    return BoostKMeans(quality=quality.value)


def _fit(quantizer: ProductQuantizer, rows: Any, shown: Shown) -> None:
    def tell(record: QuantizerRecord) -> None:
        shown.progress(STEPS[record.kind], record.done, record.total)
        if record.kind == "rotation" and record.done == record.total:
            shown.progress(STEPS["subspace"], 0, quantizer.n_subspaces)

    rounds = int(quantizer.rotation)
    shown.progress(STEPS["rotation" if rounds else "subspace"], 0, rounds or quantizer.n_subspaces)
    quantizer.set_params(verbose=shown.verbose, callback=tell).fit(rows)
    # What was of use to the training alone is not for whoever loads the quantizer.
    quantizer.set_params(verbose=0, callback=None)


def _listing(made: dict[str, Any]) -> str:
    n_rows, n_all = made["n_rows"], made["n_rows_of_file"]
    of_all = f"{n_rows:,} of {n_all:,}" if n_rows < n_all else f"{n_rows:,}"
    return two_columns(
        [
            ("rows", of_all),
            *quantizer_pairs(made),
            ("seconds", f"{made['seconds']:.2f}"),
            ("written to", made["file"]),
        ]
    )
