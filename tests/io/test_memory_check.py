"""`check_memory`: rows and centres compared with the memory limit."""

from pathlib import Path

import numpy as np
import pytest

from boostkmeans.io import check_memory, open_vectors


def test_check_memory(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((100_000, 64), dtype=np.float32))
    with open_vectors(tmp_path / "x.npy") as unlimited:
        check_memory(unlimited, 10**9, 10**9)
    with open_vectors(tmp_path / "x.npy", max_memory="280MiB") as vectors:
        check_memory(vectors, 100)
        with pytest.raises(
            MemoryError, match=r"100,000 rows and 100 clusters of 64 .* limit is 280 MiB"
        ):
            check_memory(vectors, 100, 100_000)
        with pytest.raises(MemoryError, match=r"^100,000 clusters of 64 features need at least"):
            check_memory(vectors, 100_000)
