"""Rules of the paper's claims about scalability, on both sides of each threshold."""

import pytest
from miniature_results import Json, stored

import claims
from claim import AGREES, DIFFERS, IN_PART, UNKNOWN
from claims_scalability import MINI_BATCHES

JUDGES = {judge.name: judge for judge in claims.CLAIMS}


def verdict_of(name: str, result: Json) -> str:
    """Return the verdict of a claim."""
    return JUDGES[name]([result]).finding.verdict


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
    ("few", "many", "expected"), [(1.1, 1.03, AGREES), (1.01, 1.1, IN_PART), (1.1, 1.01, DIFFERS)]
)
def test_boost_faster_at_every_n(few: float, many: float, expected: str) -> None:
    seconds = {one: {FEW: few, MANY: 10 * many} for one in ("k-means", "k-means++", "BsKM", "BsKM++")}
    seconds |= {one: {FEW: 1.0, MANY: 10.0} for one in ("BKM(non)", "BsBKM(non)")}
    assert verdict_of("boost_faster_at_every_n", runs_of(seconds)) == expected


@pytest.mark.parametrize(
    ("direct", "tree", "expected"),
    [
        ((1.0, 1.2, 1.5), (1.0, 0.99, 1.5), AGREES),
        ((1.0, 1.2, 1.5), (1.0, 1.0, 1.0), IN_PART),
        # The ratio falls on the way, or k-means is still faster at the end.
        ((1.0, 1.2, 1.5), (1.0, 0.9, 1.5), IN_PART),
        ((1.0, 1.2, 1.5), (0.5, 0.7, 0.9), IN_PART),
        ((1.0, 1.0, 1.01), (1.0, 0.9, 0.9), DIFFERS),
    ],
)
def test_speed_advantage_grows(
    direct: tuple[float, ...], tree: tuple[float, ...], expected: str
) -> None:
    sizes = [(n, 1024) for n in (1_000, 10_000, 100_000)]
    seconds = {
        "k-means": dict(zip(sizes, direct, strict=True)),
        "BsKM": dict(zip(sizes, tree, strict=True)),
        **{one: dict.fromkeys(sizes, 1.0) for one in ("BKM(non)", "BsBKM(non)")},
    }
    assert verdict_of("speed_advantage_grows", runs_of(seconds)) == expected


def by_power(powers: dict[str, float]) -> Json:
    """Return times that grow with a power of k, by method."""
    sizes = [(1_000, k) for k in (1024, 2048, 4096, 8192)]
    return {one: {size: size[1] ** power for size in sizes} for one, power in powers.items()}


@pytest.mark.parametrize(
    ("powers", "expected"),
    [
        ((0.81, 1.19, 1.0, 1.0, 1.0), AGREES),
        ((1.0, 1.0, 1.0, 1.0, 0.7), IN_PART),
        ((0.7, 1.3, 0.7, 1.0, 1.0), DIFFERS),
    ],
)
def test_direct_linear_in_k(powers: tuple[float, ...], expected: str) -> None:
    names = ("k-means", "k-means++", "BKM(non)", "BKM(rnd)+Fast", "Mini-Batch")
    seconds = by_power(dict(zip(names, powers, strict=True)))
    assert verdict_of("direct_linear_in_k", runs_of(seconds)) == expected
    for missing in names:
        fewer = {one: times for one, times in seconds.items() if one != missing}
        assert verdict_of("direct_linear_in_k", runs_of(fewer)) == UNKNOWN


@pytest.mark.parametrize(
    ("powers", "expected"),
    [((0.19,) * 4, AGREES), ((0.19, 0.19, 0.19, 0.25), IN_PART), ((0.1, 0.1, 0.21, 0.1), DIFFERS)],
)
def test_trees_steady_in_k(powers: tuple[float, ...], expected: str) -> None:
    names = ("BsKM", "BsKM++", "BsBKM(non)", "RBK")
    seconds = by_power(dict(zip(names, powers, strict=True)))
    assert verdict_of("trees_steady_in_k", runs_of(seconds)) == expected
    two = {one: dict(list(times.items())[:2]) for one, times in seconds.items()}
    assert verdict_of("trees_steady_in_k", runs_of(two)) == UNKNOWN


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (1.0, 3.1, AGREES),
        (0.5, 1.9, IN_PART),
        (1.0, 1.6, IN_PART),
        (1.0, 1.4, DIFFERS),
        # It is still faster than the tree.
        (0.1, 0.9, DIFFERS),
    ],
)
def test_mini_batch_slows_down(first: float, last: float, expected: str) -> None:
    sizes = ((1_000, 1024), (1_000, 8192))
    seconds = {
        **{one: dict(zip(sizes, (first, last), strict=True)) for one in MINI_BATCHES},
        "BsBKM(non)": dict.fromkeys(sizes, 1.0),
    }
    assert verdict_of("mini_batch_slows_down", runs_of(seconds)) == expected
    # The other reading does not slow down.
    seconds[MINI_BATCHES[1]] = dict.fromkeys(sizes, 1.0)
    weaker = IN_PART if expected == AGREES else expected
    assert verdict_of("mini_batch_slows_down", runs_of(seconds)) == weaker


