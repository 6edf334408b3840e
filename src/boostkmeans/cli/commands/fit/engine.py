"""Fits on Dask or Ray: options, and the connection to a cluster."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

from boostkmeans.cli.files.input import is_stream
from boostkmeans.cli.options import InputOptions, value_of


class Engine(StrEnum):
    """Engine of a distributed fit."""

    DASK = "dask"
    RAY = "ray"


@dataclass(frozen=True)
class EngineOptions:
    """Options for fits on many machines."""

    engine: Annotated[
        Engine | None,
        typer.Option(
            help="Process the files as shards on a cluster. All workers must be able to read the files."
        ),
    ] = None
    address: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Address of the cluster (default: start one on this machine).",
        ),
    ] = None

    @contextmanager
    def connected(self) -> Iterator[Any]:
        """Connect to the cluster. Yield the engine for the estimator, or None for this process."""
        if self.engine is None:
            if self.address is not None:
                raise ValueError("--address needs --engine dask or --engine ray.")
            yield None
            return
        from boostkmeans.distributed import connect

        with connect(self.engine.value, self.address) as engine:
            yield engine


def open_engine_input(paths: Sequence[str], options: InputOptions) -> Any:
    """Open files as shards. Raise an error if they cannot be read by workers."""
    if any(is_stream(path) for path in paths):
        raise ValueError("--engine needs files: workers cannot read from a pipe.")
    if options.max_memory is not None or options.header is not None or options.drop:
        raise ValueError(
            "--max-memory, --header and --drop have no effect with --engine. Leave them out; --key "
            "selects columns."
        )
    from boostkmeans.distributed import open_shards

    return open_shards(
        list(paths), column=options.key or None, format=value_of(options.input_format),
        id_column=options.id_column,
    )  # fmt: skip
