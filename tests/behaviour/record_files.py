"""Write the files of version 0.7.0 that every later version must read. Run it with 0.7.0 only.

    python tests/behaviour/record_files.py

It looks into private parts of 0.7.0 to catch a checkpoint of every stage and phase. The tests do not.
"""

import gzip
import json
import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import joblib
import numpy as np
from record import environment
from stored_objects import (
    MODELS,
    MODELS_TO_GO_ON_WITH,
    OBJECTS,
    QUANTIZERS,
    after_another_batch,
    expected_of,
    load,
    unpickled,
)

import boostkmeans
from stored import FILES, FITS, VERSION, StoredFit, result_of, resumed

State = dict[str, Any]

# Private modules of 0.7.0, which later versions need not have: so they are imported by name.
_checkpoint: Any = import_module("boostkmeans._checkpoint")
_fitting: Any = import_module("boostkmeans._fitting")
_candidates: Any = import_module("boostkmeans._candidates")
_state: Any = import_module("boostkmeans._state")
_tensor_file: Any = import_module("boostkmeans._tensor_file")


# Checkpoints of a fit, at most; fewer, if the others show nothing new; and one if they are large.
MOST_OF_A_FIT = 3
LARGE_FILES = ("candidates-auto", "sparse-kept", "sparse-kept-weights", "tree-sparse")
# Fits with several stages, and what is of interest about these.
OF_EACH_STAGE = ("sample", "streamed", "tree-streamed")
STAGES = frozenset({"stage growth", "stage sample", "stage sweeps", "within a sweep", "a later run"})
# Files above this size are not written twice, as they are and with other random numbers.
MOST_BYTES_TO_WRITE_TWICE = 16_000
# The seed of the random numbers that a changed checkpoint goes on with.
OTHER_SEED = 99


def traits_of(state: State) -> frozenset[str]:
    """Return what is special about a checkpoint."""
    if "stage" not in state:
        return frozenset({"finished"})
    stage = state["stage"]
    found = {f"stage {stage}"}
    if state["n_done"]:
        found.add("a later run")
    if stage == "growth":
        return frozenset(found)
    fit, course = state[stage]["fit"], state[stage]["course"]
    found.add(f"phase {course['phase']}")
    names = {
        "no record yet": not fit["history"],
        "best partition": fit["best"] is not None,
        "best labels": fit["best"] is not None and "labels" in fit["best"],
        "exchange": fit["exchange"],
        "annealed": course["annealed"] > 0,
        "swapped": course["_swapped"],
        "imposed": bool(course["_imposed"]),
        "quiet": course["_quiet_sweeps"] > 0,
        "tree": fit.get("tree") is not None,
        "within a sweep": fit["so_far"] is not None,
    }
    found |= {name for name, holds in names.items() if holds}
    candidates = fit["candidates"]
    if candidates is not None:
        found.add("outdated lists" if candidates["_outdated"] else "lists")
        for flag in ("everywhere", "_by_runner_up", "_last_resort"):
            if candidates.get(flag):
                found.add(flag.strip("_").replace("_", " "))
    return frozenset(found)


@contextmanager
def caught(states: list[State]) -> Iterator[None]:
    """Append every state that is written within the block, at once and not only now and then."""
    write, share = _checkpoint.Keeper._write, _checkpoint.MOST_SHARE

    def write_and_catch(self: Any, state: State) -> None:
        write(self, state)
        header, arrays = _state.split_arrays(state)
        states.append(_state.join_arrays(header, {name: array.copy() for name, array in arrays.items()}))

    _checkpoint.Keeper._write, _checkpoint.MOST_SHARE = write_and_catch, 1e12
    try:
        yield
    finally:
        _checkpoint.Keeper._write, _checkpoint.MOST_SHARE = write, share


