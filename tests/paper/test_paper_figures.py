"""The paper's figures in the plane and of scalability, the vectors for them, and its claims."""

import json
import shutil
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import claim
import claims
import experiment
import fig1_iterations
import fig2_lloyd_condition
import fig5_scalability
import public_data
import reference
import vlad
from boostkmeans.io import write_vectors
from isolated import Outcome

Json = dict[str, Any]
EXPERIMENTS: dict[str, Any] = {
    one.NAME: one for one in (fig1_iterations, fig2_lloyd_condition, fig5_scalability)
}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No real data, and pictures that nobody keeps."""
    monkeypatch.delenv(vlad.VARIABLE, raising=False)
    for one in EXPERIMENTS.values():
        monkeypatch.setattr(one, "IMAGES", tmp_path)
    monkeypatch.setattr(experiment, "RESULTS", tmp_path)


def kept(runs: list[Json], **more: Any) -> Json:
    """As a result file has it: there and back through JSON."""
    return dict(json.loads(json.dumps({"size": "small", "runs": runs, **more}, default=float)))


def measured(one: Any, runs: list[Json]) -> Json:
    return kept([{"run": run, **one.measure(run)} for run in runs])


# Made vectors


def test_rows_do_not_depend_on_their_number() -> None:
    rows = vlad.made(vlad.BLOCK + 10)
    np.testing.assert_array_equal(vlad.made(100), rows[:100])
    np.testing.assert_array_equal(vlad.made(vlad.BLOCK + 1), rows[: vlad.BLOCK + 1])
    assert not np.array_equal(rows[:10], rows[vlad.BLOCK :])
    assert not np.array_equal(vlad.made(10, seed=1), rows[:10])


def test_rows_are_of_unit_length_with_the_spectrum() -> None:
    rows = vlad.made(3 * vlad.BLOCK)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    ratios = rows.astype(np.float64).var(axis=0) / vlad.spectrum()
    # Topics are few beside the rows, so that columns differ by chance.
    assert ratios.min() > 0.5
    assert ratios.max() < 1.6
    assert np.log(ratios).std() < 0.1
    assert vlad.spectrum().sum() == pytest.approx(1)
    assert (np.diff(vlad.spectrum()) < 0).all()


def test_rows_have_clusters() -> None:
    """Rows have neighbours that are nearer than those of normal rows with the same spectrum."""
    rows = vlad.made(1000)
    gaps = 2 - 2 * rows @ rows.T + 9 * np.eye(1000)
    scale = np.sqrt(vlad.spectrum())
    normal = np.random.default_rng(0).normal(size=(1000, vlad.N_FEATURES)) * scale
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    without = 2 - 2 * normal @ normal.T + 9 * np.eye(1000)
    assert np.quantile(gaps.min(axis=1), 0.1) < 0.9 * np.quantile(without.min(axis=1), 0.1)


def test_half_precision_and_other_types() -> None:
    half = vlad.made(50, dtype="float16")
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, vlad.made(50), atol=1e-3)
    with pytest.raises(ValueError, match="float32"):
        vlad.made(5, dtype="float64")


def test_many_rows_are_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vlad, "IN_FILE", 300)
    rows = vlad.made(500, folder=tmp_path)
    assert isinstance(rows.base, np.memmap) or isinstance(rows, np.memmap)
    monkeypatch.setattr(vlad.Mixture, "block", None)  # what is there is not made again
    np.testing.assert_array_equal(vlad.made(300, folder=tmp_path), rows[:300])
    assert [path.name for path in tmp_path.iterdir()] == ["vlad_float32_seed0_500.npy"]


def test_an_interrupted_file_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: vlad.Mixture, number: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(vlad, "IN_FILE", 300)
    with monkeypatch.context() as patch:
        patch.setattr(vlad.Mixture, "block", interrupted)
        with pytest.raises(KeyboardInterrupt):
            vlad.made(500, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert len(vlad.made(500, folder=tmp_path)) == 500


def test_a_full_disk_is_told_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(9, 9, 20_000_000_000))
    monkeypatch.setattr(vlad.Mixture, "block", None)
    with pytest.raises(OSError, match=r"20\.0 GB free, and the rows take 20\.5 GB"):
        vlad.made(10_000_000, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


# Real vectors


@pytest.mark.parametrize("ending", ["npy", "fvecs", "fbin"])
def test_real_vectors_come_first(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).normal(size=(20, 512)).astype(np.float32)
    write_vectors(tmp_path / f"Flickr10M_vlad.{ending}", rows)
    write_vectors(tmp_path / "another.npy", rows[:, :3])
    monkeypatch.setenv(vlad.VARIABLE, str(tmp_path))
    found, name = vlad.rows(12)
    np.testing.assert_array_equal(found, rows[:12])
    assert name == f"Flickr10M_vlad.{ending}, the first 12 x 512"


def test_other_data_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_vectors(tmp_path / "sift.npy", np.eye(3))
    monkeypatch.setenv(vlad.VARIABLE, str(tmp_path))
    assert vlad.rows(5)[1] == "made: VLAD-like 5 x 512"


def test_wrong_vectors_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="BOOSTKMEANS_DATA"):
        vlad.find(tmp_path / "nowhere")
    write_vectors(tmp_path / "flickr.npy", np.zeros((5, 128), dtype=np.float32))
    with pytest.raises(ValueError, match="128 dimensions"):
        vlad.rows(5, folder=tmp_path)
    (tmp_path / "flickr.npy").unlink()
    write_vectors(tmp_path / "flickr.npy", np.zeros((5, 512), dtype=np.float32))
    with pytest.raises(ValueError, match="has 5 vectors, and 6 are needed"):
        vlad.rows(6, folder=tmp_path)


# Plans


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_plans(name: str, full: bool) -> None:
    plan = EXPERIMENTS[name].plan(full)
    assert json.loads(json.dumps(plan)) == plan, "what is kept is compared with the plan"
    assert len({json.dumps(run, sort_keys=True) for run in plan}) == len(plan) > 0
    assert all("seed" in run for run in plan)


def test_larger_sizes_come_later() -> None:
    for full in (False, True):
        sizes = [(run["n"], run["k"]) for run in fig5_scalability.plan(full)]
        for i, (n, k) in enumerate(sizes):
            assert not any(n >= m and k >= j and (n, k) != (m, j) for m, j in sizes[i + 1 :])


# In the plane


def test_sweeps_are_those_of_the_oracle() -> None:
    rows, start = fig1_iterations.data(120, 3)
    labels, order = start.copy(), np.random.default_rng(0).permutation(120)
    moves = fig1_iterations.sweep(rows, labels, order)
    expected, n_moves = reference.sweep(
        rows, start.astype(np.int32), fig1_iterations.N_CLUSTERS, order.tolist(), block=1
    )
    np.testing.assert_array_equal(labels, expected)
    assert len(moves) == n_moves > 0


def test_iterations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[Json] = [{"method": one, "n": 60, "seed": 1} for one in ("boost", "lloyd", "library")]
    runs.append({"method": "starts", "n": 60, "seed": 1, "n_starts": 5})
    result = measured(fig1_iterations, runs)
    for run in result["runs"][:2]:
        curve = [one["distortion"] for one in run["states"]]
        assert curve == sorted(curve, reverse=True) or run["run"]["method"] == "lloyd"
        assert run["states"][-1]["moved"] == []
        assert run["states"][-1]["elsewhere"] == 0
        assert all(one["empty"] == 0 for one in run["states"])
    frames = list(fig1_iterations.frames(result["runs"][0]))
    end = np.array(result["runs"][0]["states"][1]["labels"])
    first_sweep = [labels for title, labels, _, _ in frames if title.startswith("first")]
    np.testing.assert_array_equal(first_sweep[-1], end)
    few = frames[:3]
    monkeypatch.setattr(fig1_iterations, "frames", lambda _: few)
    page = fig1_iterations.page(result)
    assert "5 random partitions" in page
    for name in (fig1_iterations.PICTURE, fig1_iterations.ANIMATION):
        assert (tmp_path / name).stat().st_size > 1000
    assert fig1_iterations.page(kept([])) == "Not measured yet."


def test_lloyds_condition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = np.random.default_rng(0).normal(size=(400, 8)).astype(np.float32)
    monkeypatch.setattr(public_data, "sift", lambda n: (made[:n], "some"))
    runs: list[Json] = [{"n": 400, "k": k, "seed": 0} for k in (2, 16)]
    result = measured(fig2_lloyd_condition, [{"n": 200, "k": 3, "seed": 0, "plane": True}, *runs])
    tree = result["runs"][-1]
    assert tree["share_before"] > 0.02
    assert tree["share_after"] == 0
    assert tree["distortion_after"] < tree["distortion_reassigned"] < tree["distortion_before"]
    page = fig2_lloyd_condition.page(result)
    assert "nearer to a centre" in page
    assert "Data: some" in page
    assert (tmp_path / fig2_lloyd_condition.PLANE).exists()
    assert (tmp_path / fig2_lloyd_condition.SHARES).exists()
    assert fig2_lloyd_condition.page(kept([])) == ""


# Scalability


@pytest.fixture(scope="module")
def few_rows() -> NDArray[np.float32]:
    return np.asarray(vlad.made(200))


@pytest.mark.parametrize("method", fig5_scalability.METHODS)
def test_methods_cluster(method: str, few_rows: NDArray[np.float32]) -> None:
    labels, seconds = fig5_scalability.METHODS[method](few_rows, 6, 0)
    assert sorted(set(labels.tolist())) == list(range(6))
    assert 0 < seconds < 60


def test_a_method_is_stopped_at_its_limit_and_not_tried_again() -> None:
    run: Json = {"n": 4000, "k": 1024, "method": "k-means", "seed": 0, "limit": 0.02}
    assert fig5_scalability.measure(run) == {"failure": "more than 0.02 s"}
    so_far = [{"run": run, "failure": "more than 0.02 s"}]
    larger = fig5_scalability.needless({**run, "n": 8000}, so_far)
    assert larger == {"failure": "not tried: it failed at n=4,000, k=1,024"}
    assert fig5_scalability.needless({**run, "n": 2000}, so_far) == {}
    assert fig5_scalability.needless({**run, "n": 8000, "method": "RBK"}, so_far) == {}


def test_runs_are_in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value, a fault, a slow run, all without a process; and when seeds are repeated."""
    outcomes = iter([
        Outcome({"data": "some", "seconds": 130.0, "distortion": 1.0}, peak_megabytes=99.6),
        Outcome(failure="MemoryError"),
        Outcome({"data": "some", "seconds": 2000.0, "distortion": 1.0}),
    ])  # fmt: skip
    monkeypatch.setattr(fig5_scalability, "isolated", lambda *_, **__: next(outcomes))
    run: Json = {"n": 100, "k": 8, "method": "ours", "seed": 0, "limit": 1800.0}
    first = fig5_scalability.measure(run)
    assert (first["seconds"], first["peak_megabytes"]) == (130.0, 100)
    again = fig5_scalability.needless({**run, "seed": 1}, [{"run": run, **first}])
    assert "one seed is enough" in again["skipped"]
    assert fig5_scalability.measure({**run, "method": "RBK"}) == {"failure": "MemoryError"}
    assert fig5_scalability.measure({**run, "method": "BsKM"}) == {"failure": "more than 1800 s"}


