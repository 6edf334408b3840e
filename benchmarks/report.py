"""docs/benchmarks.md and its picture, drawn from the result files. Nothing here is typed by hand."""

import json

import files_report
import large_k_report
import optima_report
import quantization_report
import text_report
from measure import RESULTS, Json
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
    if "sift_against_faiss" in found:
        draw_curve(found["sift_against_faiss"])


HEAD = """# Benchmarks

Drawn by `benchmarks/report.py` from the files in `benchmarks/results/`, which `make bench` measures:
all contestants in one run, interleaved, 2 threads, medians. Times of ours to a peer's inertia are read
from `history_`, counted from the call of `fit`, start included. Machines differ: ratios are what to
look at.
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


def against_section(title: str, result: Json) -> str:
    """Ours against one peer."""
    peer = result["peer"]
    rows = [[peer["name"], f"{peer['seconds']:.2f} s", "1", f"{peer['seconds']:.2f} s", "0 %"]]
    for name, own in result["ours"].items():
        rows.append(
            [
                name,
                f"{own['seconds_to_its_inertia']:.2f} s",
                f"**{own['ratio']:.3f}**",
                f"{own['seconds']:.2f} s",
                f"{100 * own['inertia_to_its']:+.2f} %",
            ]
        )
    header = ["", "time to its inertia", "ratio", "time in all", "final inertia"]
    text = f"## {title}\n\nk = {result['k']}. {where(result)}\n{table(header, rows)}"
    for name, count in result.get("planted_found", {}).items():
        n_seeds = result["of_seeds"][name]
        text += f"\nThe planted partition is found by {name} for {count} of {n_seeds} seeds."
    return text + "\n"


def rows_section(result: Json) -> str:
    """Many rows, little arithmetic."""
    rows = []
    for kind, figures in result["sets"].items():
        rows.append(
            [
                kind,
                f"{min(r['seconds'] for r in figures['scikit_learn']):.2f} s",
                f"{min(r['seconds_to_its_inertia'] for r in figures['ours']):.2f} s",
                f"**{figures['median_ratio']:.3f}**",
                f"{figures['median_ratio_of_defaults']:.3f}",
                ", ".join(f"{100 * r['defaults_inertia_to_its']:+.2f} %" for r in figures["ours"]),
            ]
        )
    header = [
        "data", "scikit-learn, fastest", "ours to its inertia, fastest", "ratio (median of 3 seeds)",
        "ratio of whole fits", "final inertia of the defaults",
    ]  # fmt: skip
    return (
        "## Many rows, little arithmetic\n\n"
        f"n = 1,000,000, d = 16, k = 16, float32. {where(result)}\n{table(header, rows)}\n"
        "Ours to its inertia is with `tol=0`, the whole fits are with the defaults. Where there are no "
        "clusters and 60,000 rows in each, a single move is Lloyd's rule row by row: there is little to "
        "gain, and the default `tol` stops before the last tenth of a percent.\n"
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


def draw_curve(result: Json) -> None:
    """Distortion against time."""
    from matplotlib.figure import Figure

    n = 100_000
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for name, own in result["ours"].items():
        axes.plot(*zip(*[(s, i / n) for s, i in own["curve"]], strict=True), marker=".", label=name)
    peer = result["peer"]
    axes.plot(peer["seconds"], peer["inertia"] / n, "k*", markersize=12, label=peer["name"])
    axes.axhline(peer["inertia"] / n, color="k", linewidth=0.5)
    axes.set(
        xscale="log", xlabel="seconds", ylabel="average distortion", title=result["data"] + ", k = 1,024"
    )
    axes.set_ylim(bottom=0.98 * peer["inertia"] / n, top=1.03 * peer["inertia"] / n)
    axes.legend()
    (DOCS / "images").mkdir(parents=True, exist_ok=True)
    figure.savefig(DOCS / "images" / "sift_against_faiss.png", dpi=120)


SECTIONS = {
    "sweep_against_product": product_section,
    "sift_against_faiss": lambda r: against_section("SIFT against faiss", r),
    "mnist_against_scikit_learn": lambda r: against_section("MNIST against scikit-learn", r),
    "blobs_against_scikit_learn": lambda r: against_section("Planted blobs against scikit-learn", r),
    "many_rows_against_scikit_learn": rows_section,
    "starts": starts_section,
    "seeding_against_scikit_learn": seeding_section,
    "peak_memory": memory_section,
    "answer_to_ctrl_c": interrupt_section,
}
