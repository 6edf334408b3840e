"""Rules of the paper's claims about documents and scalability, on both sides of each threshold."""

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


# Documents


def entropies(sets: int = 1, size: str = "small", **lower: list[float]) -> Json:
    """Return entropies of 1 for all methods and k, except for some methods, named without brackets."""
    runs = []
    for number in range(sets):
        for method in table3_entropy.PAPER:
            plain = "".join(one for one in method if one.isalpha())
            values = lower.get(plain, [1.0] * len(KS))
            figures = {str(k): {"entropy": [value, 2.0], "inertia": [1.0, 1.0]}
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
        ([1.1, 1.1, 0.9, 0.9], IN_PART),
        ([1.1, 1.1, 1.1, 0.9], DIFFERS),
    ],
)
def test_best_direct_for_documents_includes_five_clusters(fast: list[float], expected: str) -> None:
    assert verdict_of("best_direct_for_documents", entropies(BKMrndFast=fast)) == expected


@pytest.mark.parametrize(
    ("direct", "tree", "expected"),
    [(0.96, 0.96, AGREES), (0.98, 0.96, IN_PART), (0.96, 0.98, IN_PART), (1.01, 0.9, DIFFERS)],
)
def test_boost_better_for_documents(direct: float, tree: float, expected: str) -> None:
    result = entropies(BKMnon=[direct] * 4, BKMrndFast=[direct] * 4, BsBKMnon=[tree] * 4)
    assert verdict_of("boost_better_for_documents", result) == expected


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ([1.5, 0.99, 0.99, 0.99], AGREES),
        ([0.5, 1.01, 0.9, 0.9], IN_PART),
        ([0.5, 1.1, 1.0, 0.99], DIFFERS),
    ],
)
def test_better_than_rbk(tree: list[float], expected: str) -> None:
    assert verdict_of("better_than_rbk", entropies(BsBKMnon=tree)) == expected


def test_documents_at_the_papers_size_need_all_sets_that_exist() -> None:
    missing = [{"run": {"set": name, "method": "RBK", "ks": list(KS)}, "missing": True} for name in "ab"]
    for sets, expected in ((12, UNKNOWN), (13, AGREES)):
        result = entropies(sets, "full", BsBKMnon=[0.9] * 4)
        result["runs"] += missing
        assert verdict_of("better_than_rbk", result) == expected


# Scalability


def runs_of(seconds: Json, distortions: Json | None = None, size: str = "small") -> Json:
    """Return runs with seconds and distortions by (n, k), by method."""
    found = []
    for method, by_size in seconds.items():
        for (n, k), value in by_size.items():
            distortion = (distortions or {}).get(method, {}).get((n, k), 1.0)
            found.append({"run": {"method": method, "n": n, "k": k, "seed": 0}, "data": "some",
                          "seconds": value, "distortion": distortion})  # fmt: skip
    return stored(found, size)


FEW, MANY = (1_000, 1024), (10_000, 1024)


@pytest.mark.parametrize(
    ("few", "many", "expected"), [(1.1, 1.1, AGREES), (0.9, 1.1, IN_PART), (1.1, 0.9, DIFFERS)]
)
def test_boost_faster_at_every_n(few: float, many: float, expected: str) -> None:
    seconds = {one: {FEW: few, MANY: 10 * many} for one in ("k-means", "k-means++", "BsKM", "BsKM++")}
    seconds |= {one: {FEW: 1.0, MANY: 10.0} for one in ("BKM(non)", "BsBKM(non)")}
    assert verdict_of("boost_faster_at_every_n", runs_of(seconds)) == expected


@pytest.mark.parametrize(
    ("direct", "tree", "expected"), [(1.5, 1.5, AGREES), (1.5, 1.0, IN_PART), (1.01, 0.9, DIFFERS)]
)
def test_speed_advantage_grows(direct: float, tree: float, expected: str) -> None:
    seconds = {
        "k-means": {FEW: 1.0, MANY: 10 * direct},
        "BsKM": {FEW: 1.0, MANY: 10 * tree},
        **{one: {FEW: 1.0, MANY: 10.0} for one in ("BKM(non)", "BsBKM(non)")},
    }
    assert verdict_of("speed_advantage_grows", runs_of(seconds)) == expected


@pytest.mark.parametrize(("last", "expected"), [(3.1, AGREES), (1.6, IN_PART), (1.4, DIFFERS)])
def test_mini_batch_slows_down(last: float, expected: str) -> None:
    sizes = ((1_000, 1024), (1_000, 8192))
    seconds = {
        "Mini-Batch": dict(zip(sizes, (1.0, last), strict=True)),
        "BsBKM(non)": dict.fromkeys(sizes, 1.0),
    }
    assert verdict_of("mini_batch_slows_down", runs_of(seconds)) == expected


@pytest.mark.parametrize(
    ("plain", "plus", "expected"),
    [(1.35, 1.5, AGREES), (1.35, 1.7, IN_PART), (1.35, 20, DIFFERS), (20, 20, DIFFERS),
     (1.0, 1.35, DIFFERS)],
)  # fmt: skip
def test_lloyd_trees_slower_rejects_large_factors(plain: float, plus: float, expected: str) -> None:
    size = (1_000, 2048)
    seconds = {"BsKM": {size: plain}, "BsKM++": {size: plus}, "BsBKM(non)": {size: 1.0}}
    assert verdict_of("lloyd_trees_slower", runs_of(seconds)) == expected


def test_figures_of_few_rows_do_not_count_at_the_papers_size() -> None:
    for rows, expected in ((100_000, UNKNOWN), (1_000_000, AGREES)):
        size = (rows, 2048)
        seconds = {"BsKM": {size: 1.35}, "BsKM++": {size: 1.35}, "BsBKM(non)": {size: 1.0}}
        assert verdict_of("lloyd_trees_slower", runs_of(seconds, size="full")) == expected


@pytest.mark.parametrize(
    ("direct", "tree", "expected"), [(0.98, 0.98, AGREES), (0.995, 0.98, IN_PART), (0.9, 1.01, DIFFERS)]
)
def test_boost_better_for_images(direct: float, tree: float, expected: str) -> None:
    size = (1_000, 2048)
    methods = {"k-means": 1.0, "BsKM": 1.0, "BKM(non)": direct, "BsBKM(non)": tree}
    result = runs_of({one: {size: 1.0} for one in methods},
                     {one: {size: end} for one, end in methods.items()})  # fmt: skip
    assert verdict_of("boost_better_for_images", result) == expected


@pytest.mark.parametrize(("tree", "expected"), [(1.03, AGREES), (1.01, IN_PART), (0.99, DIFFERS)])
def test_trees_above_direct(tree: float, expected: str) -> None:
    sizes = ((1_000, 1024), (1_000, 2048))
    seconds = {one: dict.fromkeys(sizes, 1.0) for one in ("BKM(non)", "BsBKM(non)")}
    distortions = {"BsBKM(non)": {sizes[0]: 1.2, sizes[1]: tree + 1e-9}}
    assert verdict_of("trees_above_direct", runs_of(seconds, distortions)) == expected