@pytest.mark.parametrize(
    ("by_n", "by_k", "expected"),
    [((0.96, 0.97), (0.96, 0.9), AGREES), ((0.96, 0.99), (0.96, 0.9), IN_PART),
     ((0.96, 1.0), (0.96, 0.98), DIFFERS)],
)  # fmt: skip
def test_fast_is_faster(by_n: tuple[float, float], by_k: tuple[float, float], expected: str) -> None:
    sizes = (FEW, MANY, (500, 2048), (500, 4096))
    seconds = {
        "BKM(rnd)+Fast": dict(zip(sizes, (*by_n, *by_k), strict=True)),
        "BKM(non)": dict.fromkeys(sizes, 1.0),
    }
    assert verdict_of("fast_is_faster", runs_of(seconds)) == expected


@pytest.mark.parametrize(
    ("plain", "plus", "expected"),
    [(1.35, 1.45, AGREES), (1.35, 1.6, IN_PART), (1.35, 20, DIFFERS), (20, 20, DIFFERS),
     (1.0, 1.35, DIFFERS)],
)  # fmt: skip
def test_lloyd_trees_slower_rejects_large_factors(plain: float, plus: float, expected: str) -> None:
    size = (1_000, 2048)
    seconds = {"BsKM": {size: plain}, "BsKM++": {size: plus}, "BsBKM(non)": {size: 1.0}}
    assert verdict_of("lloyd_trees_slower", runs_of(seconds)) == expected


def test_lloyd_trees_slower_for_every_k() -> None:
    sizes = ((1_000, 2048), (1_000, 4096))
    for first, expected in ((1.1, AGREES), (0.99, IN_PART)):
        ratios = dict(zip(sizes, (first, 1.8), strict=True))
        seconds = {"BsKM": ratios, "BsKM++": ratios, "BsBKM(non)": dict.fromkeys(sizes, 1.0)}
        assert verdict_of("lloyd_trees_slower", runs_of(seconds)) == expected


@pytest.mark.parametrize(
    ("along_n", "along_k", "mini_batch", "expected"),
    [
        (101, 101, 1.1, AGREES),
        (101, 99, 1.1, IN_PART),
        (101, 101, 0.9, IN_PART),
        (31, 31, 1.1, IN_PART),
        (200, 29, 1.1, DIFFERS),
    ],
)
def test_two_orders(along_n: float, along_k: float, mini_batch: float, expected: str) -> None:
    sizes = ((10_000, 1024), (1_000, 8192))
    seconds = {
        "k-means": dict(zip(sizes, (along_n, along_k), strict=True)),
        "Mini-Batch": dict.fromkeys(sizes, mini_batch),
        "BsBKM(non)": dict.fromkeys(sizes, 1.0),
        **{one: dict.fromkeys(sizes, 1.5) for one in ("BsKM", "BsKM++", "RBK")},
    }
    assert verdict_of("two_orders", runs_of(seconds)) == expected
    del seconds["Mini-Batch"]
    assert verdict_of("two_orders", runs_of(seconds)) == UNKNOWN


