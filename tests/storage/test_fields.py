"""Typed access to the fields of untrusted JSON objects and states."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from boostkmeans import DataFormatError
from boostkmeans._storage import strict_json
from boostkmeans._storage.fields import Fields, encode_number
from boostkmeans._storage.state import SavedState, join_arrays, split_arrays

VALUES: dict[str, Any] = {
    "text": "a",
    "count": 3,
    "flag": True,
    "share": 0.5,
    "infinite": "inf",
    "list": [1],
    "object": {"x": 1},
    "objects": [{"x": 1}, {"x": 2}],
    "nothing": None,
}
FIELDS = Fields("f", "header", VALUES)
STATE = SavedState(
    "f", "state", {**VALUES, "array": np.arange(6.0).reshape(2, 3), "bad": np.array([1, -1])}
)


def test_fields_of_the_right_type() -> None:
    assert FIELDS.string("text") == FIELDS.string("text", ("a", "b")) == "a"
    assert FIELDS.integer("count") == FIELDS.integer("count", 3, 3) == 3
    assert FIELDS.boolean("flag") is True
    assert FIELDS.number("share") == 0.5
    assert FIELDS.number("count") == 3.0
    assert FIELDS.number("infinite") == math.inf
    assert FIELDS.items("list") == [1]
    assert FIELDS.child("object").integer("x") == 1
    assert [one.integer("x") for one in FIELDS.children("objects")] == [1, 2]


@pytest.mark.parametrize(
    ("read", "place", "problem"),
    [
        (lambda: FIELDS.string("count"), "header.count", "Expected a string. Got 3."),
        (lambda: FIELDS.string("text", ("b",)), "header.text", "Expected one of 'b'. Got 'a'."),
        (lambda: FIELDS.integer("flag"), "header.flag", "Expected an integer from 0"),
        (lambda: FIELDS.integer("count", 4), "header.count", "Expected an integer from 4"),
        (lambda: FIELDS.integer("share"), "header.share", "Got 0.5."),
        (lambda: FIELDS.boolean("count"), "header.count", "Expected true or false. Got 3."),
        (lambda: FIELDS.number("text"), "header.text", "Expected a number"),
        (lambda: FIELDS.number("flag"), "header.flag", "Expected a number"),
        (lambda: FIELDS.items("object"), "header.object", "Expected a list. Got {'x': 1}."),
        (lambda: FIELDS.child("list"), "header.list", "Expected an object. Got [1]."),
        (lambda: FIELDS.children("list"), "header.list[0]", "Expected an object. Got 1."),
        (lambda: FIELDS.integer("absent"), "header", "The field 'absent' is missing."),
        (lambda: Fields.of("f", "header", [1]), "header", "Expected an object. Got [1]."),
        (lambda: STATE.child("nothing"), "state.nothing", "Expected an object. Got None."),
        (lambda: STATE.array("absent", float, (1,)), "state.absent", "Got None."),
        (lambda: STATE.array("array", int, (2, 3)), "state.array", "Got an array of float64, 2 x 3."),
        (lambda: STATE.array("array", float, (2, 4)), "state.array", "an array of float64, 2 x 4."),
        (lambda: STATE.array("bad", int, (None,), 0), "state.bad", "values of at least 0. Got -1."),
        (lambda: STATE.array("bad", int, (None,), -1, 0), "state.bad", "values of at most 0. Got 1."),
    ],
)
def test_fields_of_other_types(read: Callable[[], Any], place: str, problem: str) -> None:
    with pytest.raises(DataFormatError) as error:
        read()
    assert (error.value.file, error.value.place) == ("f", place)
    assert problem in str(error.value.problem)
    remedy = "Remove the file to start over" if place.startswith("state") else "Copy the file again"
    assert error.value.remedy.startswith(remedy)  # type: ignore[union-attr]


def test_state_is_restored_from_json_and_arrays() -> None:
    state = {"a": np.arange(3), "b": {"c": np.eye(2), "d": [math.inf, np.int64(4)], "e": None}, "f": "x"}
    plain, arrays = split_arrays(state)
    assert sorted(arrays) == ["a", "b.c"]
    assert strict_json.parse(strict_json.write(plain)) == plain
    joined = join_arrays(plain, arrays)
    saved = SavedState("f", "state", joined)
    assert saved.array("a", np.int64, (3,)).tolist() == [0, 1, 2]
    assert saved.child("b").array("c", float, (2, 2)).tolist() == [[1, 0], [0, 1]]
    assert saved.child("b").items("d") == ["inf", 4]
    assert saved.optional_child("absent") is None
    assert saved.child("b").optional_child("e") is None


def test_array_inside_a_plain_field_is_rejected() -> None:
    with pytest.raises(ValueError, match=r"'a\.b' is inside a field that is not an object"):
        join_arrays({"a": 1}, {"a.b": np.zeros(1)})


@pytest.mark.parametrize("value", [0.0, -0.1, 1e-320, 1e308, math.inf, -math.inf, math.nan])
def test_numbers_are_restored(value: float) -> None:
    text = strict_json.write({"x": encode_number(value)})
    fields = Fields("f", "header", strict_json.parse(text))
    if value == -math.inf:  # sums of squares are never negative
        with pytest.raises(DataFormatError):
            fields.number("x")
    else:
        assert np.array_equal(fields.number("x"), value, equal_nan=True)


@pytest.mark.parametrize(
    ("value", "accepted"), [(0, True), (2.5, True), ("inf", True), (-1, False), ("nan", False)]
)
def test_non_negative(value: Any, accepted: bool) -> None:
    state = SavedState("f", "state", {"x": value})
    if accepted:
        assert state.non_negative("x") == float(value)
    else:
        with pytest.raises(DataFormatError, match="at least 0"):
            state.non_negative("x")


def test_array_must_be_finite_without_limits() -> None:
    state = SavedState("f", "state", {"x": np.array([1.0, np.inf])})
    with pytest.raises(DataFormatError, match=r"Expected finite values\. Got inf\."):
        state.array("x", float, (2,))
    assert state.array("x", float, (2,), 0).tolist() == [1.0, np.inf]
