"""`boostkmeans pq`: product quantization. One module per command."""

import typer

from boostkmeans.cli.lazy_group import SETTINGS, Commands, lazy_group

COMMANDS: Commands = {
    "train": ("commands.pq.train", "train", "Train a quantizer on vectors, and write it."),
    "encode": ("commands.pq.encode", "encode", "Write the codes of vectors."),
    "search": ("commands.pq.search", "search", "Find the codes nearest to each query."),
    "evaluate": ("commands.pq.evaluate", "evaluate", "Measure the recall and the distortion."),
}

app = typer.Typer(
    name="pq", cls=lazy_group(COMMANDS), no_args_is_help=True, add_completion=False, **SETTINGS
)


@app.callback()
def pq() -> None:
    """\b
    Examples:
      boostkmeans pq train vectors.fvecs -o quantizer.st
      boostkmeans pq encode quantizer.st vectors.fvecs -o codes.npy
      boostkmeans pq search quantizer.st codes.npy queries.fvecs -k 10
      boostkmeans pq evaluate quantizer.st vectors.fvecs queries.fvecs

    Encode vectors in a few bytes each by product quantization, and search the codes.

    The features are divided into subspaces. A code consists of the number of the nearest centroid in
    each subspace. Codes are much smaller than vectors, so more of them fit into memory.
    """
