"""docs/benchmarks.md and its picture, drawn from the result files. Nothing here is typed by hand."""

import json

import files_report
import large_k_report
import optima_report
import quantization_report
import text_report
from environment import Json
from measure import RESULTS
from page import DOCS, table, where


def write_report() -> None:
    """Only what was measured: a missing result file is a missing section."""
    found = {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}
    every = {
        **SECTIONS,
        **large_k_report.SECTIONS,
        **optima_report.SECTIONS,
        **text_report.SECTIONS,
        **files_report.SECTIONS,
        **quantization_report.SECTIONS,
    }
    sections = [section(found[name]) for name, section in every.items() if name in found]
    (DOCS / "benchmarks.md").write_text("\n".join([HEAD, *sections]))


HEAD = """# Benchmarks

How ours compares with other libraries is in [peers.md](peers.md). This page has the parts: what a sweep,
a start, a tree or a search costs, and why defaults are what they are. Drawn by `benchmarks/report.py`
from the files in `benchmarks/results/`, which `make bench-parts` measures: all contestants in one run,
interleaved, 2 threads, medians. Machines differ: ratios are what to look at. Each section names the
version that it was measured with.
"""


def product_section(result: Json) -> str:
    """Sweep against matrix product."""
    rows = [[name, f"{1e3 * seconds:.0f} ms"] for name, seconds in result["seconds"].items()]
    return (
        "## A sweep against one matrix product\n\n"
        f"n = 100,000, d = 128, k = 1,024. {where(result)}\n{table(['', 'median'], rows)}\n"
        f"A sweep takes **{result['ratio']:.2f}** of the time of a product into memory that is already "
        f"there (target: {result['target']}); `@`, which asks the system for 400 MB each time, takes "
        "longer and depends on its mood.\n"
    )


def seeding_section(result: Json) -> str:
    """k-means++."""
    rows = [
        [name, ", ".join(f"{t:.1f} s" for t in times), f"{result['inertia_of_the_seeds'][name]:.5g}"]
        for name, times in result["seconds"].items()
    ]
    return (
        f"## Greedy k-means++, k = {result['k']:,}\n\n{where(result)}\n"
        f"{table(['', 'runs', 'inertia of the seeds'], rows)}\n"
        f"Ours is **{result['speed_up']:.1f}** times as fast, with 15 candidates for each centre where "
        f"scikit-learn takes 10 (target: {result['target']}).\n"
    )


def starts_section(result: Json) -> str:
    """Starts and blocks."""
    text = f"## Starts\n\n{where(result)}"
    for name, inits in result["sets"].items():
        rows = [
            [
                f"`{init}`",
                f"{r['seconds']:.2f} s",
                f"{r['inertia']:.5g}",
                f"{r['lowest']:.5g}, {r['highest']:.5g}",
            ]
            for init, r in inits.items()
        ]
        header = ["`init`", "whole fit", "inertia, mean of 3 seeds", "lowest, highest"]
        text += f"\n{name}:\n\n{table(header, rows)}"
    sizes = ", ".join(f"{size}: {value:,.1f}" for size, value in result["blocks"].items())
    return text + f"\nDistortion after 15 sweeps (SIFT) by the rows that propose together: {sizes}.\n"


def memory_section(result: Json) -> str:
    """Peak memory."""
    rows = [[f'`init="{init}"`', f"{mb:.0f} MB"] for init, mb in result["megabytes_above_input"].items()]
    return (
        f"## Peak memory above the input\n\nk = {result['k']:,}. {where(result)}\n"
        f"{table(['', 'above the 512 MB of input'], rows)}\nTarget: {result['target']} MB.\n"
    )


def interrupt_section(result: Json) -> str:
    """Ctrl-C."""
    ms = result["milliseconds"]
    return (
        f"## Answer to Ctrl-C\n\nk = {result['k']:,}, {result['tries']} tries at random moments. "
        f"{where(result)}\nMedian {ms['median']:.0f} ms, p99 **{ms['p99']:.0f} ms**, "
        f"longest {ms['max']:.0f} ms (target: {result['target']} ms).\n"
    )


SECTIONS = {
    "sweep_against_product": product_section,
    "starts": starts_section,
    "seeding_against_scikit_learn": seeding_section,
    "peak_memory": memory_section,
    "answer_to_ctrl_c": interrupt_section,
}