def scalability_result(full: bool = False) -> Json:
    """Seconds in proportion to n and k, or to n alone for trees; k-means++ fails beyond 10,000 rows."""
    runs = []
    for run in fig5_scalability.plan(full):
        tree = run["method"] in fig5_scalability.BISECTING
        work = run["n"] * (100 if tree else run["k"])
        slower = {"BsKM": 1.5, "BsKM++": 1.4, "k-means": 1.2, "Mini-Batch": 1.3, "RBK": 1.1,
                  "BKM(rnd)+Fast": 0.9}.get(run["method"], 1.0)  # fmt: skip
        figures: Json = {"data": "made: some", "seconds": slower * work / 5e6, "peak_megabytes": 10,
                         "distortion": slower * (0.8 if tree else 0.7 - run["k"] / 1e6)}  # fmt: skip
        if run["method"] == "k-means++" and run["n"] > 10_000:
            figures = {"failure": "more than 40 s"}
        runs.append({"run": run, **figures})
    return kept(runs)


def test_page_of_scalability(tmp_path: Path) -> None:
    result = scalability_result()
    # A panel may be empty, where little was measured yet.
    fig5_scalability.draw_times(result["runs"][:1])
    page = fig5_scalability.page(result)
    assert "more than 40 s" in page
    assert fig5_scalability.exponent(result["runs"], "BKM(non)", "k") == pytest.approx(1)
    assert fig5_scalability.exponent(result["runs"], "BsBKM(non)", "k") == pytest.approx(0)
    assert fig5_scalability.exponent(result["runs"], "k-means++", "k") is None
    assert "in proportion to the rows, from n=100,000" in page
    assert "1.5 x (k=8,192)" in page
    for name in (fig5_scalability.TIMES, fig5_scalability.DISTORTIONS):
        assert (tmp_path / name).exists()
    # Whatever was measured of the plan, there is a page.
    assert fig5_scalability.page(kept([])) == "Not measured yet."


