"""Sections of `docs/benchmarks.md` about vectors in files."""

from environment import Json
from page import context, table


def reading_section(result: Json) -> str:
    """Return the times of fits from files of several formats."""
    memory, *files = result["rows"]
    rows = [["memory", f"{memory['seconds']:.2f} s", "", f"{memory['inertia']:.6g}"]]
    for row in files:
        over = 100 * (row["seconds"] / memory["seconds"] - 1)
        rows.append(
            [f".{row['name']}", f"{row['seconds']:.2f} s", f"{over:+.1f} %", f"{row['inertia']:.6g}"]
        )
    return (
        f"## Reading and fitting\n\nk = {result['k']:,}. {context(result)}\nThe files are in the page "
        "cache. Each run has its own process; times are medians of three interleaved runs. The time of "
        "a file includes opening and reading it (target: at most 10 % over memory).\n\n"
        f"{table(['rows from', 'time', 'over memory', 'inertia'], rows)}"
    )


def beyond_section(result: Json) -> str:
    """Return the figures of a file that is larger than the memory limit."""
    memory, file = result["rows"]
    rows = [
        [row["name"], f"{row['seconds']:.1f} s", f"{row['megabytes']:.0f} MB", f"{row['inertia']:.6g}"]
        for row in (memory, file)
    ]
    ratio = file["seconds"] / memory["seconds"]
    return (
        f"## Larger than memory\n\n{context(result)}\nThe file has {result['file_megabytes']:.0f} MB, "
        f"`max_memory` is {result['limit_megabytes']:.0f} MB, k = {result['k']:,}; medians of two runs. "
        f"The address space of the process is limited as well. The fit of the file takes **{ratio:.2f} "
        "x** the time of the fit from memory (target: at most 3 x). It anneals and repairs on a sample, "
        "which takes less time than on all rows.\n\n"
        f"{table(['rows from', 'time', 'peak memory of the process', 'inertia'], rows)}"
    )


SECTIONS = {"reading_and_fitting": reading_section, "beyond_memory": beyond_section}
