"""All methods of the paper's experiments on vectors, by name."""

from contenders import STARTS, Contender, boosted, lloyd, online, paper_variant, scikit_learn

# isort: split
from batch_contenders import mini_batch, mini_batch_as_long_as
from tree_contenders import TREES, bisected, refined

K_WAY: dict[str, Contender] = {
    "k-means": lloyd("random"),
    "k-means++": lloyd("k-means++"),
    "k-means (scikit-learn)": scikit_learn("random"),
    "k-means++ (scikit-learn)": scikit_learn("k-means++"),
    "Mini-Batch": mini_batch(),
    "Mini-Batch, 10 % in total": mini_batch("total"),
    "Mini-Batch, as long as BKM(non)": mini_batch_as_long_as(paper_variant("non")),
    "LVQ": online,
    **{f"BKM({start})": paper_variant(start) for start in STARTS},
    **{f"BKM({start})+Fast": paper_variant(start, "first") for start in STARTS},
    "boostkmeans, fast": boosted(quality="fast"),
    "boostkmeans": boosted(),
    "boostkmeans, best": boosted(quality="best"),
}
CONTENDERS: dict[str, Contender] = {
    **K_WAY,
    **{name: bisected(make) for name, make in TREES.items()},
    **{f"{name}, refined": refined(make) for name, make in TREES.items()},
}


def may_use_bounds(method: str) -> bool:
    """Return whether a method compares all rows with all clusters, so that bounds can save time."""
    return (
        method in ("k-means", "k-means++") or method.startswith("BKM(") or method.endswith(", refined")
    )