# Claims


def curve_run(method: str, curve: list[float]) -> Json:
    points = [[i + 1, i + 1.0, value] for i, value in enumerate(curve)]
    return {"run": {"method": method, "k": 8}, "data": "some", "distortion": curve[-1], "curve": points,
            "seconds": float(len(curve)), "iterations": len(curve)}  # fmt: skip


def distortion_result() -> Json:
    fall = [100 + 10 / (i + 1) for i in range(130)]
    low = [96 + 30 / (i + 1) ** 2 for i in range(40)]
    runs = [curve_run("k-means", fall), curve_run("k-means++", [x * 0.999 for x in fall])]
    runs += [curve_run(f"BKM({start})", low) for start in ("non", "rnd", "kpp")]
    runs += [curve_run(f"BKM({start})+Fast", [x * 0.99 for x in low]) for start in ("non", "rnd", "kpp")]
    runs += [curve_run("Mini-Batch", [130, 120.0]), curve_run("LVQ", [130, 110.0])]
    return kept(runs)


def tree_results() -> Json:
    runs: list[Json] = [{"run": {"method": "k-means", "k": 8}, "data": "some", "distortion": 100.0,
                         "seconds_of_iteration": 1.0}]  # fmt: skip
    for method, end in (("RBK", 113.0), ("BsKM", 114.0), ("BsKM++", 114.5), ("BsBKM(non)", 112.0),
                        ("BsBKM(rnd)", 112.5), ("BsBKM(kpp)", 112.2)):  # fmt: skip
        runs.append({"run": {"method": method, "k": 8}, "data": "some", "distortion": end,
                     "seconds": 2.0, "refined": 98.0, "refined_after": [107.0]})  # fmt: skip
    return kept(runs)


