"""The sections of `docs/benchmarks.md` about several clusters per row, and about silhouettes."""

from environment import Json
from page import context, table


def nearest_section(result: Json) -> str:
    """Return the comparison of `predict_many` with faiss."""
    rows = [
        [way, f"{of['seconds']:.2f} s", f"{100 * of['recall']:.2f} %", f"{100 * of['same_order']:.1f} %"]
        for way, of in result["ways"].items()
    ]
    header = ["", f"time for {result['n_queries']:,} rows", "recall", "all in the right order"]
    return (
        f"## The m nearest clusters\n\nk = {result['k']:,}, m = {result['m']}. {context(result)}\n"
        f"{table(header, rows)}\n"
        "Recall is the share of the true nearest centres that were found, for "
        f"{result['n_checked']} rows whose float64 distances to all centres were computed.\n"
    )


def silhouette_section(result: Json) -> str:
    """Return the comparison of silhouettes with scikit-learn's."""
    rows = [[way, f"{of['seconds']:.2f} s", f"{of['mean']:.6f}"] for way, of in result["ways"].items()]
    return (
        f"## Silhouettes\n\nk = {result['k']}. {context(result)}\n{table(['', 'time', 'mean'], rows)}\n"
        f"The exact silhouettes differ by at most {result['largest_difference']:.1e}. The correlation "
        f"of the simplified silhouettes of single rows with the exact ones is "
        f"{result['correlation']:.3f}.\n"
    )


SECTIONS = {"many_nearest_clusters": nearest_section, "exact_silhouette": silhouette_section}
