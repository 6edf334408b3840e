"""Indexes of faiss with our centres and codebooks. They are trained: rows may be added at once."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from boostkmeans._data.frame import Floats
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans.interop._coarse import Coarse
from boostkmeans.interop._faiss import faiss_module
from boostkmeans.interop._float_rows import CheckedRows, Singles, as_singles
from boostkmeans.quantization import _codes
from boostkmeans.quantization._product_quantizer import ProductQuantizer


def to_faiss_ivf_flat(coarse: Any, X: ArrayLike | None = None) -> Any:
    """A `faiss.IndexIVFFlat` with a list for each centre; whole rows are in the lists.

    `coarse` is a fitted estimator with `cluster_centers_` (`BoostKMeans`, `BisectingBoostKMeans`, one of
    `boostkmeans.baselines`), or an array of centres. The rows of X are added, if given: some at a time,
    also from what `boostkmeans.io.open_vectors` gives. Distances are squared Euclidean ones.

    With metric="cosine", the index is a `faiss.IndexPreTransform` that scales rows and queries to unit
    length first; a distance is then 2 - 2 x the cosine. `faiss.extract_index_ivf` gives what is inside,
    to set `nprobe`, of any index that these functions return.
    """
    faiss = faiss_module()
    given = Coarse.of(coarse)
    lists = _flat(given.centres)
    index = _owning(faiss.IndexIVFFlat(lists, given.n_features, len(given.centres)), lists)
    index.is_trained = True
    return _with_rows(_behind(index, given.metric, None), X, given.n_threads)


def to_faiss_pq(
    quantizer: ProductQuantizer, X: ArrayLike | None = None, *, codes: ArrayLike | None = None
) -> Any:
    """A `faiss.IndexPQ` with these codebooks; behind a `faiss.IndexPreTransform` if there is a rotation.

    The rows of X are encoded by faiss and added, if given; or `codes`, as `quantizer.encode` gave them,
    are added as they are. `n_centroids` must be a power of two. Of 256, the codes that faiss keeps are
    those of `encode`, byte for byte; others are packed without gaps.
    """
    faiss = faiss_module()
    if X is not None and codes is not None:
        raise ValueError("to_faiss_pq takes rows as X or as codes, not both.")
    n_bits = _checked_bits(quantizer)
    d, m = quantizer.n_features_in_, len(quantizer.codebooks_)
    index = faiss.IndexPQ(d, m, n_bits)
    _set_codebooks(index, quantizer)
    if codes is not None:
        stored = _codes.check_codes(codes, quantizer.codebooks_)
        packed = stored if n_bits == 8 else faiss.pack_bitstrings(stored.astype(np.int32), n_bits)
        index.add_sa_codes(packed)
    threads = resolve_threads(quantizer.n_threads)
    return _with_rows(_behind(index, "euclidean", quantizer.rotation_), X, threads)


def to_faiss_ivf_pq(
    coarse: Any, quantizer: ProductQuantizer, X: ArrayLike | None = None, *, by_residual: bool = True
) -> Any:
    """A `faiss.IndexIVFPQ`: a list for each centre of `coarse`, in which there are codes.

    The quantizer should be fitted to `residuals(coarse, X)`. With by_residual=False, lists have codes
    of the rows themselves, and it should be fitted to these; to rows of unit length, if the metric of
    `coarse` is "cosine". See `to_faiss_ivf_flat` for `coarse`, X and "cosine", and `to_faiss_pq` for
    the number of centroids. If the quantizer has a rotation, rows, queries and centres are rotated.
    """
    faiss = faiss_module()
    if not isinstance(by_residual, bool | np.bool_):
        raise ValueError(f"by_residual should be True or False. Got {by_residual!r}.")
    given = Coarse.of(coarse)
    n_bits = _checked_bits(quantizer)
    d, m = quantizer.n_features_in_, len(quantizer.codebooks_)
    if d != given.n_features:
        raise ValueError(f"coarse has {given.n_features} features, and quantizer has {d}.")
    centres = given.centres
    if quantizer.rotation_ is not None:
        # Lists are as they would be without: a rotation keeps distances.
        centres = as_singles(centres.astype(np.float64) @ quantizer.rotation_, "coarse")
    lists = _flat(centres)
    index = _owning(faiss.IndexIVFPQ(lists, d, len(centres), m, n_bits), lists)
    index.by_residual = bool(by_residual)
    _set_codebooks(index, quantizer)
    if by_residual:
        index.precompute_table()  # as the end of faiss's own training does
    return _with_rows(_behind(index, given.metric, quantizer.rotation_), X, given.n_threads)


def _checked_bits(quantizer: ProductQuantizer) -> int:
    """The bits of the number of a centroid."""
    if not isinstance(quantizer, ProductQuantizer):
        raise TypeError(f"quantizer should be a fitted ProductQuantizer. Got {quantizer!r}.")
    check_is_fitted(quantizer, "codebooks_")
    n_centroids = int(quantizer.codebooks_.shape[1])
    n_bits = n_centroids.bit_length() - 1
    if n_bits == 0 or n_centroids != 2**n_bits:
        raise ValueError(
            "faiss numbers centroids by whole bits: n_centroids should be a power of two from 2 on. Got "
            f"{n_centroids}. Fit a quantizer with 256 centroids (the fastest), or 16."
        )
    return n_bits


def _set_codebooks(index: Any, quantizer: ProductQuantizer) -> None:
    codebooks = np.ascontiguousarray(quantizer.codebooks_, dtype=np.float32)
    faiss_module().copy_array_to_vector(codebooks.ravel(), index.pq.centroids)
    index.is_trained = True


def _flat(centres: Singles) -> Any:
    flat = faiss_module().IndexFlatL2(centres.shape[1])
    flat.add(centres)
    return flat


def _owning(index: Any, *parts: Any) -> Any:
    """The index with its parts, which live as long as it does, whatever becomes of Python objects."""
    for part in parts:
        part.this.disown()
    index.own_fields = True
    return index


def _behind(index: Any, metric: str, rotation: Floats | None) -> Any:
    """The index behind what is done to rows first: unit length, then the rotation."""
    faiss = faiss_module()
    steps = []
    if metric == "cosine":
        steps.append(faiss.NormalizationTransform(index.d, 2.0))
    if rotation is not None:
        turn = faiss.LinearTransform(index.d, index.d, False)
        # faiss multiplies columns from the left.
        faiss.copy_array_to_vector(np.ascontiguousarray(rotation.T, np.float32).ravel(), turn.A)
        turn.is_trained = True
        turn.is_orthonormal = True  # so that it can be undone
        steps.append(turn)
    if not steps:
        return index
    whole = faiss.IndexPreTransform(index)
    for step in reversed(steps):
        whole.prepend_transform(step)
    return _owning(whole, index, *steps)


def _with_rows(index: Any, X: ArrayLike | None, n_threads: int) -> Any:
    if X is not None:
        for batch in CheckedRows(X, index.d, "the index").singles(n_threads):
            index.add(batch)
    return index