def search_result() -> Json:
    lows = {"BsKM": 0.01, "BsKM++": 0.01, "BsBKM(non)": 0.01, "RBK": 0.03, "Mini-Batch": 0.001}
    methods = [
        {"method": one, "recall": [0.5 - lows.get(one, 0.0)] * 100}
        for one in ("k-means", "k-means++", "BKM(non)", *lows)
    ]
    return kept([{"run": {"m": m, "seed": 0}, "data": "some", "methods": methods} for m in (8, 16)])


def documents_result() -> Json:
    names = ["BsBKM(non)", "RBK", "BsKM", "BsKM++", "BKM(non)", "BKM(rnd)+Fast", "k-means", "k-means++",
             "Mini-Batch", "LVQ"]  # fmt: skip
    methods = {
        one: {str(k): {"entropy": [0.3 + 0.01 * i, 0.9]} for k in (5, 10)} for i, one in enumerate(names)
    }
    return kept([{"run": {"set": "re0", "ks": [5, 10]}, "data": "some", "methods": methods},
                 {"run": {"set": "gone", "ks": [5, 10]}, "missing": True}])  # fmt: skip


def miniature() -> dict[str, Json | None]:
    """A result of each experiment."""
    starts = {"rises": 0, "empty": 0, "elsewhere": 0, "iterations_boost": [8, 10]}
    states = [{"distortion": value} for value in (1.0, 0.2, 0.1)]
    samples = np.random.default_rng(0).normal(size=(3, 40))
    values = {"k-means": 100 + samples[0], "k-means++": 100 + samples[1], "BKM(non)": 90 + samples[2]}
    return {
        "iterations": kept([
            {"run": {"method": "boost"}, "states": states}, {"run": {"method": "starts"}, **starts},
        ]),
        "lloyd_condition": kept([
            {"run": {"k": 8}, "share_before": 0.2, "share_after": 0.0, "distortion_before": 2.0,
             "distortion_after": 1.5},
        ]),
        "distortion": distortion_result(),
        "significance": kept([{"run": {"method": one}, "distortion": list(some)}
                              for one, some in values.items()]),
        "bisecting": tree_results(),
        "top_k0": kept([
            {"run": {"n": 9, "k": 99, "k0": k0}, "distortion": end, "sweep_seconds": seconds}
            for k0, end, seconds in ((None, 100.0, 8.0), (64, 100.5, 2.0), (2, 120.0, 0.1))
        ]),
        "search": search_result(),
        "documents": documents_result(),
        "scalability": scalability_result(),
    }  # fmt: skip


