"""Check that every setting still finds the labels that version 0.7.0 found.

The file `labels_0.7.0.json` was written by 0.7.0 itself (see `record.py`), for each instruction set of
the machine that it ran on. If a fix of a defect changes an outcome on purpose, change the file in the
same commit, and name the setting in the commit message.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from record import environment
from settings import SETTINGS, Place

import boostkmeans

RECORDED = json.loads((Path(__file__).parent / "labels_0.7.0.json").read_text())
OUTCOMES: dict[str, dict[str, Any]] = RECORDED["outcomes"]
# Settings that other instruction sets than the best one are tried with.
SOME = (
    "annealing/long", "batches/dense", "bisecting/refined", "candidates/auto-certified",
    "dense/float16", "large/uint8-low-precision", "large/float32", "limits/both", "quantizer/plain",
    "sparse/kept-cosine", "streamed/default", "weights/some-zero",
)  # fmt: skip
OTHERS = ("avx2", "baseline")


def check(name: str, folder: Path) -> None:
    """Compare a setting with what was recorded for the instruction set in use."""
    isa = boostkmeans.instruction_set()
    if isa not in OUTCOMES:
        pytest.skip(f"0.7.0 was not recorded with the instruction set {isa}, only with {[*OUTCOMES]}")
    if SETTINGS[name].machine_dependent and not same_libraries():
        pytest.skip("the result depends on BLAS or scikit-learn, and these are not the recorded ones")
    expected = dict(OUTCOMES[isa][name])
    found = SETTINGS[name].run(Place(folder)).summary()
    assert float(found.pop("inertia")) == pytest.approx(float(expected.pop("inertia")), rel=1e-9)
    assert found == expected


def same_libraries() -> bool:
    """Return whether processor and libraries are those that 0.7.0 was recorded with."""
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
