"""Construction of trained faiss indexes from centres and codebooks."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from boostkmeans._data.frame import Floats
from boostkmeans._runtime.errors import ParameterConflictError, ParameterError
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans.interop._coarse import CoarseQuantizer
from boostkmeans.interop._faiss import faiss_module
from boostkmeans.interop._float_rows import CheckedRows, FloatRows, to_float32
from boostkmeans.quantization import ProductQuantizer, check_codes


def to_faiss_ivf_flat(coarse: Any, X: ArrayLike | None = None) -> Any:
    """Build a `faiss.IndexIVFFlat` with one list per centre, which stores uncompressed rows.

    Distances are squared Euclidean distances. For centres fitted with ``metric="cosine"``, the index
    is a `faiss.IndexPreTransform` that scales rows and queries to unit length; a distance is then 2
    minus twice the cosine. To set `nprobe`, use ``faiss.extract_index_ivf(index)``.

    Parameters
    ----------
    coarse : estimator or array-like of shape (n_clusters, n_features)
        Fitted estimator with `cluster_centers_` (`BoostKMeans`, `BisectingBoostKMeans`, one of
        `boostkmeans.baselines`), or an array of centres.
    X : array-like or sparse matrix of shape (n_samples, n_features), or Vectors, default=None
        Rows to add, in batches. None adds no rows.

    Returns
    -------
    faiss.IndexIVFFlat or faiss.IndexPreTransform
        Trained index.
    """
    faiss = faiss_module()
    quantizer = CoarseQuantizer.of(coarse)
    lists = _flat_index(quantizer.centres)
    index = _own(faiss.IndexIVFFlat(lists, quantizer.n_features, len(quantizer.centres)), lists)
    index.is_trained = True
    return _add_rows(_pre_transform(index, quantizer.metric, None), X, quantizer.n_threads)


def to_faiss_pq(
    quantizer: ProductQuantizer, X: ArrayLike | None = None, *, codes: ArrayLike | None = None
) -> Any:
    """Build a `faiss.IndexPQ` with the codebooks of a quantizer.

    If the quantizer has a rotation, the index is a `faiss.IndexPreTransform` that applies it.

    Parameters
    ----------
    quantizer : ProductQuantizer
        Fitted quantizer. Its `n_centroids` must be a power of two. With 256 centroids, the bytes that
        faiss stores equal those of `encode`; with other numbers, faiss packs the codes without gaps.
    X : array-like or sparse matrix of shape (n_samples, n_features), or Vectors, default=None
        Rows that faiss encodes and adds. None adds no rows.
    codes : array-like of shape (n_samples, n_subspaces), default=None
        Codes to add, as `quantizer.encode` returns them, instead of X.

    Returns
    -------
    faiss.IndexPQ or faiss.IndexPreTransform
        Trained index.
    """
    faiss = faiss_module()
    if X is not None and codes is not None:
        raise ParameterConflictError("to_faiss_pq takes X or codes, not both.")
    n_bits = _code_bits(quantizer)
    d, m = quantizer.n_features_in_, len(quantizer.codebooks_)
    index = faiss.IndexPQ(d, m, n_bits)
    _set_codebooks(index, quantizer)
    if codes is not None:
        stored = check_codes(codes, quantizer.codebooks_)
        packed = stored if n_bits == 8 else faiss.pack_bitstrings(stored.astype(np.int32), n_bits)
        index.add_sa_codes(packed)
    threads = resolve_threads(quantizer.n_threads)
    return _add_rows(_pre_transform(index, "euclidean", quantizer.rotation_), X, threads)


def to_faiss_ivf_pq(
    coarse: Any, quantizer: ProductQuantizer, X: ArrayLike | None = None, *, by_residual: bool = True
) -> Any:
    """Build a `faiss.IndexIVFPQ` with one list per centre, which stores codes.

    If the quantizer has a rotation, the index rotates rows, queries and centres. For centres fitted with
    ``metric="cosine"``, it scales rows and queries to unit length, as in `to_faiss_ivf_flat`.

    Parameters
    ----------
    coarse : estimator or array-like of shape (n_clusters, n_features)
        Fitted estimator with `cluster_centers_`, or an array of centres.
    quantizer : ProductQuantizer
        Quantizer fitted to ``residuals(coarse, X)``. Its `n_centroids` must be a power of two.
    X : array-like or sparse matrix of shape (n_samples, n_features), or Vectors, default=None
        Rows to add, in batches. None adds no rows.
    by_residual : bool, default=True
        If False, the lists store codes of the rows themselves. The quantizer must then be fitted to the
        rows, or for ``metric="cosine"`` to the rows scaled to unit length.

    Returns
    -------
    faiss.IndexIVFPQ or faiss.IndexPreTransform
        Trained index.
    """
    faiss = faiss_module()
    if not isinstance(by_residual, bool | np.bool_):
        raise ParameterError("by_residual", "a bool", by_residual, owner="to_faiss_ivf_pq")
    coarse_quantizer = CoarseQuantizer.of(coarse)
    n_bits = _code_bits(quantizer)
    d, m = quantizer.n_features_in_, len(quantizer.codebooks_)
    if d != coarse_quantizer.n_features:
        raise ValueError(f"coarse has {coarse_quantizer.n_features} features, but quantizer has {d}.")
    centres = coarse_quantizer.centres
    if quantizer.rotation_ is not None:
        # Rows are rotated before they are assigned to lists. Rotated centres give the same lists.
        centres = to_float32(centres.astype(np.float64) @ quantizer.rotation_, "coarse")
    lists = _flat_index(centres)
    index = _own(faiss.IndexIVFPQ(lists, d, len(centres), m, n_bits), lists)
    index.by_residual = bool(by_residual)
    _set_codebooks(index, quantizer)
    if by_residual:
        index.precompute_table()  # faiss does this at the end of its own training
    wrapped = _pre_transform(index, coarse_quantizer.metric, quantizer.rotation_)
    return _add_rows(wrapped, X, coarse_quantizer.n_threads)


def _code_bits(quantizer: ProductQuantizer) -> int:
    """Return the number of bits of a centroid index."""
    if not isinstance(quantizer, ProductQuantizer):
        raise TypeError(f"quantizer must be a fitted ProductQuantizer. Got {quantizer!r}.")
    check_is_fitted(quantizer, "codebooks_")
    n_centroids = int(quantizer.codebooks_.shape[1])
    n_bits = n_centroids.bit_length() - 1
    if n_bits == 0 or n_centroids != 2**n_bits:
        raise ParameterError(
            "n_centroids",
            "a power of two of at least 2, because faiss stores centroid numbers in whole bits",
            n_centroids,
            owner="ProductQuantizer",
            remedy="Fit a quantizer with 256 centroids (the fastest) or 16.",
        )
    return n_bits


def _set_codebooks(index: Any, quantizer: ProductQuantizer) -> None:
    codebooks = np.ascontiguousarray(quantizer.codebooks_, dtype=np.float32)
    faiss_module().copy_array_to_vector(codebooks.ravel(), index.pq.centroids)
    index.is_trained = True


def _flat_index(centres: FloatRows) -> Any:
    flat = faiss_module().IndexFlatL2(centres.shape[1])
    flat.add(centres)
    return flat


def _own(index: Any, *parts: Any) -> Any:
    """Make the index the owner of its parts.

    Otherwise, the parts would be freed together with their Python objects while the index still uses
    them.
    """
    for part in parts:
        part.this.disown()
    index.own_fields = True
    return index


def _pre_transform(index: Any, metric: str, rotation: Floats | None) -> Any:
    """Wrap the index so that it scales rows to unit length, and rotates them, if necessary."""
    faiss = faiss_module()
    transforms = []
    if metric == "cosine":
        transforms.append(faiss.NormalizationTransform(index.d, 2.0))
    if rotation is not None:
        linear = faiss.LinearTransform(index.d, index.d, False)
        # Transposed, because faiss multiplies column vectors from the left.
        faiss.copy_array_to_vector(np.ascontiguousarray(rotation.T, np.float32).ravel(), linear.A)
        linear.is_trained = True
        linear.is_orthonormal = True  # required by faiss to invert the transform
        transforms.append(linear)
    if not transforms:
        return index
    wrapper = faiss.IndexPreTransform(index)
    for transform in reversed(transforms):
        wrapper.prepend_transform(transform)
    return _own(wrapper, index, *transforms)


def _add_rows(index: Any, X: ArrayLike | None, n_threads: int) -> Any:
    if X is not None:
        for batch in CheckedRows(X, index.d, "the index").float_batches(n_threads):
            index.add(batch)
    return index
