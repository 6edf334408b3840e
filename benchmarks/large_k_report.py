"""Sections of `docs/benchmarks.md` about many clusters, and the plot of the scaling."""

from pathlib import Path

from environment import Json
from page import context, table


def clusters_section(result: Json) -> str:
    """Return the figures of 10,000 and 100,000 clusters."""
    rows = [
        [
            f"{int(k):,}",
            f"{of['seconds']:.1f} s",
            f"{of['distortion']:,.0f}",
            f"{of['sweeps']:.0f}",
            f"{of['megabytes_above_input']:.0f} MB",
        ]
        for k, of in result["clusters"].items()
    ]
    header = ["k", "whole fit", "distortion", "sweeps", "peak memory above the input"]
    return (
        f"## 100,000 clusters\n\n{context(result)}\n{table(header, rows)}\nTen times as many clusters "
        f"take **{result['ratio']:.2f}** times as long (targets: below 2, and below 1 GB).\n"
    )


def tree_section(result: Json) -> str:
    """Return the comparison of a tree with a matrix product."""
    rows = []
    for name, of in result["contestants"].items():
        is_tree = "ratio" in of
        ratio = (
            f"**{of['ratio']:.2f}** ({of['ratio_to_product_into_new_memory']:.2f})" if is_tree else ""
        )
        rows.append(
            [name, f"{of['seconds']:.2f} s", ratio, f"{of['distortion']:,.0f}" if is_tree else ""]
        )
    header = ["", "median", "ratio to the product (to `@`)", "distortion"]
    return (
        f"## Tree\n\n`BisectingBoostKMeans` with k = {result['k']:,}, compared with one product of "
        f"1,000,000 x 128 and 128 x 2,000 in float32. {context(result)}\n"
        f"{table(header, rows)}\n"
        "Targets: a ratio of 0.65, and a distortion of at most "
        f"{1.005 * result['prototype_distortion']:,.0f}. A split makes at most 10 passes, and ends when "
        "a pass gains less than 1e-4 of the inertia. Leaves with more than 2 MB of rows are split on a "
        "sample.\n"
    )


def scikit_tree_section(result: Json) -> str:
    """Return the comparison of trees with scikit-learn's."""
    rows = [
        [name, f"{of['seconds']:.2f} s", f"{of['distortion']:,.0f}"]
        for name, of in result["contestants"].items()
    ]
    return (
        f"## Tree against scikit-learn's BisectingKMeans\n\nk = {result['k']:,}. {context(result)}\n"
        f"{table(['', 'time', 'distortion'], rows)}"
    )


def headline_section(result: Json) -> str:
    """Return the figures of the paper's largest shapes."""
    rows = [
        [
            shape,
            f"**{of['seconds'] / 60:.2f} min**",
            f"{of['minutes_in_the_paper']} min",
            f"{of['megabytes_held_after']:.0f} MB",
            f"{of['megabytes_peak_with_mapped_file']:,.0f} MB",
        ]
        for shape, of in result["shapes"].items()
    ]
    header = ["", "sampled tree", "the paper's Algorithm 2", "memory held after the fit",
              "peak, including mapped pages of the file"]  # fmt: skip
    return (
        "## The paper's largest shapes\n\nThe default of `BisectingBoostKMeans` splits large sets by a "
        "sample, so the times are not those of the same algorithm. [Scalability](paper/scalability.md) "
        f"has the times of Algorithm 2 to the letter. {context(result)}\n{table(header, rows)}"
    )


def scaling_section(result: Json) -> str:
    """Return the exponents of the time by n, k and d."""
    kinds = [kind for kind in result["axes"]["n"] if kind != "sizes"]
    rows = [
        [axis, *[f"{of[kind]['exponent']:.2f}" for kind in kinds]] for axis, of in result["axes"].items()
    ]
    return (
        "## Cost against n, k and d\n\nEach of n, k and d is varied alone. The table shows the exponent "
        f"p if the time grows like n^p, k^p or d^p. {context(result)}\n"
        f"{table(['', *kinds], rows)}\n"
        "![Cost against n, k and d](images/scaling.png)\n"
    )


