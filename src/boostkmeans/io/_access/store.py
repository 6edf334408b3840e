"""`Store`: interface between the readers of file formats and `Vectors`."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.io._access.binary_file import BinaryFile


class Store(ABC):
    """The rows of a file, in file order."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    """Type of the values that are returned, in the byte order of this machine."""
    is_sparse: bool = False
    is_mapped: bool = False
    """True if `load` returns a memory map."""
    feature_names: list[str] | None = None
    group_starts: list[int] | None = None
    """Rows at which groups of rows begin that are decoded as a whole, if the format has such groups."""
    held_ids: NDArray[Any] | None = None
    """Ids of all rows, if they are in memory."""
    counts_by_file: list[int] | None = None
    """Number of rows of each file, if the store has the rows of several files."""

    @property
    def row_counts(self) -> list[int]:
        """Number of rows of each file, in order."""
        return [self.shape[0]] if self.counts_by_file is None else self.counts_by_file

    @property
    def known_shape(self) -> tuple[int, int] | None:
        """Shape, or None if the file must be read first."""
        return self.shape

    @property
    def known_dtype(self) -> np.dtype[Any] | None:
        """Type of the values, or None if the file must be read first."""
        return self.dtype

    @property
    def known_sparse(self) -> bool | None:
        """Whether the rows are sparse, or None if the file must be read first."""
        return self.is_sparse

    @property
    def stored_bytes(self) -> int:
        """Number of bytes of all rows in memory."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def ids(self, begin: int, end: int) -> NDArray[Any]:
        """Return the ids of the rows from `begin` to `end` (excluded)."""
        if self.held_ids is None:
            raise NotImplementedError
        return self.held_ids[begin:end]

    def load_into(self, target: NDArray[Any]) -> None:
        """Read all rows into an array."""
        self.fill(0, target)

    def free_cache(self) -> None:  # noqa: B027  # most stores have no cache
        """Free memory that only makes the next read faster."""

    @abstractmethod
    def fill(self, begin: int, target: NDArray[Any]) -> None:
        """Read rows into a C-contiguous array of this dtype, starting with row `begin`."""

    def rows(self, begin: int, end: int) -> Any:
        """Return the rows from `begin` to `end` (excluded), as a new array or a CSR matrix."""
        target = np.empty((end - begin, self.shape[1]), dtype=self.dtype)
        self.fill(begin, target)
        return target

    @property
    def held_bytes(self) -> int:
        """Number of bytes that the store holds in memory, besides the rows that it returns."""
        return 0

    @abstractmethod
    def load(self) -> Any:
        """Return all rows."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""


class LazyStore(Store):
    """A store that is created on first use, because creating it takes a pass over the file.

    The shape, the type and the sparsity can be given if they are known in advance.
    """

    def __init__(
        self,
        name: str,
        create: Callable[[], Store],
        *,
        file: BinaryFile | None = None,
        shape: tuple[int, int] | None = None,
        dtype: np.dtype[Any] | None = None,
        is_sparse: bool | None = None,
        stored_bytes: int | None = None,
    ) -> None:
        self._name = name
        self._create = create
        self._file = file
        self._created: Store | None = None
        self._failure: Callable[[], Exception] | None = None
        self._lock = threading.Lock()
        self._shape = shape
        self._dtype = dtype
        self._is_sparse = is_sparse
        self._stored_bytes = stored_bytes

    @property
    def store(self) -> Store:
        """The wrapped store."""
        with self._lock:
            if self._failure is not None:
                raise self._failure()  # a pipe cannot be read again, and a damaged file stays damaged
            if self._created is None:
                try:
                    self._created = self._create()
                except ImportError:
                    raise  # nothing was read yet: a second attempt may succeed
                except BaseException as error:
                    self._remember(error)
                    raise
            return self._created

    def _remember(self, error: BaseException) -> None:
        """Store a function that raises the error again.

        The error object itself is not stored: its traceback would keep files and arrays alive.
        """
        if isinstance(error, DataFormatError):
            self._failure = partial(
                DataFormatError,
                error.problem,
                file=error.file,
                place=error.place,
                remedy=error.remedy,
            )
        else:
            why = f"{type(error).__name__} {error}".strip()
            self._failure = partial(
                OSError,
                f"{escape_untrusted(self._name)}: Reading was interrupted ({why}). Open the file again.",
            )
        if self._file is not None:
            self._file.close()

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Shape. The file is read if necessary."""
        return self._shape or self.store.shape

    @property
    def dtype(self) -> np.dtype[Any]:  # type: ignore[override]
        """Type of the values. The file is read if necessary."""
        return self._dtype or self.store.dtype

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        """True if the rows are sparse. The file is read if necessary."""
        return self.store.is_sparse if self._is_sparse is None else self._is_sparse

    @property
    def is_mapped(self) -> bool:  # type: ignore[override]
        """True if the wrapped store returns a memory map."""
        return self.store.is_mapped

    @property
    def feature_names(self) -> list[str] | None:  # type: ignore[override]
        """Names of the columns. Arrays whose shape is known in advance have no names."""
        return None if self._shape else self.store.feature_names

    @property
    def known_shape(self) -> tuple[int, int] | None:
        """Shape, or None if the file must be read first."""
        return self._shape

    @property
    def known_dtype(self) -> np.dtype[Any] | None:
        """Type of the values, or None if the file must be read first."""
        return self._dtype

    @property
    def known_sparse(self) -> bool | None:
        """Whether the rows are sparse, or None if the file must be read first."""
        return self._is_sparse

    @property
    def stored_bytes(self) -> int:
        """Number of bytes of all rows in memory. The file is read if necessary."""
        if self._stored_bytes is not None:
            return self._stored_bytes
        is_known = self._is_sparse is False and self._shape is not None and self._dtype is not None
        return super().stored_bytes if is_known else self.store.stored_bytes

    @property
    def row_counts(self) -> list[int]:
        """Number of rows of each file. The files are read if necessary."""
        return [self._shape[0]] if self._shape else self.store.row_counts

    def ids(self, begin: int, end: int) -> NDArray[Any]:
        """Delegate to the wrapped store."""
        return self.store.ids(begin, end)

    @property
    def held_bytes(self) -> int:
        """Size of all rows: the wrapped store may hold them in memory."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def fill(self, begin: int, target: NDArray[Any]) -> None:
        """Delegate to the wrapped store."""
        self.store.fill(begin, target)

    def rows(self, begin: int, end: int) -> Any:
        """Delegate to the wrapped store."""
        return self.store.rows(begin, end)

    def load(self) -> Any:
        """Delegate to the wrapped store."""
        return self.store.load()

    def close(self) -> None:
        """Close the file, and the wrapped store if it was created."""
        if self._file is not None:
            self._file.close()
        if self._created is not None:
            self._created.close()
