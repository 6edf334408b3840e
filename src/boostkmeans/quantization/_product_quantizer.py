"""`ProductQuantizer`: short codes for vectors, and search among them (Jégou, Douze, Schmid 2011)."""

import os
import time
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from boostkmeans._data.rows import Array, Floats, describe
from boostkmeans._data.streamed_rows import RowSource, in_batches
from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._estimators.input import RowInput
from boostkmeans._runtime.errors import (
    Message,
    NotFiniteError,
    Parameter,
    ParameterConflictError,
    TooFewRowsError,
)
from boostkmeans._runtime.parameter_checks import ParameterChecker
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress, visible_log
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans.quantization import _codes, _rotation
from boostkmeans.quantization._codes import MOST_CENTROIDS, Codebooks, Codes, Neighbors
from boostkmeans.quantization._record import Notes, QuantizerRecord
from boostkmeans.quantization._training import Training

# Rounds of rotation=True.
ROUNDS = 20
# Of the clusterer that is used if none is given: see "Training of product quantizers" in
# docs/benchmarks.md.
QUALITY, TOL = "fast", 1e-3
# At least so many bytes are read from a file at a time, to be encoded.
BATCH_BYTES = 2**25


class ProductQuantizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RowInput):
    """Codes of a few bytes for each row: the numbers of the nearest centroids of its parts.

    Features are divided into `n_subspaces` of the same width, and the rows are clustered in each of
    them. Use it to keep many vectors in little memory and to search among them; `boostkmeans.interop`
    hands it to faiss. Do not use it where the distances have to be exact.

    Parameters
    ----------
    n_subspaces : int, default=8
        Subspaces, and so numbers in a code. Must divide the number of features.
    n_centroids : int, default=256
        Centroids of each subspace, up to 65,536. Codes are uint8 up to 256, and uint16 above.
    clusterer : estimator, default=None
        What clusters the rows of a subspace: `BoostKMeans` or `BisectingBoostKMeans` with any setting,
        one of `boostkmeans.baselines`, or any estimator like them. It is cloned, and its `n_clusters`,
        and `random_state` and `n_threads` if they are None, are set. None: BoostKMeans(quality="fast",
        tol=1e-3).
    rotation : bool or int, default=False
        Whether rows are rotated first, by a rotation that is learned with the codebooks ("optimised"
        product quantization): the rounds of that; True stands for 20.
    callback : callable, default=None
        Called as `callback(record)` with a `QuantizerRecord` after each round of rotation and for each
        subspace that is ready, from any thread.
    random_state : int, RandomState or None, default=None
        An int gives the same result every time, on any number of threads.
    n_threads : int, default=None
        Threads of each call. None: all processors that this process may use. Subspaces are trained at
        the same time, as many as there are threads, if the clusterer is one of ours.
    verbose : int, default=0
        Above 0, progress goes to the logger "boostkmeans", and to stderr if logging is not set up.

    Attributes
    ----------
    codebooks_ : array (n_subspaces, n_centroids, features of a subspace) of float32
        The centroids.
    rotation_ : array (d, d) of float64, or None
        Rows are multiplied with it from the right before they are encoded.
    distortions_ : array (n_subspaces,) of float64
        Mean squared distances of the rows to their centroids in each subspace.
    distortion_ : float
        Their sum: the mean squared error of the rows that it was fitted to.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans import ProductQuantizer
    >>> X = np.random.default_rng(0).normal(size=(1000, 16)).astype(np.float32)
    >>> quantizer = ProductQuantizer(n_subspaces=4, n_centroids=32, random_state=0).fit(X)
    >>> codes = quantizer.encode(X)
    >>> codes.shape, codes.dtype
    ((1000, 4), dtype('uint8'))
    >>> distances, indices = quantizer.search(X[:2], codes, k=3)
    >>> indices.shape
    (2, 3)
    """

    _takes_sparse = False
    _made_by_fit = "codebooks_"

    codebooks_: Codebooks
    rotation_: Floats | None
    distortions_: Floats
    distortion_: float

    def __init__(
        self,
        n_subspaces: int = 8,
        n_centroids: int = 256,
        *,
        clusterer: Any = None,
        rotation: bool | int = False,
        callback: Callable[[QuantizerRecord], None] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_threads: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_subspaces = n_subspaces
        self.n_centroids = n_centroids
        self.clusterer = clusterer
        self.rotation = rotation
        self.callback = callback
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learns codebooks from the rows of X; `y` is ignored.

        What `boostkmeans.io.open_vectors` gives is taken too, and loaded as a whole.
        """
        began = time.perf_counter()
        self._check_parameters()
        with self._input_kept_if_it_fails():
            return self._fit(X, began)

    def _fit(self, X: ArrayLike, began: float) -> Self:
        array = self._validate(X, reset=True)
        self._check_shape(array)
        threads = resolve_threads(self.n_threads)
        rng = check_random_state(self.random_state)
        seeds = [int(seed) for seed in rng.randint(2**31 - 1, size=self.n_subspaces)]
        notes = Notes(self.callback, began)
        training = Training(
            self._trainer(), self.n_centroids, seeds, threads, notes.trained(self.n_subspaces)
        )
        rotation = None
        with visible_log(max(self.verbose, getattr(self.clusterer, "verbose", 0))):
            if self._n_rounds:
                describe(array, None, threads)  # raises if a value is not finite
                rounds = notes.rotated(self._n_rounds)
                rotation = _rotation.learn(array, training, self._n_rounds, rng, rounds)
                array = _rotation.rotated(array, rotation)
            try:
                codebooks, distortions = training.run(array)
            except NotFiniteError:
                describe(array, None, threads)  # says where it is among all columns
                raise
        self.__dict__.update(
            codebooks_=codebooks,
            rotation_=rotation,
            distortions_=distortions,
            distortion_=float(distortions.sum()),
        )
        return self

    def encode(self, X: ArrayLike) -> Codes:
        """The codes of rows, (n, n_subspaces): uint8, or uint16 for more than 256 centroids.

        Rows in a file that `boostkmeans.io.open_vectors` gave are read some at a time.
        """
        found = list(self.encode_batches(X))
        return found[0] if len(found) == 1 else np.concatenate(found)

    def encode_batches(self, X: ArrayLike) -> Iterator[Codes]:
        """The same, some rows after the other if they are in a file; else all of them."""
        check_is_fitted(self, "codebooks_")
        threads = resolve_threads(self.n_threads)
        if not isinstance(X, RowSource) or X.shape[0] == 0:
            yield _codes.encode(self._entered(X), self.codebooks_, threads)
            return
        self._validate_source(X, reset=False, whole=False)
        for begin, batch in in_batches(X, at_least=BATCH_BYTES):
            yield _codes.encode(self._rotated(batch, begin), self.codebooks_, threads, begin)

    def decode(self, codes: ArrayLike) -> NDArray[np.float32]:
        """The rows that codes stand for."""
        check_is_fitted(self, "codebooks_")
        rows = _codes.decode(_codes.checked(codes, self.codebooks_), self.codebooks_)
        return rows if self.rotation_ is None else _rotation.rotated(rows, self.rotation_.T)

    def transform(self, X: ArrayLike) -> Codes:
        """The same as `encode`."""
        return self.encode(X)

    def inverse_transform(self, X: ArrayLike) -> NDArray[np.float32]:
        """The same as `decode`."""
        return self.decode(X)

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Minus the mean squared error of the rows of X, once they are encoded and decoded."""
        check_is_fitted(self, "codebooks_")
        threads = resolve_threads(self.n_threads)
        total, n = 0.0, 0
        for begin, batch in self._batches(X):
            codes = _codes.encode(batch, self.codebooks_, threads, begin)
            total += float(_codes.errors(batch, codes, self.codebooks_).sum())
            n += len(batch)
        return -total / n

    def errors(
        self, X: ArrayLike, codes: ArrayLike, *, progress: ProgressCallback = ignore_progress
    ) -> Floats:
        """The squared distance of each row to what its code stands for.

        Rows in a file are read some at a time, and `progress(what, done, total)` is told how many.
        """
        check_is_fitted(self, "codebooks_")
        threads = resolve_threads(self.n_threads)
        stored = _codes.checked(codes, self.codebooks_)
        n = X.shape[0] if isinstance(X, RowSource) else len(np.asarray(X))
        if n != len(stored):
            raise ValueError(f"There are {len(stored)} codes for {n} rows. One for each is needed.")
        found = np.empty(n)
        for begin, batch in self._batches(X):
            describe(batch, None, threads, begin)  # raises if a value is not finite
            end = begin + len(batch)
            found[begin:end] = _codes.errors(batch, stored[begin:end], self.codebooks_)
            progress("rows", end, n)
        return found

    def adc_table(self, queries: ArrayLike) -> NDArray[np.float32]:
        """Squared distances of the parts of each query to all centroids: (n, n_subspaces, n_centroids).

        A query's distance to a code is the sum of what the code names in its table.
        """
        check_is_fitted(self, "codebooks_")
        array = self._entered(queries)
        return _codes.tables_to(array, self.codebooks_, resolve_threads(self.n_threads))

    def search(
        self, queries: ArrayLike, codes: ArrayLike, k: int = 10, *, symmetric: bool = False
    ) -> Neighbors:
        """The k codes that are nearest to each query, as `(distances, indices)`.

        Distances are squared, and those between the query and what the code stands for (asymmetric
        distances, the paper's ADC); if `symmetric`, those between the codes of both. All codes are
        looked at; of equally near ones, the first come first.
        """
        check_is_fitted(self, "codebooks_")
        stored = _codes.checked(codes, self.codebooks_)
        check = ParameterChecker(self)
        check.integer("k", k, 1)
        if not isinstance(symmetric, bool | np.bool_):
            check.fail("symmetric", "a bool", symmetric)
        if k > len(stored):
            raise ValueError(f"k={k} neighbours are asked for, and there are {len(stored)} codes.")
        array = self._entered(queries)
        threads = resolve_threads(self.n_threads)
        if symmetric:  # as far apart as what the codes stand for
            array = _codes.decode(_codes.encode(array, self.codebooks_, threads), self.codebooks_)
        step = _codes.queries_at_once(self.codebooks_)
        parts = [
            _codes.search(
                _codes.tables_to(array[begin : begin + step], self.codebooks_, threads),
                stored,
                k,
                threads,
            )
            for begin in range(0, max(1, len(array)), step)
        ]
        return Neighbors(
            np.concatenate([part.distances for part in parts]),
            np.concatenate([part.indices for part in parts]),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the fitted quantizer to a file, which is replaced if it is there.

        The old or the new file is there at any time. The clusterer and a callback are not stored.
        """
        from boostkmeans._models.quantizer_file import save_quantizer  # late: it knows this class

        save_quantizer(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The quantizer that `save` wrote to a file. Nothing in the file is executed.

        Raises `DataFormatError` if the file is damaged.
        """
        from boostkmeans._models.quantizer_file import load_quantizer

        return load_quantizer(cls, path)

    @property
    def _n_rounds(self) -> int:
        return (
            ROUNDS
            if isinstance(self.rotation, bool | np.bool_) and self.rotation
            else int(self.rotation)
        )

    @property
    def _n_features_out(self) -> int:
        return len(self.codebooks_)

    def _trainer(self) -> Any:
        return BoostKMeans(quality=QUALITY, tol=TOL) if self.clusterer is None else self.clusterer

    def _entered(self, X: ArrayLike) -> Array:
        """Rows as they are encoded."""
        return self._rotated(self._validate(X, reset=False))

    def _rotated(self, array: Array, first_row: int = 0) -> Array:
        if self.rotation_ is None:
            return array
        describe(array, None, resolve_threads(self.n_threads), first_row)  # before values are mixed
        return _rotation.rotated(array, self.rotation_)

    def _batches(self, X: Any) -> Iterator[tuple[int, Array]]:
        """Rows as they are encoded, some at a time, and the number of the first."""
        if isinstance(X, RowSource) and X.shape[0] > 0:
            self._validate_source(X, reset=False, whole=False)
            for begin, batch in in_batches(X, at_least=BATCH_BYTES):
                yield begin, self._rotated(batch, begin)
            return
        array = self._validate(X, reset=False)
        for begin in range(0, len(array), _codes.ROWS_AT_ONCE):
            yield begin, self._rotated(array[begin : begin + _codes.ROWS_AT_ONCE], begin)

    def _check_shape(self, array: Array) -> None:
        n, d = array.shape
        if d % self.n_subspaces:
            possible = [m for m in range(1, d + 1) if d % m == 0]
            raise ParameterConflictError(
                Message(
                    "{parameter} does not divide n_features={d}.",
                    shell="{parameter} does not divide the {d} features.",
                    parameter=Parameter("n_subspaces", self.n_subspaces),
                    d=d,
                ),
                remedy=f"Choose one of {possible}, or add columns of zeros.",
            )
        if n < self.n_centroids:
            remedy = "Use more rows or fewer centroids."
            raise TooFewRowsError(n, self.n_centroids, "n_centroids", remedy=remedy)

    def _check_parameters(self) -> None:
        check = ParameterChecker(self)
        check.integer("n_subspaces", self.n_subspaces, 1)
        check.integer("n_centroids", self.n_centroids, 1)
        if self.n_centroids > MOST_CENTROIDS:
            check.fail("n_centroids", f"an int up to {MOST_CENTROIDS}", self.n_centroids)
        if not isinstance(self.rotation, bool | np.bool_ | Integral) or self.rotation < 0:
            check.fail("rotation", "a bool, or an int in the range [0, inf)", self.rotation)
        if self.clusterer is not None:
            self._check_clusterer(check)
        if self.callback is not None and not callable(self.callback):
            check.fail("callback", "callable or None", self.callback)
        if self.n_threads is not None:
            check.integer("n_threads", self.n_threads, 1)
        if not isinstance(self.verbose, bool):
            check.integer("verbose", self.verbose, 0)

    def _check_clusterer(self, check: ParameterChecker) -> None:
        is_estimator = hasattr(self.clusterer, "get_params") and not isinstance(self.clusterer, type)
        known = self.clusterer.get_params(deep=False) if is_estimator else {}
        if "n_clusters" not in known:
            check.fail(
                "clusterer", "an estimator with the parameter 'n_clusters', or None", self.clusterer
            )
        if known.get("checkpoint") is not None:
            check.fail(
                "clusterer", "one without a checkpoint: all subspaces would share it", self.clusterer
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
