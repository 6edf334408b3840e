"""`boostkmeans dedup`: find near duplicates, and list the rows to keep."""

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import numpy as np
import typer

from boostkmeans.cli.command import Result, command
from boostkmeans.cli.commands.fit.engine import EngineOptions, open_engine_input
from boostkmeans.cli.errors import print_message
from boostkmeans.cli.files.column_output import check_table, write_table
from boostkmeans.cli.files.input import input_files, open_input
from boostkmeans.cli.files.output import (
    Output,
    check_outputs,
    check_stdout_conflict,
    output_to,
)
from boostkmeans.cli.files.row_list import check_row_list, write_row_list
from boostkmeans.cli.files.vector_output import ID_ENDINGS, IdColumn, check_vector_output, vector_writer
from boostkmeans.cli.listing import two_columns
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import CommonOptions, InputOptions, Metric, RunOptions, VectorsPaths
from boostkmeans.curate import Deduplication, deduplicate
from boostkmeans.io import Vectors

Keep = StrEnum("Keep", ["central", "first"])
# Message at the beginning of a search without output files.
NOTHING_SAVED = (
    "no output is named, so nothing will be saved: use -o for the vectors that are kept, --keep-list or "
    "--groups"
)


@dataclass(frozen=True)
class DedupOptions:
    """Files that the command writes."""

    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File for the vectors that are kept: .npy, .fvecs, .fbin, .parquet, .csv and others. "
            "With --id, .parquet, .csv and .tsv files contain the ids.",
        ),
    ] = None
    keep_list: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File for the rows that are kept: .txt, .npy, .csv or .parquet; - is standard output. "
            "Row numbers start at 0. With --id, a .txt file has ids, and tables have both.",
        ),
    ] = None
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Table of the near duplicates (.csv or .parquet): group, row, id, similarity, kept.",
        ),
    ] = None


