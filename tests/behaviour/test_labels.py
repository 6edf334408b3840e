"""Check that every setting still finds the labels that earlier releases found.

The file `labels_0.7.0.json` was written by 0.7.0 itself (see `record.py`), for each instruction set of
the machine that it ran on. `labels_0.9.0.json` contains the settings that 0.9.0 changed on purpose:

- Small data: one schedule in the core visits rows in another random order.
- The start "sampled-k-means++" draws its centres from fewer rows of small data.
- Candidates: "auto" always uses 128 of them, sweeps over candidates end earlier if there are few rows
  per cluster, and neighbour lists of many clusters are updated instead of searched again.
- From 512 clusters on, early sweeps precede annealing, and repairs with few swaps end.

With these rules switched off, 0.9.0 finds the labels of 0.7.0 in all settings.
"""

import json
import platform
from pathlib import Path
from statistics import median

import pytest
from record import FOLDER, environment, recorded
from settings import SETTINGS, Place

import boostkmeans

RECORDED = json.loads((FOLDER / "labels_0.7.0.json").read_text())
OUTCOMES = recorded()
# Settings that other instruction sets than the best one are tried with.
SOME = (
    "annealing/long", "batches/dense", "bisecting/refined", "candidates/auto-certified",
    "dense/float16", "large/uint8-low-precision", "large/float32", "limits/both", "quantizer/plain",
    "sparse/kept-cosine", "streamed/default", "weights/some-zero",
)  # fmt: skip
OTHERS = ("avx2", "baseline")
X86 = ("x86_64", "AMD64")


def check(name: str, folder: Path) -> None:
    """Compare a setting with what was recorded for the instruction set in use."""
    isa = boostkmeans.instruction_set()
    if isa not in OUTCOMES:
        pytest.skip(f"the instruction set {isa} was not recorded, only {[*OUTCOMES]}")
    if platform.machine() not in X86:  # "baseline" names the kernel of each processor.
        pytest.skip("the labels were recorded on x86-64")
    if SETTINGS[name].machine_dependent and not same_libraries():
        pytest.skip("the result depends on BLAS or scikit-learn, and these are not the recorded ones")
    expected = dict(OUTCOMES[isa][name])
    found = SETTINGS[name].run(Place(folder)).summary()
    assert float(found.pop("inertia")) == pytest.approx(float(expected.pop("inertia")), rel=1e-9)
    assert found == expected


def same_libraries() -> bool:
    """Return True if processor and libraries are those of the recorded outcomes."""
    own, recorded = environment(), RECORDED["environment"]
    return all(own[name] == recorded[name] for name in ("numpy", "scipy", "scikit-learn", "processor"))


@pytest.mark.parametrize("name", SETTINGS)
def test_labels_are_those_of_the_release(name: str, tmp_path: Path) -> None:
    check(name, tmp_path)


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("isa", OTHERS)
def test_labels_with_other_instruction_sets(
    isa: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isa not in boostkmeans.instruction_sets():
        pytest.skip(f"this machine does not have the instruction set {isa}")
    monkeypatch.setenv("BOOSTKMEANS_ISA", isa)
    check(name, tmp_path)


@pytest.mark.parametrize("isa", OUTCOMES)
def test_every_setting_is_recorded(isa: str) -> None:
    assert set(OUTCOMES[isa]) == set(SETTINGS)


@pytest.mark.parametrize("isa", OUTCOMES)
def test_changes_do_not_raise_the_inertia(isa: str) -> None:
    """Single settings end in other local optima, but not in worse ones on the whole."""
    before = {name: float(one["inertia"]) for name, one in RECORDED["outcomes"][isa].items()}
    after = {name: float(one["inertia"]) for name, one in OUTCOMES[isa].items()}
    ratios = [after[name] / before[name] for name in SETTINGS if before[name] > 0]
    assert max(ratios) < 1.05
    assert sum(ratios) / len(ratios) < 1.001
    changed = [ratio for ratio in ratios if ratio != 1]
    assert median(changed) < 1.0001