def test_two_orders_at_the_largest_n_of_the_paper() -> None:
    """With 10,000,000 rows, BsBKM(non) has one rival that is planned: RBK."""
    sizes = {*ALONG_K, *ALONG_N}
    fewer = sizes - {(10_000_000, 1024)}
    seconds = {
        "k-means": dict.fromkeys(sizes, 120.0),
        "BsBKM(non)": dict.fromkeys(sizes, 1.0),
        "RBK": dict.fromkeys(sizes, 1.5),
        **{one: dict.fromkeys(fewer, 1.5) for one in ("Mini-Batch", "BsKM", "BsKM++")},
    }
    assert verdict_of("two_orders", runs_of(seconds, size="full")) == AGREES
    seconds["k-means"][10_000_000, 1024] = 50.0
    assert verdict_of("two_orders", runs_of(seconds, size="full")) == IN_PART
    del seconds["RBK"][10_000_000, 1024]
    assert verdict_of("two_orders", runs_of(seconds, size="full")) == UNKNOWN


ALONG_K = [(1_000_000, k) for k in (1024, 2048, 4096, 8192)]
ALONG_N = [(n, 1024) for n in (10_000, 100_000, 1_000_000, 10_000_000)]


@pytest.mark.parametrize("left_out", [None, *ALONG_K])
def test_every_planned_k_is_needed_at_the_papers_size(left_out: tuple[int, int] | None) -> None:
    sizes = [size for size in ALONG_K if size != left_out]
    seconds = {one: dict.fromkeys(sizes, 1.35) for one in ("BsKM", "BsKM++")}
    seconds["BsBKM(non)"] = dict.fromkeys(sizes, 1.0)
    expected = AGREES if left_out is None else UNKNOWN
    assert verdict_of("lloyd_trees_slower", runs_of(seconds, size="full")) == expected
    assert verdict_of("lloyd_trees_slower", runs_of(seconds)) == AGREES, "the small size needs no plan"


@pytest.mark.parametrize("left_out", [None, *ALONG_N])
def test_every_planned_n_is_needed_at_the_papers_size(left_out: tuple[int, int] | None) -> None:
    """Check k-means and BKM(non), which are planned for all n. The trees by k-means have fewer."""
    ratios = dict(zip(ALONG_N, (1.1, 1.2, 1.3, 1.4), strict=True))
    direct = {size: ratio for size, ratio in ratios.items() if size != left_out}
    seconds = {
        "k-means": direct,
        "BKM(non)": dict.fromkeys(direct, 1.0),
        "BsKM": {size: ratios[size] for size in ALONG_N[:3]},
        "BsBKM(non)": dict.fromkeys(ALONG_N[:3], 1.0),
    }
    found = JUDGES["speed_advantage_grows"]([runs_of(seconds, size="full")])
    assert found.finding.verdict == (AGREES if left_out is None else UNKNOWN)
    if left_out is not None:
        assert f"n={left_out[0]:,}, k=1,024" in found.finding.explanation


def test_distortions_need_every_planned_size_too() -> None:
    methods = ("k-means", "BsKM", "BKM(non)", "BsBKM(non)")
    ends = {one: dict.fromkeys(ALONG_K, 0.9) for one in ("BKM(non)", "BsBKM(non)")}
    for sizes, expected in ((ALONG_K, AGREES), (ALONG_K[:3], UNKNOWN)):
        seconds = {one: dict.fromkeys(sizes, 1.0) for one in methods}
        result = runs_of(seconds, ends, size="full")
        assert verdict_of("boost_better_for_images", result) == expected


@pytest.mark.parametrize(
    ("direct", "tree", "expected"), [(0.98, 0.98, AGREES), (0.995, 0.98, IN_PART), (0.9, 1.01, DIFFERS)]
)
def test_boost_better_for_images_at_every_k(direct: float, tree: float, expected: str) -> None:
    for critical in (1024, 2048, 4096):
        result = along_k({"BKM(non)": direct, "BsBKM(non)": tree}, critical, 0.9)
        assert verdict_of("boost_better_for_images", result) == expected


@pytest.mark.parametrize(
    ("kind", "above", "expected"),
    [("BsBKM(non)", 1.031, AGREES), ("BsBKM(non)", 1.01, IN_PART), ("BsBKM(non)", 0.99, DIFFERS),
     ("BsKM", 1.01, IN_PART)],
)  # fmt: skip
def test_trees_above_direct_at_every_k(kind: str, above: float, expected: str) -> None:
    trees = {"BsBKM(non)": 1.2, "BsKM": 1.2, kind: above}
    assert verdict_of("trees_above_direct", along_k(trees, 2048, 1.2)) == expected