def draw_scaling(result: Json, path: Path) -> None:
    """Draw one panel for each of n, k and d."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2), layout="constrained")
    for axes, (axis, of) in zip(figure.subplots(1, 3, sharey=True), result["axes"].items(), strict=True):
        for kind in of:
            if kind != "sizes":
                axes.loglog(of["sizes"], of[kind]["seconds"], marker="o", label=kind)
        axes.set(xlabel=axis, ylabel="seconds" if axis == "n" else "")
    figure.axes[0].legend(fontsize=8)
    figure.savefig(path, dpi=120)


def auto_section(result: Json) -> str:
    """Return the comparison of starts and candidates behind the defaults."""
    rows = [
        [name, way, f"{of['seconds']:.2f} s", f"{of['distortion']:.6g}"]
        for name, ways in result["sets"].items()
        for way, of in ways.items()
    ]
    return AUTO_TEXT.format(
        context=context(result), table=table(["data", "setting", "whole fit", "distortion"], rows)
    )


AUTO_TEXT = """## What "auto" stands for

Candidates: from 512 clusters on, the defaults compare each row with 128 candidate clusters; up to 2,048
clusters, sweeps over all clusters follow. In between, a sample of the rows is compared with all
clusters. If that gains more than the candidates did, all rows are compared with all clusters.

Start: with repair, which is the default, "auto" is a tree for more than 16 clusters. `init="auto"` and
"bisecting" are therefore the same fit below. {context}
{table}"""


def low_precision_section(result: Json) -> str:
    """Return the comparison of byte products with float32."""
    rows = [
        [
            f"{int(k):,}",
            f"{1e3 * of['float32_seconds']:.0f} ms",
            f"{1e3 * of['bytes_seconds']:.0f} ms",
            f"**{of['float32_seconds'] / of['bytes_seconds']:.2f} x**",
            f"{100 * of['gain_to_float32']:.1f} %",
        ]
        for k, of in result["clusters"].items()
    ]
    header = ["k", "float32", "bytes", "speed-up", "gain relative to float32"]
    return (
        "## Low precision\n\nOne sweep over all clusters that proposes moves by float32 products, or by "
        f"products of bytes (AVX512-VNNI). In both cases, the moves are decided in float64. "
        f"{context(result)}\n"
        f"{table(header, rows)}\n"
        "uint8 rows therefore use byte products from 256 clusters on, as long as at least a twentieth "
        "of the rows moves per sweep. Byte products do not speed up sweeps over candidates, where "
        "fetching the rows takes most of the time: a sweep with 128 candidates took as long with "
        "products of bytes or 16-bit integers as with float32. On this processor, a bfloat16 product "
        "takes four times as long as a float32 product of half its length.\n"
    )


def assignment_section(result: Json) -> str:
    """Return the comparison of exact and approximate prediction."""
    rows = [
        [f"`{way}`" if "=" in way else way, f"{of['seconds']:.2f} s", f"{100 * of['agreement']:.1f} %",
         f"{of['distortion']:,.0f}"]
        for way, of in result["ways"].items()
    ]  # fmt: skip
    header = ["`predict`", "time for 100,000 rows", "agreement with exact", "distortion"]
    return f"## Assignment of new rows\n\nk = {result['k']:,}. {context(result)}\n{table(header, rows)}"


SECTIONS = {
    "hundred_thousand_clusters": clusters_section,
    "tree_against_product": tree_section,
    "tree_against_scikit_learn": scikit_tree_section,
    "headline_shapes": headline_section,
    "scaling": scaling_section,
    "where_candidates_pay": auto_section,
    "low_precision": low_precision_section,
    "assignment": assignment_section,
}