@expand_option_groups
def dedup(
    paths: VectorsPaths,
    threshold: Annotated[
        float,
        typer.Option(
            metavar="T",
            help="Cosine from which two rows are near duplicates, or distance with --metric euclidean.",
        ),
    ] = 0.95,
    metric: Annotated[Metric, typer.Option(help="Meaning of the threshold.")] = Metric.cosine,
    keep: Annotated[
        Keep, typer.Option(help="Row of each group to keep: nearest to the mean of the group, or first.")
    ] = Keep.central,
    *,
    files: DedupOptions,
    n_neighbours: Annotated[
        int | None,
        typer.Option(
            "--neighbours",
            min=0,
            metavar="N",
            help="Compare each cluster with its N nearest clusters only. Pairs may be missed (default: "
            "all clusters that can contain a pair).",
        ),
    ] = None,
    n_checked: Annotated[
        int | None,
        typer.Option(
            "--check",
            min=0,
            metavar="N",
            help="Number of rows that are compared with all rows to estimate how many pairs are missed "
            "(default: 1000 with --neighbours; otherwise 0, because no pair can be missed).",
        ),
    ] = None,
    engine_options: EngineOptions,
    run_options: RunOptions,
    input_options: InputOptions,
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans dedup vectors.npy --threshold 0.95 --keep-list kept.txt
      boostkmeans dedup vectors.npy -o kept.npy --groups groups.csv
      boostkmeans dedup 'emb-*.parquet' --id id --keep-list kept.parquet
      boostkmeans dedup vectors.fvecs --metric euclidean --threshold 50 --keep first

    Find near duplicates, and keep one row of each group of them. A group is a set of rows that are
    connected by pairs of near duplicates. All pairs are found, unless --neighbours limits the search.

    The files may be larger than memory, and are not changed. With --engine, they are shards that are
    compared on Dask or Ray.
    """
    with command(common) as run:
        outputs = DedupOutputs.from_options(files, input_options.id_column, common)
        inputs = input_files(paths, input_options)
        check_outputs({"PATH": inputs}, outputs.by_option)
        if not common.as_json:
            outputs.note_losses(input_options.id_column)
        start = time.perf_counter()
        with (
            engine_options.connected() as engine,
            run.progress() as display,
            open_input(paths, display, input_options) as vectors,
        ):
            rows: Any = vectors if engine is None else open_engine_input(inputs, input_options)
            found = deduplicate(
                rows,
                threshold,
                metric=metric.value,
                keep=keep.value,
                n_neighbours=n_neighbours,
                n_checked=n_checked,
                engine=engine,
                random_state=run_options.seed,
                n_threads=run_options.threads,
                progress=display.counter("rows"),
            )
            seconds = time.perf_counter() - start
            outputs.write(found, vectors, input_options.id_column)
        if not outputs.uses_stdout:
            run.print_result(_result(found, vectors, seconds, outputs), _listing)


@dataclass(frozen=True)
class DedupOutputs:
    """Destinations of the results."""

    vectors: Output | None
    keep_list: Output | None
    groups: Output | None

    @classmethod
    def from_options(
        cls, files: DedupOptions, id_column: str | None, common: CommonOptions
    ) -> "DedupOutputs":
        """Return the outputs. Raise an error if a file name does not determine the format."""
        found = cls(
            output_to(files.output, force=common.force),
            output_to(files.keep_list, force=common.force),
            output_to(files.groups, force=common.force),
        )
        check_vector_output("--output", found.vectors)
        check_row_list("--keep-list", found.keep_list, has_ids=id_column is not None)
        check_table("--groups", found.groups)
        for name, output in found.by_option.items():
            check_stdout_conflict(name, output, as_json=common.as_json)
        if sum(output is not None and output.is_stdout for output in found.by_option.values()) > 1:
            raise ValueError("--keep-list and --groups both use standard output: write one to a file.")
        return found

    @property
    def by_option(self) -> dict[str, Output | None]:
        """Outputs by option."""
        return {"--output": self.vectors, "--keep-list": self.keep_list, "--groups": self.groups}

    @property
    def uses_stdout(self) -> bool:
        """True if a result is printed."""
        return any(output is not None and output.is_stdout for output in self.by_option.values())

    @property
    def files(self) -> dict[str, str]:
        """Paths of the files by the names of the JSON output."""
        named = {"vectors": self.vectors, "keep_list": self.keep_list, "groups": self.groups}
        return {name: one.path for name, one in named.items() if one is not None and not one.is_stdout}

    def note_losses(self, id_column: str | None) -> None:
        """Say at the beginning which results will not be in a file."""
        if all(output is None for output in self.by_option.values()):
            print_message(NOTHING_SAVED)
        if id_column is None or self.vectors is None or self.keep_list is not None:
            return
        if self.vectors.ending not in ID_ENDINGS:
            print_message(
                f"{self.vectors.path} will not contain the ids: use .parquet or .csv, or --keep-list"
            )

    def write(self, found: Deduplication, vectors: Vectors, id_column: str | None) -> None:
        """Write all results."""
        if self.keep_list is not None:
            ids = None if found.ids is None else found.keep_ids
            write_row_list(self.keep_list, found.keep, ids)
        if self.groups is not None:
            write_table(self.groups, found.table())
        if self.vectors is not None:
            _write_kept(self.vectors, vectors, found, id_column)


def _write_kept(output: Output, vectors: Vectors, found: Deduplication, id_column: str | None) -> None:
    """Write the vectors that are kept, in batches."""
    if vectors.is_sparse:
        raise ValueError("--output is for dense vectors, and these are sparse. Use --keep-list.")
    is_kept = np.zeros(len(vectors), dtype=bool)
    is_kept[found.keep] = True
    first = 0
    ids = None if id_column is None else IdColumn(id_column, found.keep_ids)
    with vector_writer(output, vectors, len(found.keep), ids) as write:
        for batch in vectors.batches():
            write(batch[is_kept[first : first + len(batch)]])
            first += len(batch)


def _result(found: Deduplication, vectors: Vectors, seconds: float, outputs: DedupOutputs) -> Result:
    missed = None
    if found.missed is not None:
        missed = {
            "n_checked": found.missed.n_checked,
            "n_pairs_checked": found.missed.n_pairs_checked,
            "n_missed_checked": found.missed.n_missed_checked,
            "estimate": found.missed.estimate,
            "interval": list(found.missed.interval),
            "is_guaranteed": found.missed.is_guaranteed,
        }
    return {
        "source": vectors.name,
        "metric": found.metric,
        "threshold": found.threshold,
        "n_rows": found.n_rows,
        "n_kept": len(found.keep),
        "n_removed": found.n_removed,
        "n_groups": found.n_groups,
        "largest_group": int(found.groups.sizes.max(initial=0)),
        "n_pairs": found.n_pairs,
        "missed": missed,
        "seconds": seconds,
        "files": outputs.files,
    }


def _listing(result: Result) -> str:
    pairs = [
        ("rows", f"{result['n_rows']:,}"),
        ("kept", f"{result['n_kept']:,}"),
        ("removed", f"{result['n_removed']:,}"),
        ("groups", f"{result['n_groups']:,}, the largest has {result['largest_group']:,} rows"),
        ("pairs", f"{result['n_pairs']:,} with {result['metric']} threshold {result['threshold']:g}"),
    ]
    if result["missed"] is not None:
        pairs.append(("missed pairs", _missed_text(result["missed"])))
    pairs.append(("seconds", f"{result['seconds']:.2f}"))
    return two_columns(
        [*pairs, *((name.replace("_", " "), path) for name, path in result["files"].items())]
    )


def _missed_text(missed: dict[str, Any]) -> str:
    if missed["is_guaranteed"] and missed["n_checked"] == 0:
        return "none, because all clusters that can contain a pair are compared"
    checked = f"{missed['n_missed_checked']:,} of {missed['n_pairs_checked']:,} pairs of "
    checked += f"{missed['n_checked']:,} checked rows"
    if missed["is_guaranteed"]:
        return f"none ({checked})"
    ends = missed["interval"]  # JSON has no infinity
    low, high = ("unknown" if end is None else f"{end:,.0f}" for end in ends)
    return f"about {missed['estimate']:,.0f}, 95 % interval {low} to {high} ({checked})"