def chosen(name: str, states: list[State], seen: set[frozenset[str]]) -> list[int]:
    """Return the numbers of states to write: of each stage, or of each combination of traits."""
    by_traits: dict[frozenset[str], list[int]] = {}
    if name.startswith(OF_EACH_STAGE):
        for i, state in enumerate(states[:-1]):
            by_traits.setdefault(traits_of(state) & STAGES, []).append(i)
        return sorted(numbers[len(numbers) // 2] for numbers in by_traits.values())
    for i, state in enumerate(states):
        by_traits.setdefault(traits_of(state), []).append(i)
    new = [(traits, numbers) for traits, numbers in by_traits.items() if traits not in seen]
    # Traits that were never seen first; then rare ones.
    known = frozenset().union(*seen)
    new.sort(key=lambda item: (-len(item[0] - known), len(item[1])))
    most = 1 if name in LARGE_FILES else MOST_OF_A_FIT
    picked = [numbers[len(numbers) // 2] for _, numbers in new[:most]] or [len(states) // 2]
    seen |= {traits_of(states[i]) for i in picked}
    return sorted(picked)


def with_other_numbers(state: State) -> State:
    """Return a state that goes on with other random numbers.

    Its end shows that the state itself was read: a fit that starts over, with the numbers of the run or
    with those of `random_state`, ends elsewhere.
    """
    numbers = _checkpoint.random_state(np.random.RandomState(OTHER_SEED))
    if state["stage"] == "growth":
        return {**state, "rng_of_run": numbers}
    return {**state, state["stage"]: {**state[state["stage"]], "rng": numbers}}


def of_an_older_version(state: State) -> State:
    """Return a state without what versions before 0.7 did not write."""
    stage = state["stage"]
    fit = state[stage]["fit"]
    kept = {name: value for name, value in fit["candidates"].items() if name not in _candidates.NEW}
    return {**state, stage: {**state[stage], "fit": {**fit, "candidates": kept}}}


def seconds_in(state: State) -> list[float]:
    """Return the times of all records in a state."""
    parts = [state.get("best"), state.get("sweeps", {}).get("fit")]
    return [record["seconds"] for part in parts if part for record in part["history"]]


def in_turn() -> Iterator[str]:
    """Set each instruction set in turn, and the best one last."""
    for isa in boostkmeans.instruction_sets():
        os.environ["BOOSTKMEANS_ISA"] = isa
        yield isa


def by_instruction_set(call: Callable[[], Any]) -> dict[str, Any]:
    """Return what a call gives with the best instruction set, and where others differ from it."""
    found = {isa: call() for isa in in_turn()}
    best = found[boostkmeans.instruction_set()]
    return {"best": best, **{isa: other for isa, other in found.items() if other != best}}


def write_checkpoints() -> list[dict[str, Any]]:
    """Write some checkpoints of every fit."""
    (FILES / "checkpoints").mkdir(parents=True)
    seen: set[frozenset[str]] = set()
    entries = []
    for name, fit in FITS.items():
        entries += checkpoints_of(name, fit, seen)
    return entries


def checkpoints_of(name: str, fit: StoredFit, seen: set[frozenset[str]]) -> list[dict[str, Any]]:
    """Write some checkpoints of a fit."""
    states: list[State] = []
    records: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "state")
        full = result_of(fit.run(Path(folder), None, records.append))
        with caught(states):
            assert result_of(fit.run(Path(folder), path)) == full
    entries = []
    for i in chosen(name, states, seen):
        own = checkpoint(f"{name}-{i}", name, fit, states[i])
        assert without_callbacks(own) == full, own
        entries.append(own)
        if not own["seconds"] and own["results"]["best"]["callbacks"] == len(records):
            other = checkpoint(f"{name}-{i}-other-numbers", name, fit, with_other_numbers(states[i]))
            entries.append(other)
            if without_callbacks(other) == full:  # it does not prove anything
                remove(entries, other)
            elif size_of(own) > MOST_BYTES_TO_WRITE_TWICE:
                remove(entries, own)
    if name == "long-annealing":  # of very large partitions, the labels of the best one alone are kept
        with mock.patch.object(_fitting, "LARGE", 0), tempfile.TemporaryDirectory() as folder:
            states.clear()
            with caught(states):
                fit.run(Path(folder), Path(folder, "state"))
        entries.append(checkpoint(f"{name}-25-large", name, fit, states[25]))
        assert without_callbacks(entries[-1]) == full
        assert "best labels" in entries[-1]["traits"]
    if name == "candidates":
        i = max(i for i, state in enumerate(states) if "lists" in traits_of(state))
        older = of_an_older_version(states[i])
        entries.append(checkpoint(f"{name}-{i}-before-0.7", name, fit, older))
    for entry in entries:
        entry["callbacks_of_full_fit"] = len(records)
        proof = "seconds" if entry["seconds"] else "callbacks"
        if not entry["seconds"] and entry["results"]["best"]["callbacks"] >= len(records):
            proof = "other-numbers" if "other-numbers" in entry["file"] else "NONE"
        print(f"{entry['file']}: {', '.join(entry['traits'])}; proof: {proof}")
    return entries


def remove(entries: list[dict[str, Any]], entry: dict[str, Any]) -> None:
    """Remove an entry and its file."""
    (FILES / "checkpoints" / entry["file"]).unlink()
    entries.remove(entry)


def size_of(entry: dict[str, Any]) -> int:
    """Return how large the file of an entry is."""
    return int((FILES / "checkpoints" / entry["file"]).stat().st_size)


def without_callbacks(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the result of an entry as `result_of` gives it."""
    return {name: value for name, value in entry["results"]["best"].items() if name != "callbacks"}


def checkpoint(stem: str, name: str, fit: StoredFit, state: State) -> dict[str, Any]:
    """Write a checkpoint; return what 0.7.0 makes of it."""
    path = FILES / "checkpoints" / f"{stem}.safetensors.gz"
    header, arrays = _state.split_arrays(state)
    with tempfile.TemporaryDirectory() as folder:
        kind = _checkpoint.FORMAT, _checkpoint.VERSION
        _tensor_file.write_tensors(Path(folder, "state"), *kind, header, arrays)
        path.write_bytes(gzip.compress(Path(folder, "state").read_bytes(), 9, mtime=0))
    known = set(seconds_in(state))
    seconds: list[float] = []

    def resume() -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            model, result = resumed(fit, path, Path(folder))
        seconds[:] = [record.seconds for record in model.history_ if record.seconds in known]
        return result

    results = by_instruction_set(resume)  # the best one is last, and so are its seconds
    return {
        "file": path.name,
        "fit": name,
        "traits": sorted(traits_of(state)),
        "seconds": seconds,
        "results": results,
    }


def write_models() -> list[dict[str, Any]]:
    """Write a model file of every kind of estimator."""
    (FILES / "models").mkdir(parents=True)
    paths = []
    for name, make in {**MODELS, **QUANTIZERS}.items():
        paths.append(FILES / "models" / f"{name}.safetensors")
        make().save(paths[-1])
    paths.append(FILES / "models" / "without-labels.safetensors")
    MODELS["boost"]().save(paths[-1], labels=False)
    return [entry_of(path, load) for path in paths]


def write_pickles() -> list[dict[str, Any]]:
    """Write a pickle of every kind of object, and some by joblib."""
    (FILES / "pickles").mkdir(parents=True)
    paths = []
    for name, make in {**MODELS, **QUANTIZERS, **OBJECTS}.items():
        paths.append(FILES / "pickles" / f"{name}.pickle")
        paths[-1].write_bytes(pickle.dumps(make(), protocol=4))
    for name in ("boost", "bisecting", "quantizer"):
        paths.append(FILES / "pickles" / f"{name}.joblib")
        joblib.dump({**MODELS, **QUANTIZERS}[name](), paths[-1])
    return [entry_of(path, unpickled) for path in paths]


def entry_of(path: Path, read: Callable[[Path], Any]) -> dict[str, Any]:
    """Return what the object in a file must give."""
    entry = {"file": path.name, "expected": by_instruction_set(lambda: expected_of(read(path)))}
    if path.stem in MODELS_TO_GO_ON_WITH:
        entry["another_batch"] = by_instruction_set(lambda: after_another_batch(read(path)))
    return entry


def main() -> None:
    """Write everything anew."""
    if boostkmeans.__version__ != VERSION:
        sys.exit(f"These are files of {VERSION}, and this is {boostkmeans.__version__}.")
    shutil.rmtree(FILES, ignore_errors=True)
    expected = {
        "environment": environment(),
        "instruction_sets": boostkmeans.instruction_sets(),
        "checkpoints": write_checkpoints(),
        "models": write_models(),
        "pickles": write_pickles(),
    }
    (FILES / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
    total = sum(path.stat().st_size for path in FILES.rglob("*") if path.is_file())
    print(f"{len(list(FILES.rglob('*.*')))} files, {total:,} bytes")


if __name__ == "__main__":
    main()
