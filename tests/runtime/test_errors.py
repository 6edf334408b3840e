"""Structured errors: one rendering for Python, one for the shell."""

import pickle

import numpy as np
import pytest

from boostkmeans import BoostKMeans, ProductQuantizer
from boostkmeans._runtime.errors import (
    ChoiceError,
    DataFormatError,
    EmptyDataError,
    FeatureCountError,
    InvalidValuesError,
    Message,
    NotFiniteError,
    Parameter,
    ParameterConflictError,
    ParameterError,
    StructuredError,
    TooFewRowsError,
)

X = np.random.default_rng(0).normal(size=(20, 4))


def option(parameter: str) -> str:
    return f"--{parameter}"


def test_message_renders_parameters_and_values() -> None:
    message = Message("{key} of {name}", key=Parameter("key", "a"), name="{x}")
    assert message.render() == "key='a' of {x}"
    assert message.render(option) == "--key a of {x}"
    assert Message("python", shell="shell").render(option) == "shell"


@pytest.mark.parametrize(
    ("error", "python", "shell"),
    [
        (
            ParameterError("tol", "positive", -1, owner="BoostKMeans", remedy="Raise it."),
            "The 'tol' parameter of BoostKMeans must be positive. Got -1 instead. Raise it.",
            "--tol must be positive. Got -1. Raise it.",
        ),
        (
            ParameterError("init", "of shape (2, 3)", np.zeros(5)),
            "init must be of shape (2, 3). Got an array of shape (5,) and type float64.",
            "--init must be of shape (2, 3). Got an array of shape (5,) and type float64.",
        ),
        (
            ParameterConflictError("No.", remedy=Message("Use {a}.", a=Parameter("a"))),
            "No. Use a.",
            "No. Use --a.",
        ),
        (
            TooFewRowsError(1000, 1001),
            "n_samples=1000 should be >= n_clusters=1001.",
            "--n_clusters 1001 is more than the 1,000 rows of x.npy.",
        ),
        (
            DataFormatError("Bad.", file="y", place="line 3", remedy="Fetch it."),
            "y: line 3: Bad. Fetch it.",
            "y: line 3: Bad. Fetch it.",
        ),
        (
            ChoiceError("Which?", ["a"], remedy=Message("{k}.", k=Parameter("key", "a"))),
            "Which? key='a'.",
            "Which? --key a.",
        ),
        (
            EmptyDataError((0, 4), "BoostKMeans"),
            "Found array with 0 sample(s) (shape=(0, 4)) while a minimum of 1 is required by "
            "BoostKMeans.",
            "x.npy: there are no rows.",
        ),
        (
            FeatureCountError(7, 5, "BoostKMeans"),
            "X has 7 features, but BoostKMeans is expecting 5 features as input.",
            "x.npy has 7 features, and m.st has 5. They must be the same.",
        ),
        (
            NotFiniteError(float("nan"), 3, 1),
            "Input X contains NaN (first at row 3, column 1). Boost k-means needs finite values: "
            "remove or impute such rows first.",
            "x.npy: Input X contains NaN (first at row 3, column 1). Boost k-means needs finite "
            "values: remove or impute such rows first.",
        ),
    ],
)
def test_errors_are_rendered_for_python_and_the_shell(
    error: StructuredError, python: str, shell: str
) -> None:
    assert str(error) == error.render() == python
    error.source, error.model = "x.npy", "m.st"
    assert error.render(option) == shell
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.render(option)) == (type(error), python, shell)


@pytest.mark.parametrize(
    ("weights", "kind", "shell"),
    [
        (np.ones(3), ParameterConflictError, "--sample_weight has 3 values for 20 rows"),
        (np.full(20, -1.0), InvalidValuesError, "Negative weights in --sample_weight: -1 at row 0"),
        (np.full(20, np.inf), InvalidValuesError, "--sample_weight contains NaN or infinity"),
        (np.zeros(20), InvalidValuesError, "All weights of --sample_weight are 0"),
        (np.eye(20)[0], ParameterConflictError, "--n_clusters 3 is more than the number of rows"),
    ],
)
def test_invalid_weights(weights: np.ndarray, kind: type[StructuredError], shell: str) -> None:
    with pytest.raises(kind) as raised:
        BoostKMeans(3).fit(X, sample_weight=weights)
    assert shell in raised.value.render(option)


@pytest.mark.parametrize(
    ("init", "kind", "shell"),
    [
        (np.zeros((2, 4)), ParameterConflictError, "--init has 2 centres of 4 features"),
        (np.full((3, 4), np.nan), InvalidValuesError, "The centres of --init contain NaN"),
    ],
)
def test_invalid_centres(init: np.ndarray, kind: type[StructuredError], shell: str) -> None:
    with pytest.raises(kind) as raised:
        BoostKMeans(3, init=init).fit(X)
    assert shell in raised.value.render(option)


def test_invalid_sizes() -> None:
    for limits, shell in (
        ({"min_size": 5, "max_size": 2}, "--min_size 5 is more than --max_size 2."),
        ({"max_size": 2}, "--n_clusters * --max_size = 6 should be >= the number of rows = 20"),
        ({"min_size": 9}, "--n_clusters * --min_size = 27 should be <= the number of rows = 20"),
    ):
        with pytest.raises(ParameterConflictError) as raised:
            BoostKMeans(3).set_params(**limits).fit(X)
        assert shell in raised.value.render(option)


def test_invalid_shapes() -> None:
    with pytest.raises(TooFewRowsError):
        BoostKMeans(21).fit(X)
    with pytest.raises(EmptyDataError):
        BoostKMeans(3).fit(X[:0])
    with pytest.raises(FeatureCountError):
        BoostKMeans(3).fit(X).predict(X[:, :3])
    with pytest.raises(ParameterError) as raised:
        ProductQuantizer(3, 4).fit(X)
    assert "--n_subspaces must be a divisor of the number of features (4)." in raised.value.render(
        option
    )
    with pytest.raises(TooFewRowsError) as too_few:
        ProductQuantizer(2, 21).fit(X)
    assert "--n_centroids 21 is more than the 20 rows." in too_few.value.render(option)


def test_shell_messages_do_not_mention_none() -> None:
    with pytest.raises(ParameterError) as raised:
        BoostKMeans(3, max_time=-1).fit(X)
    assert "must be None or a float in the range (0, inf)" in str(raised.value)
    assert raised.value.render(option) == "--max_time must be a number above 0. Got -1."
