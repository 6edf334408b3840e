"""The sections of `docs/benchmarks.md` about curation."""

from typing import Any

from environment import Json
from page import context, table
from result_files import RESULTS, read_result

SEMHASH = "near_duplicates_semhash"
NEIGHBOURS = "near_duplicates_in_neighbouring_clusters"
"""Names of results that are parts of a section."""

DUPLICATES = """## Near duplicates

Pairs of rows with a cosine of at least the threshold. faiss compares all rows
(`IndexFlatIP.range_search`), and its pairs are the reference, with pairs near the threshold decided
in float64. semhash uses an approximate index of nearest neighbours; its time includes the index.
The time of boostkmeans is that of a search without a check (`n_checked=0`, or `--check 0`), which is
the default: no pair can be missed. {context}
{table}
"""

MILLION = """## Near duplicates of a million rows

The same for synthetic rows. Recall is measured with {n_checked:,} rows, which are compared with all
rows. The search of `IndexFlatIP` would take {faiss_seconds:,.0f} s, extrapolated from {n_queries:,}
queries. {context}
{table}
"All" compares all clusters that can contain a pair. A number of clusters is `n_neighbours`. The times
end before the {n_checked:,} rows are compared with all rows (`n_checked=0`, or `--check 0`). By
default, `deduplicate` compares 1,000 rows if `n_neighbours` is given, which takes additional time. The
first search needed {megabytes:,.0f} MB of memory besides the rows.
"""

SAMPLES = """## Balanced samples

Classes of samples of WordNet's glosses, which have {n_classes} classes of very unequal sizes. The
largest holds {largest:.1%} of all rows, and the entropy of all rows is {entropy:.2f} bits. The
clusters know nothing about the classes. There are {n_clusters:,} clusters, below levels of {levels}
clusters. Means of {n_seeds} seeds. {context}
{table}
{resampling}"""

RESAMPLING = """With resampling ({method}), a sample is less balanced than a
uniform one: {ours:.3f} instead of {uniform:.3f} bits in a sample of {share:.0%}. Resampling moves
centres from dense to sparse regions of the space, so that a sample covers the space more evenly.
Classes need not be as even: the largest class of this sample has {our_largest:.1%} of its rows, against
{largest:.1%} of all rows. The other methods differ little from a uniform sample.
"""


def duplicates_section(result: Json) -> str:
    """Return times and recall of three libraries."""
    others = _semhash_results()
    rows = []
    for one in result["results"]:
        threshold, n_true = one["threshold"], one["n_pairs"]
        by_faiss = {"seconds": result["faiss_seconds"], "n_found": n_true}
        rows.append(_row(threshold, "boostkmeans", one, n_true))
        rows.append(_row(threshold, "faiss, all rows", by_faiss, n_true))
        rows += [
            _row(threshold, f"semhash {others['semhash']}", other, n_true)
            for other in others.get("results", [])
            if other["threshold"] == threshold
        ]
    return DUPLICATES.format(
        context=context(result),
        table=table(["threshold", "", "time", "pairs found", "recall"], rows),
    )


def _semhash_results() -> Json:
    """Return the results of semhash, which were measured in a session of their own."""
    path = RESULTS / f"{SEMHASH}.json"
    return read_result(path) if path.exists() else {}


def _row(threshold: float, name: str, one: Json, n_true: int) -> list[Any]:
    recall = one["n_found"] / n_true
    return [threshold, name, f"{one['seconds']:.1f} s", f"{one['n_found']:,}", f"{recall:.4f}"]


def million_section(result: Json) -> str:
    """Return times, memory and recall by threshold and number of neighbouring clusters."""
    rows = [
        [
            one["threshold"],
            "all" if one["n_neighbours"] is None else str(one["n_neighbours"]),
            f"{one['seconds']:.1f} s",
            f"{one['n_found']:,}",
            f"{one['recall']:.4f}",
            f"{one['n_pairs_checked']:,}",
        ]
        for one in [*result["results"], *_approximate_results()]
    ]
    header = ["threshold", "clusters", "time", "pairs found", "recall", "checked pairs"]
    return MILLION.format(
        n_checked=result["n_checked"],
        n_queries=result["n_queries"],
        faiss_seconds=result["faiss_seconds"],
        megabytes=result["results"][0]["megabytes"],
        context=context(result),
        table=table(header, rows),
    )


def _approximate_results() -> list[Json]:
    path = RESULTS / f"{NEIGHBOURS}.json"
    return list(read_result(path)["results"]) if path.exists() else []


def samples_section(result: Json) -> str:
    """Return the classes of samples."""
    rows = [
        [
            f"{one['share']:.0%} ({one['n']:,} rows)",
            one["method"],
            f"{one['n_classes']:.1f}",
            f"{one['entropy']:.3f}",
            f"{one['largest_share']:.1%}",
        ]
        for one in result["results"]
    ]
    return SAMPLES.format(
        resampling=_resampling_text(result),
        n_classes=result["n_classes"],
        largest=result["all_rows"]["largest_share"],
        entropy=result["all_rows"]["entropy"],
        n_clusters=result["n_clusters"],
        levels=" and ".join(map(str, result["levels"])),
        n_seeds=result["n_seeds"],
        context=context(result),
        table=table(["sample", "method", "classes", "entropy (bits)", "largest class"], rows),
    )


def _resampling_text(result: Json) -> str:
    """Return an explanation if resampling, the last method, is worse than a uniform sample."""
    first = [one for one in result["results"] if one["share"] == result["results"][0]["share"]]
    uniform = next(one for one in first if one["method"] == "uniform")
    ours = first[-1]
    if ours["entropy"] >= uniform["entropy"]:
        return ""
    return RESAMPLING.format(
        method=ours["method"],
        ours=ours["entropy"],
        uniform=uniform["entropy"],
        share=ours["share"],
        largest=result["all_rows"]["largest_share"],
        our_largest=ours["largest_share"],
    )


SECTIONS = {
    "near_duplicates": duplicates_section,
    "near_duplicates_of_a_million": million_section,
    "balanced_samples": samples_section,
}
