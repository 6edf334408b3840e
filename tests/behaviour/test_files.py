"""Check that files which version 0.7.0 wrote are read, and give what they gave there.

The files are in `files/`, and `expected.json` there says what 0.7.0 itself made of them, for each
instruction set of the machine that it ran on. `record_files.py` wrote all of them, once.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stored_objects import MODELS, OBJECTS, QUANTIZERS, after_another_batch, expected_of, load, unpickled

import boostkmeans
from boostkmeans._engine import schedule, small_fit
from boostkmeans._steps import seeding
from boostkmeans._steps.tree_builder import UNKNOWN_PASSES
from stored import FILES, FITS, resumed

EXPECTED = json.loads((FILES / "expected.json").read_text())


def by_file(kind: str) -> pytest.MarkDecorator:
    """Return a decorator that runs a test for each file of a kind."""
    entries = EXPECTED[kind]
    return pytest.mark.parametrize("entry", entries, ids=[entry["file"] for entry in entries])


def of_instruction_set(results: dict[str, Any]) -> Any:
    """Return what 0.7.0 found with the instruction set in use: "best" stands for all that agree."""
    isa = boostkmeans.instruction_set()
    if isa not in EXPECTED["instruction_sets"]:
        recorded = ", ".join(EXPECTED["instruction_sets"])
        pytest.skip(f"0.7.0 was not recorded with the instruction set {isa}, only with {recorded}")
    return results.get(isa, results["best"])


@pytest.fixture
def _rules_of_0_7(monkeypatch: pytest.MonkeyPatch) -> None:
    """Switch off rules that are new in version 0.9.

    With them, a fit that goes on ends elsewhere: later runs of small data use another schedule or start,
    and sweeps over candidates end earlier if there are few rows per cluster.
    """
    monkeypatch.setattr(small_fit, "MAX_WORK", 0)
    monkeypatch.setattr(seeding, "MIN_SMALL_SAMPLE", seeding.MIN_SAMPLE)
    monkeypatch.setattr(schedule, "FEW_ROWS_PER_CLUSTER", 0)


@pytest.mark.usefixtures("_rules_of_0_7")
@by_file("checkpoints")
def test_a_fit_goes_on_from_its_checkpoint(entry: dict[str, Any], tmp_path: Path) -> None:
    """Check the result, and that the fit went on instead of starting over.

    A fit that goes on keeps the records of the file: their times, to the last bit, are in `history_`.
    It calls the callback for new records only. Where the file has no records yet, another file has the
    same state with other random numbers, so that the fit ends elsewhere than one that starts over.
    """
    expected = of_instruction_set(entry["results"])
    model, found = resumed(FITS[entry["fit"]], FILES / "checkpoints" / entry["file"], tmp_path)
    assert float(found.pop("inertia")) == pytest.approx(float(expected["inertia"]), rel=1e-9)
    assert found == {name: value for name, value in expected.items() if name != "inertia"}
    if expected == entry["results"]["best"]:
        n = len(entry["seconds"])
        assert [record.seconds for record in model.history_[:n]] == entry["seconds"]


@by_file("checkpoints")
def test_a_fit_goes_on_with_the_rules_of_today(entry: dict[str, Any], tmp_path: Path) -> None:
    expected = of_instruction_set(entry["results"])
    model, _ = resumed(FITS[entry["fit"]], FILES / "checkpoints" / entry["file"], tmp_path)
    assert model.inertia_ <= 1.01 * float(expected["inertia"]) + 1e-9
    known = {record.seconds for record in model.history_} & set(entry["seconds"])
    assert known == set(entry["seconds"]) or model.n_init > 1  # Another run may be the best.


@pytest.mark.parametrize("name", ["tree-5", "tree-sections-2"])
def test_passes_of_splits_before_version_0_10_are_unknown(name: str, tmp_path: Path) -> None:
    """The splits of the file come first, and those of today know their passes."""
    file = FILES / "checkpoints" / f"{name}.safetensors.gz"
    model, _ = resumed(FITS[name.rpartition("-")[0]], file, tmp_path)
    tree = model.tree_
    passes = tree.n_passes[tree.splits]
    assert (passes == UNKNOWN_PASSES).any()
    assert (passes > 0).any()
    assert not (passes == 0).any()
    assert (tree.n_passes[tree.clusters >= 0] == 0).all()
    model.save(tmp_path / "model.st")
    loaded = boostkmeans.load_model(tmp_path / "model.st")
    np.testing.assert_array_equal(loaded.tree_.n_passes, tree.n_passes)


def test_every_checkpoint_can_show_that_it_was_read() -> None:
    """Check that for each fit, some file shows that it is not just ignored."""
    shown = {
        entry["fit"]
        for entry in EXPECTED["checkpoints"]
        if entry["seconds"]
        or entry["results"]["best"]["callbacks"] < entry["callbacks_of_full_fit"]
        or "other-numbers" in entry["file"]
    }
    assert shown == set(FITS)


@by_file("models")
def test_a_model_file_is_read(entry: dict[str, Any]) -> None:
    found = expected_of(load(FILES / "models" / entry["file"]))
    assert found == of_instruction_set(entry["expected"])


@by_file("pickles")
def test_a_pickle_is_read(entry: dict[str, Any]) -> None:
    found = expected_of(unpickled(FILES / "pickles" / entry["file"]))
    assert found == of_instruction_set(entry["expected"])


@pytest.mark.parametrize("kind", ["models", "pickles"])
def test_a_model_goes_on_with_another_batch(kind: str) -> None:
    read = load if kind == "models" else unpickled
    entries = [entry for entry in EXPECTED[kind] if "another_batch" in entry]
    assert entries
    for entry in entries:
        found = after_another_batch(read(FILES / kind / entry["file"]))
        assert found == of_instruction_set(entry["another_batch"]), entry["file"]


def test_no_file_is_left_out() -> None:
    for kind in ("checkpoints", "models", "pickles"):
        listed = {entry["file"] for entry in EXPECTED[kind]}
        assert listed == {path.name for path in (FILES / kind).iterdir()}
    assert {entry["fit"] for entry in EXPECTED["checkpoints"]} == set(FITS)
    assert {Path(entry["file"]).stem for entry in EXPECTED["pickles"]} == {
        *MODELS,
        *QUANTIZERS,
        *OBJECTS,
    }
