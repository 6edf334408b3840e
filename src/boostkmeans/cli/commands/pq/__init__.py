"""`boostkmeans pq`: product quantizers. One file a command; what they share is in `_files.py`,
`_search.py` and `_listing.py`.
"""

import typer

from boostkmeans.cli.lazy_group import SETTINGS, Commands, lazy_group

COMMANDS: Commands = {
    "train": ("commands.pq.train", "train", "Learn a quantizer from vectors, and write it."),
    "encode": ("commands.pq.encode", "encode", "Write the codes of vectors."),
    "search": ("commands.pq.search", "search", "Find the codes that are nearest to queries."),
    "evaluate": ("commands.pq.evaluate", "evaluate", "Measure recall and distortion."),
}

app = typer.Typer(
    name="pq", cls=lazy_group(COMMANDS), no_args_is_help=True, add_completion=False, **SETTINGS
)


@app.callback()
def pq() -> None:
    """\b
    Examples:
      boostkmeans pq train vectors.fvecs quantizer.st
      boostkmeans pq encode quantizer.st vectors.fvecs codes.npy
      boostkmeans pq search quantizer.st codes.npy queries.fvecs -k 10
      boostkmeans pq evaluate quantizer.st vectors.fvecs queries.fvecs

    Product quantization: codes of a few bytes for vectors, and search among them.

    A code has the number of a centroid for each of some subspaces. Vectors that are too many for the
    memory are searched by their codes, of which only the quantizer knows what they stand for.
    """
