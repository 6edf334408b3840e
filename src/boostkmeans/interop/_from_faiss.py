"""Extraction of centres, codebooks and codes from a faiss index."""

from typing import Any, NamedTuple

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans.interop._faiss import faiss_module
from boostkmeans.quantization import MAX_CENTROIDS, Codes, ProductQuantizer, code_type

# Largest element of A'A - I for which a float32 matrix A counts as a rotation.
MAX_SKEW = 1e-3


class _InnerIndex(NamedTuple):
    """Index without the wrappers around it."""

    index: Any
    rotation: Floats | None
    """Rotation that the wrappers apply. Rows are multiplied by it from the right."""


def centres_from_faiss(index: Any) -> Floats:
    """Return the centres of the lists of a trained IVF index, e.g. as `init` of `BoostKMeans`.

    Parameters
    ----------
    index : faiss.Index
        Trained IVF index. A rotation in front of it is undone, so that the centres are in the space of
        the rows. If the index scales rows to unit length, the centres are those of such rows, for
        ``metric="cosine"``.

    Returns
    -------
    ndarray of shape (n_lists, n_features), float64
        Centres.
    """
    faiss = faiss_module()
    inner = _unwrap(index)
    if not isinstance(inner.index, faiss.IndexIVF):
        raise TypeError(f"index must be an IVF index of faiss. Got {_name(inner.index)}.")
    coarse = faiss.downcast_index(inner.index.quantizer)
    n_lists = inner.index.nlist
    if coarse.ntotal != n_lists:
        raise ValueError(f"The index has {n_lists} lists, but {coarse.ntotal} centres. Train it first.")
    try:
        # If the coarse quantizer cannot reconstruct, reconstruct_n ends the process. This call raises.
        coarse.reconstruct(0)
    except RuntimeError as error:
        raise TypeError(
            f"The coarse quantizer of the index, {_name(coarse)}, does not provide its centres."
        ) from error
    centres: Floats = coarse.reconstruct_n(0, n_lists).astype(np.float64)
    return centres if inner.rotation is None else centres @ inner.rotation.T


def quantizer_from_faiss(index: Any) -> ProductQuantizer:
    """Return a fitted `ProductQuantizer` with the codebooks of a faiss index.

    The quantizer of an IndexIVFPQ encodes residuals, unless the index has `by_residual` False. The
    training rows are unknown, so `distortions_` are NaN.

    Parameters
    ----------
    index : faiss.Index
        Trained IndexPQ or IndexIVFPQ. A rotation in front of it (`faiss.OPQMatrix`, or any orthogonal
        `LinearTransform`) becomes that of the quantizer. If the index scales rows to unit length
        (`faiss.NormalizationTransform`), the quantizer must be given such rows.

    Returns
    -------
    ProductQuantizer
        The fitted quantizer.
    """
    faiss = faiss_module()
    inner = _unwrap(index)
    kinds = (faiss.IndexPQ, faiss.IndexIVFPQ, faiss.IndexPQFastScan, faiss.IndexIVFPQFastScan)
    if not isinstance(inner.index, kinds):
        raise TypeError(f"index must be an IndexPQ or IndexIVFPQ of faiss. Got {_name(inner.index)}.")
    pq = inner.index.pq
    if pq.ksub > MAX_CENTROIDS:
        raise ValueError(
            f"The codebooks of the index have {pq.ksub} centroids, but a ProductQuantizer has at most "
            f"{MAX_CENTROIDS}. Train the index with at most 16 bits."
        )
    codebooks = faiss.vector_to_array(pq.centroids).reshape(pq.M, pq.ksub, pq.dsub)
    quantizer = ProductQuantizer(pq.M, pq.ksub, rotation=inner.rotation is not None)
    quantizer.__dict__.update(
        n_features_in_=pq.d,
        codebooks_=codebooks,
        rotation_=inner.rotation,
        distortions_=np.full(pq.M, np.nan),
        distortion_=float("nan"),
    )
    return quantizer


def codes_from_faiss(index: Any) -> Codes:
    """Return the codes stored in an IndexPQ.

    Parameters
    ----------
    index : faiss.Index
        Trained IndexPQ.

    Returns
    -------
    ndarray of shape (n_samples, n_subspaces)
        Codes, in the form that `ProductQuantizer.encode` returns.
    """
    faiss = faiss_module()
    # `index` must stay referenced meanwhile: it may own the inner index.
    inner = _unwrap(index).index
    if not isinstance(inner, faiss.IndexPQ):
        raise TypeError(f"index must be an IndexPQ of faiss. Got {_name(inner)}.")
    pq = inner.pq
    packed = faiss.vector_to_array(inner.codes).reshape(inner.ntotal, pq.code_size)
    codes = packed if pq.nbits == 8 else faiss.unpack_bitstrings(packed, pq.M, pq.nbits)
    return np.ascontiguousarray(codes, dtype=code_type(pq.ksub))


def _unwrap(index: Any) -> _InnerIndex:
    """Remove the wrappers of a trained index, and combine their rotations."""
    faiss = faiss_module()
    if not isinstance(index, faiss.Index):
        raise TypeError(f"index must be an index of faiss. Got {_name(index)}.")
    if not index.is_trained:
        raise ValueError(f"The {_name(index)} is not trained. Call its method train first.")
    rotation = None
    index = faiss.downcast_index(index)
    while isinstance(index, faiss.IndexPreTransform | faiss.IndexIDMap):
        if isinstance(index, faiss.IndexPreTransform):
            for number in range(index.chain.size()):
                step = _rotation_of(faiss.downcast_VectorTransform(index.chain.at(number)))
                if step is not None:
                    rotation = step if rotation is None else rotation @ step
        index = faiss.downcast_index(index.index)
    return _InnerIndex(index, rotation)


def _rotation_of(transform: Any) -> Floats | None:
    """Return the rotation of a transform, or None for scaling, which commutes with rotations."""
    faiss = faiss_module()
    if isinstance(transform, faiss.NormalizationTransform) and transform.norm == 2:
        return None
    d_in, d_out = transform.d_in, transform.d_out
    if isinstance(transform, faiss.LinearTransform) and d_in == d_out and not transform.have_bias:
        matrix = faiss.vector_to_array(transform.A).reshape(d_out, d_in).T.astype(np.float64)
        if np.abs(matrix.T @ matrix - np.eye(d_in)).max() <= MAX_SKEW:
            # The nearest orthogonal matrix removes the rounding errors of float32.
            left, _, right = np.linalg.svd(matrix)
            return np.asarray(left @ right)
    raise ValueError(
        f"The {_name(transform)} ({d_in} to {d_out} features) in front of the index is not a rotation, "
        "but a ProductQuantizer supports only rotations. Transform the rows first, and index the result."
    )


def _name(index: Any) -> str:
    return type(index).__name__