def test_claims_without_results() -> None:
    found = claims.judged({})
    assert len(found) >= 16
    assert {one.verdict for one in found} == {claim.UNKNOWN}
    assert len({one.what for one in found}) == len(found)
    assert {one.experiment for one in found} == set(claims.EXPERIMENTS)
    assert "not measured" in claims.text_of({})


def test_claims_by_miniature_results(tmp_path: Path) -> None:
    found = {judge.__name__: judge(miniature()[judge.experiment]) for judge in claims.CLAIMS}  # type: ignore[attr-defined]
    other = {name: one.verdict for name, one in found.items() if one.verdict != claim.AGREES}
    assert other == {
        "fast_is_faster": claim.DIFFERS,
        "tree_against_iteration": claim.DIFFERS,
        "refined_trees_above": claim.DIFFERS,
        "candidates_are_faster": claim.IN_PART,
        "quantizers_of_others": claim.IN_PART,
        "best_direct_for_documents": claim.DIFFERS,
        "ninety_four_minutes": claim.IN_PART,
        "eight_minutes": claim.IN_PART,
        "advantage_grows": claim.IN_PART,
        "mini_batch_fast_but_poor": claim.IN_PART,
    }
    assert found["candidates_are_faster"].ours == "k=99, k0=64: 4.0 times, +0.50 %"
    assert "number 2" in found["best_direct_for_documents"].ours
    text = claims.text_of(miniature(), tmp_path)
    assert all(one.ours in text for one in found.values())
    assert "](paper/" not in text, "there is no page to link to"
    (tmp_path / "search.md").touch()
    assert "[search](paper/search.md)" in claims.text_of(miniature(), tmp_path)


def test_claims_at_the_papers_size() -> None:
    judges = {judge.__name__: judge for judge in claims.CLAIMS}
    result = scalability_result(full=True)
    for name in ("ninety_four_minutes", "eight_minutes"):
        found = judges[name](result)
        assert found.verdict == claim.AGREES
        assert found.ours.endswith("measured")


@pytest.mark.parametrize("name", claims.EXPERIMENTS)
def test_claims_by_parts_of_results(name: str) -> None:
    """Whatever was interrupted or failed: a claim is judged or not measured."""
    whole = miniature()[name]
    assert whole is not None
    runs = whole["runs"]
    failing = [{"run": run["run"], "failure": "more than 1 s"} for run in runs]
    for some in ([], runs[:1], runs[1:], runs[-1:], failing):
        found = claims.judged({name: {**whole, "runs": some}})
        assert all(one.verdict in claim.VERDICTS for one in found)
        assert claims.text_of({name: {**whole, "runs": some}})


def test_claims_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "RESULTS", tmp_path)
    monkeypatch.setattr(claims, "PAGE", tmp_path / "paper.md")
    (tmp_path / "search.json").write_text(json.dumps(search_result()))
    claims.write()
    text = (tmp_path / "paper.md").read_text()
    assert "at most 0.0 points apart" in text
    assert "Where the paper errs" in text
