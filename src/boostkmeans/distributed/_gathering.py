"""Labels of all rows as one array in this process."""

from typing import Any

import numpy as np

from boostkmeans._steps.partition import Labels
from boostkmeans.distributed._dask_outputs import computed_array
from boostkmeans.distributed._outputs import LABEL


def gathered(labels: Any) -> Labels:
    """Copy labels to this process.

    Parameters
    ----------
    labels : dask array, Ray Dataset, list or ndarray
        Labels in the form that a fit returns.

    Returns
    -------
    labels : ndarray of int32
        Labels of all rows.
    """
    if isinstance(labels, np.ndarray):
        return labels
    if hasattr(labels, "dask"):
        found: Labels = np.asarray(computed_array(labels), dtype=np.int32)
        return found
    if hasattr(labels, "iter_batches"):
        parts = [batch[LABEL] for batch in labels.iter_batches(batch_format="numpy", batch_size=None)]
        return np.concatenate([np.asarray(part, dtype=np.int32) for part in parts])
    parts = list(labels)
    if parts and not isinstance(parts[0], np.ndarray):
        import ray

        parts = ray.get(parts)
    return np.concatenate([np.asarray(part, dtype=np.int32) for part in parts])
