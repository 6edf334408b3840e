"""Options that several of these commands have."""

from typing import Annotated

import typer

QuantizerPath = Annotated[
    str, typer.Argument(metavar="QUANTIZER", help="A quantizer, as boostkmeans pq train writes it.")
]
QueriesPath = Annotated[
    str, typer.Argument(metavar="QUERIES", help="Vectors to look for, in any format; - is stdin.")
]
Symmetric = Annotated[
    bool,
    typer.Option(
        "--symmetric", help="Encode the queries too: distances between codes, which are less exact."
    ),
]
