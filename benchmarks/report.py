"""The page `docs/benchmarks.md` and its plot, written from the files in `results/`."""

import assignment_report
import cluster_names_report
import curation_report
import distributed_report
import explorer_report
import few_clusters_report
import files_report
import history_report
import hostile_report
import image_report
import kernels_report
import large_k_report
import optima_report
import projected_report
import quantization_report
import text_report
import updates_report
from environment import Json
from page import DOCS, IMAGES, context, table
from result_files import RESULTS, read_result

# Results of several benchmarks in one file, which has one section.
SHARED = {updates_report.RESULT}
# Results that programs other than `run.py` measure.
SEPARATE = {history_report.RESULT, distributed_report.CONFORMANCE}
# Results that are shown on another page.
OTHER_PAGES = {"peers", hostile_report.NAME}
# Results that are shown in the section of another one.
INCLUDED = {curation_report.SEMHASH, curation_report.NEIGHBOURS}


def write_report() -> None:
    """Write the page and its plot."""
    results = read_results()
    if "scaling" in results:
        IMAGES.mkdir(parents=True, exist_ok=True)
        large_k_report.draw_scaling(results["scaling"], IMAGES / "scaling.png")
    if history_report.RESULT in results:
        IMAGES.mkdir(parents=True, exist_ok=True)
        history_report.draw_history(results[history_report.RESULT], IMAGES / history_report.PLOT)
    (DOCS / "benchmarks.md").write_text(page_text(results))


def read_results() -> dict[str, Json]:
    """Return the content of all result files, by name."""
    return {path.stem: read_result(path) for path in sorted(RESULTS.glob("*.json"))}


def page_text(results: dict[str, Json]) -> str:
    """Return the page as Markdown; benchmarks without a result file have no section."""
    sections = {
        **SECTIONS,
        **large_k_report.SECTIONS,
        **assignment_report.SECTIONS,
        **projected_report.SECTIONS,
        **optima_report.SECTIONS,
        **few_clusters_report.SECTIONS,
        **updates_report.SECTIONS,
        **text_report.SECTIONS,
        **cluster_names_report.SECTIONS,
        **files_report.SECTIONS,
        **distributed_report.SECTIONS,
        **quantization_report.SECTIONS,
        **explorer_report.SECTIONS,
        **image_report.SECTIONS,
        **kernels_report.SECTIONS,
        **curation_report.SECTIONS,
        **history_report.SECTIONS,
    }
    texts = [section(results[name]) for name, section in sections.items() if name in results]
    return "\n".join([HEAD, *filter(None, texts)])


HEAD = """# Benchmarks

This page shows the cost of single parts (a sweep, a start, a tree, a search) and the measurements
behind the defaults. [Comparison with other libraries](peers.md) has a page of its own.

The page is written by `benchmarks/report.py` from the files in `benchmarks/results/`, which
`make bench-parts` measures. All alternatives of a section ran in one session, interleaved, with 2
threads; times are medians unless stated otherwise. Each section names the versions that it was measured
with. Machines differ, so ratios are more meaningful than seconds. PhotoSIFT is a set of SIFT
descriptors that is not part of the repository.
"""


def product_section(result: Json) -> str:
    """Return the comparison of a sweep with a matrix product."""
    rows = [[name, f"{1e3 * seconds:.0f} ms"] for name, seconds in result["seconds"].items()]
    return (
        f"## A sweep against one matrix product\n\nn = 100,000, d = 128, k = 1,024. {context(result)}\n"
        f"{table(['', 'median'], rows)}\n"
        f"A sweep takes **{result['ratio']:.2f}** of the time of a product into existing memory "
        f"(target: {result['target']}). `@` allocates 400 MB for each product, which takes longer and "
        "varies.\n"
    )


def seeding_section(result: Json) -> str:
    """Return the comparison of k-means++ with scikit-learn's."""
    rows = [
        [name, ", ".join(f"{t:.1f} s" for t in times), f"{result['inertia_of_the_seeds'][name]:.5g}"]
        for name, times in result["seconds"].items()
    ]
    return (
        f"## Greedy k-means++, k = {result['k']:,}\n\n{context(result)}\n"
        f"{table(['', 'runs', 'inertia of the seeds'], rows)}\n"
        f"boostkmeans is **{result['speed_up']:.1f}** times as fast (target: {result['target']}). It "
        "tries 15 candidates per centre, and scikit-learn tries 10.\n"
    )


def starts_section(result: Json) -> str:
    """Return the comparison of starts and of block sizes."""
    text = f"## Starts\n\nWhole fits from each value of `init`. {context(result)}"
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
    sizes = ", ".join(f"{value:,.1f} for {size}" for size, value in result["blocks"].items())
    return (
        f"{text}\n"
        "A sweep proposes moves for a block of rows at a time. On the SIFT data, the distortion after "
        f"15 sweeps hardly depends on the number of rows per block: {sizes}.\n"
    )


def memory_section(result: Json) -> str:
    """Return the peak memory by start."""
    rows = [[f'`init="{init}"`', f"{mb:.0f} MB"] for init, mb in result["megabytes_above_input"].items()]
    return (
        f"## Peak memory above the input\n\nk = {result['k']:,}. {context(result)}\n"
        f"{table(['', 'above the 512 MB of input'], rows)}\nTarget: {result['target']} MB.\n"
    )


def interrupt_section(result: Json) -> str:
    """Return the delays from Ctrl-C to KeyboardInterrupt."""
    ms = result["milliseconds"]
    return (
        f"## Response to Ctrl-C\n\nk = {result['k']:,}, {result['tries']} interrupts at random moments. "
        f"{context(result)}\n"
        f"The median delay is {ms['median']:.0f} ms, p99 is **{ms['p99']:.0f} ms**, and the longest "
        f"delay is {ms['max']:.0f} ms (target: {result['target']} ms).\n"
    )


SECTIONS = {
    "sweep_against_product": product_section,
    "starts": starts_section,
    "seeding_against_scikit_learn": seeding_section,
    "peak_memory": memory_section,
    "answer_to_ctrl_c": interrupt_section,
}
