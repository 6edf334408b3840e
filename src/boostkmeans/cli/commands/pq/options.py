"""Arguments and options that several pq commands share."""

from typing import Annotated

import typer

QuantizerPath = Annotated[
    str,
    typer.Argument(metavar="QUANTIZER", help="Quantizer file, written by boostkmeans pq train."),
]
QueriesPath = Annotated[
    str,
    typer.Argument(
        metavar="QUERIES", help="File of vectors to search for, in any format; - is standard input."
    ),
]
Symmetric = Annotated[
    bool,
    typer.Option(
        "--symmetric", help="Encode the queries, too, and compare codes with codes: less accurate."
    ),
]
