"""The sections of docs/benchmarks.md about vectors in files."""

from environment import Json
from page import table, where


def reading_section(result: Json) -> str:
    """By format."""
    memory, *files = result["rows"]
    rows = [["memory", f"{memory['seconds']:.2f} s", "", f"{memory['inertia']:.6g}"]]
    for row in files:
        over = 100 * (row["seconds"] / memory["seconds"] - 1)
        rows.append(
            [f".{row['name']}", f"{row['seconds']:.2f} s", f"{over:+.1f} %", f"{row['inertia']:.6g}"]
        )
    return (
        f"## Reading and fitting\n\n{where(result)}\nk = {result['k']:,}. Files are warm; each run is a "
        "process of its own; medians of three, interleaved. The time of a file counts from opening it "
        "(target: at most 10 % over memory).\n\n"
        f"{table(['from', 'time', 'over memory', 'inertia'], rows)}"
    )


def beyond_section(result: Json) -> str:
    """More than memory."""
    memory, file = result["rows"]
    rows = [
        [row["name"], f"{row['seconds']:.1f} s", f"{row['megabytes']:.0f} MB", f"{row['inertia']:.6g}"]
        for row in (memory, file)
    ]
    return (
        f"## More than memory\n\n{where(result)}\nA file of {result['file_megabytes']:.0f} MB, "
        f"`max_memory` {result['limit_megabytes']:.0f} MB, k = {result['k']:,}; medians of two. The "
        "process has a limit on its address space, too. Against the same rows in memory it takes "
        f"**{file['seconds'] / memory['seconds']:.2f} x** the time (target: at most 3 x): its sample "
        "is annealed and repaired in less time than all rows.\n\n"
        f"{table(['from', 'time', 'peak of the process', 'inertia'], rows)}"
    )


SECTIONS = {"reading_and_fitting": reading_section, "beyond_memory": beyond_section}
