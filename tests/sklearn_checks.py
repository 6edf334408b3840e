"""Checks of scikit-learn that are expected to fail for randomly initialized estimators."""

from typing import Any

REASON = (
    "the random initialization draws other rows when rows are repeated or removed, so that the run ends "
    "in another local optimum; scikit-learn lists the same exception for its KMeans"
)


NEGATIVE = "the rows of the check have negative values, despite the tag positive_only"


def expected_failures(estimator: Any) -> dict[str, str]:
    """Return the names of the checks that fail, and why."""
    found = {
        "check_sample_weight_equivalence_on_dense_data": REASON,
        "check_sample_weight_equivalence_on_sparse_data": REASON,
    }
    if estimator.__sklearn_tags__().input_tags.positive_only:
        found["check_clustering"] = NEGATIVE
    return found
