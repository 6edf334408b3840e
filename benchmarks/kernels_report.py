"""The section of `docs/benchmarks.md` about the instructions of the kernels."""

from environment import Json
from page import table

TEXT = """## Instructions of the kernels

Instructions per multiply-add in the inner loop of the scores, counted in the machine code. `baseline` is
compiled for every processor of its kind, and `dotprod` multiplies bytes. A register block is the number
of rows and of vectors of four clusters whose sums are kept in registers. There was no arm64 processor to
measure times on.
{table}
"""


def kernels_section(result: Json) -> str:
    """Return the table of the loops."""
    rows = [
        [
            one["system"],
            f"`{one['kernel']}`",
            one["compiler"],
            f"{one['rows']} x {one['vectors']}",
            f"{one['instructions']:,}",
            f"{one['multiply_adds']:,}",
            f"{one['ratio']:.3f}",
        ]
        for one in result["loops"]
    ]
    header = ["processor", "kernel", "compiler", "block", "instructions", "multiply-adds", "ratio"]
    return TEXT.format(table=table(header, rows))


SECTIONS = {"kernel_instructions": kernels_section}