def along_k(ends: dict[str, float], critical: int, elsewhere: float) -> Json:
    """Return distortions of some methods at one k, and others for other k; other methods have 1."""
    sizes = [(1_000, k) for k in (1024, 2048, 4096)]
    methods = ("k-means", "BsKM", "BKM(non)", "BsBKM(non)")
    distortions = {
        one: {size: end if size[1] == critical else elsewhere for size in sizes}
        for one, end in ends.items()
    }
    return runs_of({one: dict.fromkeys(sizes, 1.0) for one in methods}, distortions)


@pytest.mark.parametrize(
    ("direct", "tree", "expected"),
    [
        ((1.01, 1.02, 1.03), (1.01, 1.02, 1.03), AGREES),
        ((1.01, 1.02, 1.03), (1.01, 1.04, 1.03), IN_PART),
        ((1.01, 1.02, 1.03), (1.03, 1.02, 1.01), DIFFERS),
        ((0.97, 0.98, 1.03), (1.01, 1.02, 1.03), DIFFERS),
        ((1.01, 1.02), (1.01, 1.02), UNKNOWN),
    ],
)
def test_advantage_grows_from_each_k_to_the_next(
    direct: tuple[float, ...], tree: tuple[float, ...], expected: str
) -> None:
    sizes = [(1_000, k) for k in (1024, 2048, 4096)[: len(direct)]]
    methods = ("k-means", "BsKM", "BKM(non)", "BsBKM(non)")
    distortions = {
        "k-means": dict(zip(sizes, direct, strict=True)),
        "BsKM": dict(zip(sizes, tree, strict=True)),
    }
    result = runs_of({one: dict.fromkeys(sizes, 1.0) for one in methods}, distortions)
    assert verdict_of("advantage_grows", result) == expected


@pytest.mark.parametrize(
    ("times", "ends", "expected"),
    [
        ((0.6, 1.0, 1.9), (1.0, 1.04, 1.04), AGREES),
        ((0.6, 1.0, 2.1), (1.0, 1.04, 1.04), IN_PART),
        ((0.4, 1.0, 1.9), (1.0, 1.04, 1.04), IN_PART),
        ((0.6, 1.0, 1.9), (1.02, 1.02, 1.04), IN_PART),
        ((0.6, 1.0, 2.1), (1.02, 1.02, 1.04), DIFFERS),
    ],
)
def test_mini_batch_fast_but_poor(
    times: tuple[float, ...], ends: tuple[float, ...], expected: str
) -> None:
    sizes = [(n, 1024) for n in (1_000, 10_000, 100_000)]
    seconds = {
        **{one: dict(zip(sizes, times, strict=True)) for one in MINI_BATCHES},
        **{one: dict.fromkeys(sizes, 1.0) for one in ("k-means", "BsBKM(non)")},
    }
    distortions = {one: dict(zip(sizes, ends, strict=True)) for one in MINI_BATCHES}
    assert verdict_of("mini_batch_fast_but_poor", runs_of(seconds, distortions)) == expected
    # The other reading is neither as fast nor poor.
    seconds[MINI_BATCHES[1]] = dict.fromkeys(sizes, 0.1)
    distortions[MINI_BATCHES[1]] = dict.fromkeys(sizes, 1.0)
    weaker = IN_PART if expected == AGREES else expected
    assert verdict_of("mini_batch_fast_but_poor", runs_of(seconds, distortions)) == weaker


@pytest.mark.parametrize(
    ("tree_seconds", "tree_end", "expected"),
    [
        ((0.9, 0.9), (0.9, 0.9), AGREES),
        ((1.1, 0.9), (0.9, 0.9), IN_PART),
        ((0.9, 0.9), (1.1, 0.9), IN_PART),
        ((1.1, 0.9), (1.1, 0.9), DIFFERS),
    ],
)
def test_best_tree_at_every_n(
    tree_seconds: tuple[float, ...], tree_end: tuple[float, ...], expected: str
) -> None:
    sizes = (FEW, MANY)
    seconds = {one: dict.fromkeys(sizes, 1.0) for one in ("BsKM", "BsKM++", "RBK")}
    seconds["BsBKM(non)"] = dict(zip(sizes, tree_seconds, strict=True))
    distortions = {"BsBKM(non)": dict(zip(sizes, tree_end, strict=True))}
    assert verdict_of("boosted_best_tree", runs_of(seconds, distortions)) == expected
