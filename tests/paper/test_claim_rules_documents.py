"""Rules of the paper's claims about documents, on both sides of each threshold."""

import numpy as np
import pytest
from miniature_results import Json, stored

import claims
import table3_entropy
from claim import AGREES, DIFFERS, IN_PART, UNKNOWN

JUDGES = {judge.name: judge for judge in claims.CLAIMS}
KS = (5, 10, 15, 20)


def verdict_of(name: str, result: Json) -> str:
    """Return the verdict of a claim."""
    return JUDGES[name]([result]).finding.verdict


def entropies(
    lower: dict[str, list[float]],
    sets: int = 8,
    size: str = "small",
    worst: float = 2.0,
    against: int = 0,
) -> Json:
    """Return two entropies for all methods and k: 1 and 2, or others for some methods.

    `lower` has the lower entropies of some methods, and `worst` is their higher one. These methods are
    high on the last sets, `against` in number, and lower on the others by the same amount.
    """
    runs = []
    for number in range(sets):
        for method in table3_entropy.PAPER:
            values = np.array(lower.get(method, [1.0] * len(KS)))
            if method in lower and against:
                values = values + 0.5 * (1 if number >= sets - against else -against / (sets - against))
            high = worst if method in lower else 2.0
            figures = {str(k): {"entropy": [value, high], "inertia": [1.0, 1.0]}
                       for k, value in zip(KS, values, strict=True)}  # fmt: skip
            runs.append({"run": {"set": f"set{number}", "method": method, "ks": list(KS)},
                         "data": "some", "documents": 9, "terms": 9, "classes": 2,
                         "figures": figures})  # fmt: skip
    return stored(runs, size)


@pytest.mark.parametrize(
    ("fast", "expected"),
    [
        ([0.9, 0.9, 0.9, 0.9], AGREES),
        ([1.1, 0.9, 0.9, 0.9], IN_PART),
        ([1.1, 1.1, 0.9, 0.9], DIFFERS),
    ],
)
def test_best_direct_for_documents_includes_five_clusters(fast: list[float], expected: str) -> None:
    assert verdict_of("best_direct_for_documents", entropies({"BKM(rnd)+Fast": fast})) == expected


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ([1.1, 0.9, 0.9, 0.9], AGREES),
        ([0.9, 1.1, 0.9, 0.9], IN_PART),
        ([0.9, 1.1, 1.1, 0.9], DIFFERS),
    ],
)
def test_best_for_documents_from_ten_clusters(tree: list[float], expected: str) -> None:
    assert verdict_of("best_for_documents", entropies({"BsBKM(non)": tree})) == expected


@pytest.mark.parametrize("name", ["best_for_documents", "best_direct_for_documents"])
def test_best_for_documents_also_by_the_mean_of_all_runs(name: str) -> None:
    best = {"BsBKM(non)": [0.8] * 4, "BKM(rnd)+Fast": [0.9] * 4}
    for worst, expected in ((2.0, AGREES), (2.5, IN_PART)):
        # Only the tree or only the direct method is named, so the other one cannot be first.
        chosen = "BsBKM(non)" if name == "best_for_documents" else "BKM(rnd)+Fast"
        assert verdict_of(name, entropies({chosen: best[chosen]}, worst=worst)) == expected


@pytest.mark.parametrize(("worst", "expected"), [(1.3, IN_PART), (2.0, DIFFERS)])
def test_first_by_the_mean_alone_agrees_in_part(worst: float, expected: str) -> None:
    found = entropies({"BKM(rnd)+Fast": [1.1] * 4}, worst=worst)
    assert verdict_of("best_direct_for_documents", found) == expected


@pytest.mark.parametrize(
    ("direct", "tree", "expected"),
    [(0.96, 0.96, AGREES), (0.98, 0.96, IN_PART), (0.96, 0.98, IN_PART), (1.01, 0.9, DIFFERS)],
)
def test_boost_better_for_documents(direct: float, tree: float, expected: str) -> None:
    lower = {"BKM(non)": [direct] * 4, "BKM(rnd)+Fast": [direct] * 4, "BsBKM(non)": [tree] * 4}
    assert verdict_of("boost_better_for_documents", entropies(lower)) == expected
    on_some_sets = verdict_of("boost_better_for_documents", entropies(lower, against=3))
    assert on_some_sets == (DIFFERS if expected == DIFFERS else IN_PART)


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ([1.5, 0.99, 0.99, 0.99], AGREES),
        ([0.5, 1.01, 0.9, 0.9], DIFFERS),
        ([0.5, 1.1, 1.0, 0.99], DIFFERS),
    ],
)
def test_better_than_rbk(tree: list[float], expected: str) -> None:
    assert verdict_of("better_than_rbk", entropies({"BsBKM(non)": tree})) == expected


def test_better_than_rbk_needs_most_sets() -> None:
    for sets, against, expected in ((8, 0, AGREES), (5, 0, IN_PART), (8, 3, IN_PART)):
        result = entropies({"BsBKM(non)": [0.99] * 4}, sets, against=against)
        assert verdict_of("better_than_rbk", result) == expected


@pytest.mark.parametrize(
    ("tree", "against", "expected"),
    [
        ([0.99] * 4, 0, AGREES),
        ([0.99] * 4, 3, IN_PART),
        ([0.5, 0.5, 0.5, 1.01], 0, DIFFERS),
    ],
)
def test_trees_for_documents(tree: list[float], against: int, expected: str) -> None:
    trees = dict.fromkeys(("BsBKM(non)", "RBK", "BsKM", "BsKM++"), tree)
    assert verdict_of("trees_for_documents", entropies(trees, against=against)) == expected


def test_documents_at_the_papers_size_need_all_sets_that_exist() -> None:
    missing = [{"run": {"set": name, "method": "RBK", "ks": list(KS)}, "missing": True} for name in "ab"]
    for sets, expected in ((12, UNKNOWN), (13, AGREES)):
        result = entropies({"BsBKM(non)": [0.9] * 4}, sets, "full")
        result["runs"] += missing
        assert verdict_of("better_than_rbk", result) == expected
