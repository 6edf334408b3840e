"""`ProductQuantizer`: short codes for vectors, and search among them (Jégou, Douze, Schmid 2011)."""

import os
import time
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from boostkmeans._data.frame import Array, Floats
from boostkmeans._data.row_source import RowSource, in_batches
from boostkmeans._data.rows import describe
from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._estimators.input import RowInput
from boostkmeans._estimators.vector_columns import plain_rows
from boostkmeans._runtime.errors import NotFiniteError, ParameterError, TooFewRowsError
from boostkmeans._runtime.parameter_checks import ParameterChecker
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress, logger, visible_log
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._storage.model_format import ModelLayout, read_model, write_model
from boostkmeans.quantization import _codes, _rotation
from boostkmeans.quantization._codes import MAX_CENTROIDS, Codebooks, Codes
from boostkmeans.quantization._model_layout import QuantizerLayout
from boostkmeans.quantization._neighbors import Neighbors
from boostkmeans.quantization._record import QuantizerRecord, TrainingReporter
from boostkmeans.quantization._training import SubspaceTrainer

# Number of rounds for rotation=True.
DEFAULT_ROUNDS = 20
# Settings of the default clusterer, based on the measurements under "Training of product quantizers" in
# docs/benchmarks.md.
DEFAULT_QUALITY = "fast"
DEFAULT_TOL = 1e-3
# Minimum size of a batch of rows read from a file for encoding, in bytes.
BATCH_BYTES = 2**25


class ProductQuantizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RowInput):
    """Product quantizer: compresses rows to codes of a few bytes.

    The features are divided into `n_subspaces` groups of equal width, and the rows are clustered in each
    of these subspaces. The code of a row consists of the indices of its nearest centroids. Use it to
    store many vectors in little memory and to search among them; `boostkmeans.interop` exports it to
    faiss. Distances computed from codes are approximate.

    Parameters
    ----------
    n_subspaces : int, default=8
        Number of subspaces, and therefore of numbers per code. Must divide the number of features.
    n_centroids : int, default=256
        Number of centroids per subspace, at most 65,536. Codes are uint8 for up to 256 centroids and
        uint16 for more.
    clusterer : estimator, default=None
        Estimator that clusters the rows of a subspace: `BoostKMeans`, `BisectingBoostKMeans`, one of
        `boostkmeans.baselines`, or another estimator with `n_clusters` and `cluster_centers_`. It is
        cloned. `n_clusters` of the clone is set, and so are `random_state` and `n_threads` if they are
        None. None means ``BoostKMeans(quality="fast", tol=1e-3)``.
    rotation : bool or int, default=False
        Number of rounds in which a rotation of the rows is learned together with the codebooks
        ("optimised product quantization"). True means 20 rounds, False means no rotation.
    callback : callable, default=None
        Function called as ``callback(record)`` with a `QuantizerRecord` after each round of rotation and
        after each trained subspace, from any thread.
    random_state : int, RandomState or None, default=None
        Seed. With an int, results are reproducible and do not depend on the number of threads.
    n_threads : int, default=None
        Number of threads of each call. None uses all processors available to this process. Subspaces are
        trained in parallel if the clusterer is `BoostKMeans` or `BisectingBoostKMeans`.
    verbose : int, default=0
        1 shows the progress on one line of the terminal, or as a bar in a notebook. 2 shows all
        messages as lines on stderr. Messages go to the logger "boostkmeans" instead if logging is
        configured, and are lines if stderr is a file.

    Attributes
    ----------
    codebooks_ : ndarray of shape (n_subspaces, n_centroids, n_features / n_subspaces), float32
        Centroids of each subspace.
    rotation_ : ndarray of shape (n_features, n_features), float64, or None
        Rotation. Rows are multiplied by it from the right before they are encoded.
    distortions_ : ndarray of shape (n_subspaces,), float64
        Mean squared distance of the training rows to their centroids in each subspace.
    distortion_ : float
        Sum of `distortions_`: the mean squared error of the training rows.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Feature names seen during `fit`. Only defined if X had feature names.

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
    _layout: ClassVar[ModelLayout] = QuantizerLayout()
    _model_name: ClassVar[str] = "ProductQuantizer"

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
        """Learn the codebooks, and the rotation if requested.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or Vectors
            Training rows. Rows opened with `boostkmeans.io.open_vectors` are loaded into memory.
        y : Ignored
            Not used, present for API consistency.

        Returns
        -------
        ProductQuantizer
            The fitted quantizer.
        """
        start = time.perf_counter()
        self._check_parameters()
        with self._restore_input_on_failure():
            return self._fit(X, start)

    def _fit(self, X: ArrayLike, start: float) -> Self:
        array = self._validate(X, reset=True)
        self._check_shape(array)
        threads = resolve_threads(self.n_threads)
        rng = check_random_state(self.random_state)
        seeds = [int(seed) for seed in rng.randint(2**31 - 1, size=self.n_subspaces)]
        reporter = TrainingReporter(self.callback, start)
        trainer = SubspaceTrainer(
            self.subspace_clusterer,
            self.n_centroids,
            seeds,
            threads,
            reporter.on_subspace(self.n_subspaces),
        )
        rotation = None
        with visible_log(max(self.verbose, getattr(self.clusterer, "verbose", 0))):
            if self._n_rounds:
                describe(array, None, threads)  # raises if a value is not finite
                on_round = reporter.on_rotation(self._n_rounds)
                rotation = _rotation.learn_rotation(array, trainer, self._n_rounds, rng, on_round)
                array = _rotation.rotate(array, rotation)
            try:
                codebooks, distortions = trainer.run(array)
            except NotFiniteError:
                # The error names a column of the subspace. This call raises one that names the column
                # of X.
                describe(array, None, threads)
                raise
            logger.info(
                "%d codebooks of %d centroids, distortion %.8g, %.3f s",
                *codebooks.shape[:2],
                distortions.sum(),
                time.perf_counter() - start,
            )
        self.__dict__.update(
            codebooks_=codebooks,
            rotation_=rotation,
            distortions_=distortions,
            distortion_=float(distortions.sum()),
        )
        return self

    def encode(self, X: ArrayLike) -> Codes:
        """Return the codes of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or Vectors
            Rows to encode. Rows opened with `boostkmeans.io.open_vectors` are read in batches.

        Returns
        -------
        ndarray of shape (n_samples, n_subspaces)
            Numbers of the nearest centroids, of type uint8, or uint16 for more than 256 centroids.
        """
        codes = list(self.encode_batches(X))
        return codes[0] if len(codes) == 1 else np.concatenate(codes)

    def encode_batches(self, X: ArrayLike) -> Iterator[Codes]:
        """Yield the codes of the rows, batch by batch.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or Vectors
            Rows to encode. Rows opened with `boostkmeans.io.open_vectors` are read in batches; an array
            is one batch.

        Yields
        ------
        ndarray of shape (n_rows_of_batch, n_subspaces)
            Codes of consecutive rows.
        """
        check_is_fitted(self, "codebooks_")
        threads = resolve_threads(self.n_threads)
        if not isinstance(X, RowSource) or X.shape[0] == 0:
            yield _codes.encode(self._prepare(X), self.codebooks_, threads)
            return
        self._validate_source(X, reset=False, whole=False)
        for begin, batch in in_batches(X, at_least=BATCH_BYTES):
            yield _codes.encode(self._rotate(batch, begin), self.codebooks_, threads, begin)

    def decode(self, codes: ArrayLike) -> NDArray[np.float32]:
        """Return the rows that the codes stand for.

        Parameters
        ----------
        codes : array-like of shape (n_samples, n_subspaces)
            Codes, as `encode` returns them.

        Returns
        -------
        ndarray of shape (n_samples, n_features), float32
            Approximations of the encoded rows.
        """
        check_is_fitted(self, "codebooks_")
        rows = _codes.decode(_codes.check_codes(codes, self.codebooks_), self.codebooks_)
        return rows if self.rotation_ is None else _rotation.rotate(rows, self.rotation_.T)

    def transform(self, X: ArrayLike) -> Codes:
        """Return the codes of the rows; the same as `encode`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or Vectors
            Rows to encode.

        Returns
        -------
        ndarray of shape (n_samples, n_subspaces)
            Numbers of the nearest centroids.
        """
        return self.encode(X)

    def inverse_transform(self, X: ArrayLike) -> NDArray[np.float32]:
        """Return the rows that the codes stand for; the same as `decode`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_subspaces)
            Codes.

        Returns
        -------
        ndarray of shape (n_samples, n_features), float32
            Approximations of the encoded rows.
        """
        return self.decode(X)

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Return the negative mean squared error of the rows after encoding and decoding.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or Vectors
            Rows.
        y : Ignored
            Not used, present for API consistency.

        Returns
        -------
        float
            Negative mean squared error: higher is better.
        """
        check_is_fitted(self, "codebooks_")
        threads = resolve_threads(self.n_threads)
        total, n = 0.0, 0
        for begin, batch in self._batches(X):
            codes = _codes.encode(batch, self.codebooks_, threads, begin)
            total += float(_codes.squared_errors(batch, codes, self.codebooks_).sum())
            n += len(batch)
        return -total / n

    def errors(
        self, X: ArrayLike, codes: ArrayLike, *, progress: ProgressCallback = ignore_progress
    ) -> Floats:
        """Return the squared distance of each row to its decoded code.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or Vectors
            Rows. Rows opened with `boostkmeans.io.open_vectors` are read in batches.
        codes : array-like of shape (n_samples, n_subspaces)
            Codes of these rows.
        progress : callable, optional
            Function called as ``progress(what, done, total)`` after each batch.

        Returns
        -------
        ndarray of shape (n_samples,), float64
            Squared distances.
        """
        check_is_fitted(self, "codebooks_")
        threads = resolve_threads(self.n_threads)
        stored = _codes.check_codes(codes, self.codebooks_)
        X = X if isinstance(X, RowSource) else plain_rows(X)
        n = X.shape[0] if isinstance(X, RowSource) else len(np.asarray(X))
        if n != len(stored):
            raise ValueError(f"X has {n} rows, but there are {len(stored)} codes.")
        errors = np.empty(n)
        for begin, batch in self._batches(X):
            describe(batch, None, threads, begin)  # raises if a value is not finite
            end = begin + len(batch)
            errors[begin:end] = _codes.squared_errors(batch, stored[begin:end], self.codebooks_)
            progress("rows", end, n)
        return errors

    def adc_table(self, queries: ArrayLike) -> NDArray[np.float32]:
        """Return the squared distances of each query to all centroids, per subspace.

        The distance of a query to a code is the sum of the table entries that the code selects
        (asymmetric distance computation).

        Parameters
        ----------
        queries : array-like of shape (n_queries, n_features), or Vectors
            Queries.

        Returns
        -------
        ndarray of shape (n_queries, n_subspaces, n_centroids), float32
            Squared distances.
        """
        check_is_fitted(self, "codebooks_")
        threads = resolve_threads(self.n_threads)
        return _codes.distance_tables(self._prepare(queries), self.codebooks_, threads)

    def search(
        self, queries: ArrayLike, codes: ArrayLike, k: int = 10, *, symmetric: bool = False
    ) -> Neighbors:
        """Find the k nearest codes of each query.

        All codes are compared with all queries.

        Parameters
        ----------
        queries : array-like of shape (n_queries, n_features), or Vectors
            Queries.
        codes : array-like of shape (n_samples, n_subspaces)
            Codes to search.
        k : int, default=10
            Number of neighbours per query, at most `n_samples`.
        symmetric : bool, default=False
            If False, distances are those between the query and the decoded codes (asymmetric distances,
            ADC). If True, the query is encoded too (symmetric distances, SDC).

        Returns
        -------
        Neighbors
            The named tuple ``(distances, indices)``. Distances are squared. Equally near codes are
            ordered by their row number.
        """
        check_is_fitted(self, "codebooks_")
        stored = _codes.check_codes(codes, self.codebooks_)
        self._check_search(k, symmetric, len(stored))
        array = self._prepare(queries)
        threads = resolve_threads(self.n_threads)
        if symmetric:
            array = _codes.decode(_codes.encode(array, self.codebooks_, threads), self.codebooks_)
        step = _codes.queries_per_batch(self.codebooks_)
        # An empty array of queries is one batch too, so that the result has the right shape.
        batches = [array[begin : begin + step] for begin in range(0, max(1, len(array)), step)]
        found = []
        for batch in batches:
            tables = _codes.distance_tables(batch, self.codebooks_, threads)
            found.append(_codes.search(tables, stored, k, threads))
        return Neighbors(
            np.concatenate([part.distances for part in found]),
            np.concatenate([part.indices for part in found]),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted quantizer to a file.

        An existing file is replaced atomically. The clusterer and the callback are not stored.

        Parameters
        ----------
        path : str or path-like
            File to write.
        """
        write_model(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a quantizer from a file written by `save`.

        The file is checked, and nothing in it is executed.

        Parameters
        ----------
        path : str or path-like
            File to read.

        Returns
        -------
        ProductQuantizer
            The fitted quantizer.

        Raises
        ------
        DataFormatError
            If the file is damaged or not a quantizer file.
        """
        return read_model(cls, path)

    @property
    def _n_rounds(self) -> int:
        """Number of rotation rounds."""
        is_true = isinstance(self.rotation, bool | np.bool_) and self.rotation
        return DEFAULT_ROUNDS if is_true else int(self.rotation)

    @property
    def _n_features_out(self) -> int:
        """Number of output features, for scikit-learn."""
        return len(self.codebooks_)

    @property
    def subspace_clusterer(self) -> Any:
        """Clusterer that `fit` runs in each subspace: `clusterer`, or the default one."""
        if self.clusterer is not None:
            return self.clusterer
        return BoostKMeans(quality=DEFAULT_QUALITY, tol=DEFAULT_TOL)

    def _prepare(self, X: ArrayLike) -> Array:
        """Validate the rows and rotate them."""
        return self._rotate(self._validate(X, reset=False))

    def _rotate(self, array: Array, first_row: int = 0) -> Array:
        if self.rotation_ is None:
            return array
        # A rotation spreads a value that is not finite over the whole row: check before rotating.
        describe(array, None, resolve_threads(self.n_threads), first_row)
        return _rotation.rotate(array, self.rotation_)

    def _batches(self, X: Any) -> Iterator[tuple[int, Array]]:
        """Yield batches of validated and rotated rows, each with the index of its first row."""
        if isinstance(X, RowSource) and X.shape[0] > 0:
            self._validate_source(X, reset=False, whole=False)
            for begin, batch in in_batches(X, at_least=BATCH_BYTES):
                yield begin, self._rotate(batch, begin)
            return
        array = self._validate(X, reset=False)
        for begin in range(0, len(array), _codes.ROWS_PER_BLOCK):
            yield begin, self._rotate(array[begin : begin + _codes.ROWS_PER_BLOCK], begin)

    def _check_shape(self, array: Array) -> None:
        n, d = array.shape
        if d % self.n_subspaces:
            divisors = [m for m in range(1, d + 1) if d % m == 0]
            raise ParameterError(
                "n_subspaces",
                f"a divisor of the number of features ({d})",
                self.n_subspaces,
                owner=type(self).__name__,
                remedy=f"Choose one of {divisors}, or add columns of zeros.",
            )
        if n < self.n_centroids:
            remedy = "Provide more rows, or use fewer centroids."
            raise TooFewRowsError(n, self.n_centroids, "n_centroids", remedy=remedy)

    def _check_search(self, k: Any, symmetric: Any, n_codes: int) -> None:
        check = ParameterChecker(self)
        check.integer("k", k, 1)
        if not isinstance(symmetric, bool | np.bool_):
            check.fail("symmetric", "a bool", symmetric)
        if k > n_codes:
            check.fail("k", f"at most the number of codes ({n_codes})", k)

    def _check_parameters(self) -> None:
        check = ParameterChecker(self)
        check.integer("n_subspaces", self.n_subspaces, 1)
        check.integer("n_centroids", self.n_centroids, 1)
        if self.n_centroids > MAX_CENTROIDS:
            check.fail("n_centroids", f"an int in the range [1, {MAX_CENTROIDS}]", self.n_centroids)
        if not isinstance(self.rotation, bool | np.bool_ | Integral) or self.rotation < 0:
            check.fail("rotation", "a bool, or an int in the range [0, inf)", self.rotation)
        if self.clusterer is not None:
            self._check_clusterer(check)
        if self.callback is not None and not callable(self.callback):
            check.fail("callback", "callable or None", self.callback)
        check.random_state(self.random_state)
        if self.n_threads is not None:
            check.integer("n_threads", self.n_threads, 1)
        if not isinstance(self.verbose, bool):
            check.integer("verbose", self.verbose, 0)

    def _check_clusterer(self, check: ParameterChecker) -> None:
        is_estimator = hasattr(self.clusterer, "get_params") and not isinstance(self.clusterer, type)
        parameters = self.clusterer.get_params(deep=False) if is_estimator else {}
        if "n_clusters" not in parameters:
            check.fail(
                "clusterer", "an estimator with the parameter 'n_clusters', or None", self.clusterer
            )
        if parameters.get("checkpoint") is not None:
            check.fail(
                "clusterer",
                "an estimator without a checkpoint (all subspaces would share the file)",
                self.clusterer,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
