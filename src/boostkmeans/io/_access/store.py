"""`Store`: what each format gives to `Vectors`, which makes all the rest of it."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.io._access.binary_file import BinaryFile


class Store(ABC):
    """Rows of a file, in the order in which they are there."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    """Of what is read, in the byte order of this machine."""
    is_sparse: bool = False
    is_mapped: bool = False
    feature_names: list[str] | None = None

    @abstractmethod
    def fill(self, begin: int, target: NDArray[Any]) -> None:
        """Reads the rows from `begin` on into a C-contiguous array of this dtype."""

    def rows(self, begin: int, end: int) -> Any:
        """Some rows, as a new array or as CSR."""
        target = np.empty((end - begin, self.shape[1]), dtype=self.dtype)
        self.fill(begin, target)
        return target

    @property
    def held_bytes(self) -> int:
        """What reading keeps in memory beside the rows that it returns."""
        return 0

    @abstractmethod
    def load(self) -> Any:
        """All rows."""

    @abstractmethod
    def close(self) -> None:
        """Lets go of the file."""


class LazyStore(Store):
    """A store that takes a pass over the file to make. Of some, shape and dtype are known before."""

    def __init__(
        self,
        name: str,
        make: Callable[[], Store],
        *,
        file: BinaryFile | None = None,
        shape: tuple[int, int] | None = None,
        dtype: np.dtype[Any] | None = None,
        is_sparse: bool | None = None,
    ) -> None:
        self._name, self._make, self._file = name, make, file
        self._made: Store | None = None
        self._failure: Callable[[], Exception] | None = None
        self._lock = threading.Lock()
        self._shape, self._dtype = shape, dtype
        self._is_sparse = is_sparse

    @property
    def store(self) -> Store:
        """The true one."""
        with self._lock:
            if self._failure is not None:
                raise self._failure()  # a pipe cannot be read again, and no file gets better
            if self._made is None:
                try:
                    self._made = self._make()
                except ImportError:
                    raise  # before anything was read
                except BaseException as error:
                    self._remember(error)
                    raise
            return self._made

    def _remember(self, error: BaseException) -> None:
        """Its text only: the error itself holds on to all that was open when it was raised."""
        if isinstance(error, DataFormatError):
            self._failure = partial(DataFormatError, str(error))
        else:
            why = f"{type(error).__name__} {error}".strip()
            self._failure = partial(
                OSError, f"{self._name}: reading was interrupted ({why}): open it again."
            )
        if self._file is not None:
            self._file.close()

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Known, or found by reading all."""
        return self._shape or self.store.shape

    @property
    def dtype(self) -> np.dtype[Any]:  # type: ignore[override]
        """Known, or found by reading all."""
        return self._dtype or self.store.dtype

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        """Known, or found by reading all."""
        return self.store.is_sparse if self._is_sparse is None else self._is_sparse

    @property
    def is_mapped(self) -> bool:  # type: ignore[override]
        """What was put down once is mapped."""
        return self.store.is_mapped

    @property
    def feature_names(self) -> list[str] | None:  # type: ignore[override]
        """Of a table. An array, whose shape is known, has none."""
        return None if self._shape else self.store.feature_names

    @property
    def held_bytes(self) -> int:
        """What was put down may be in memory."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def fill(self, begin: int, target: NDArray[Any]) -> None:
        """As the true one."""
        self.store.fill(begin, target)

    def rows(self, begin: int, end: int) -> Any:
        """As the true one."""
        return self.store.rows(begin, end)

    def load(self) -> Any:
        """As the true one."""
        return self.store.load()

    def close(self) -> None:
        """Closes the true one, if there is one yet, and what it was to be made of."""
        if self._file is not None:
            self._file.close()
        if self._made is not None:
            self._made.close()
