"""What is in an index of faiss: centres, codebooks, codes."""

from typing import Any, NamedTuple

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans.interop._faiss import faiss_module
from boostkmeans.quantization._codes import MAX_CENTROIDS, Codes, code_type
from boostkmeans.quantization._product_quantizer import ProductQuantizer

# How far A'A may be from 1, where A is a rotation in float32.
MOST_SKEWED = 1e-3


class _Inside(NamedTuple):
    index: Any
    rotation: Floats | None
    """What rows are multiplied with from the right before they come to it."""


def centres_from_faiss(index: Any) -> Floats:
    """The centres of the lists of a trained IVF index, (k, d), for `BoostKMeans(init=centres)`, say.

    If there is a rotation in front of the index, it is undone: centres are in the space of the rows. If
    rows are scaled to unit length there, they are centres of such rows, for metric="cosine".
    """
    faiss = faiss_module()
    inside = _inside(index)
    if not isinstance(inside.index, faiss.IndexIVF):
        raise TypeError(f"An IVF index of faiss has centres. Got {_name(inside.index)}, without any.")
    coarse = faiss.downcast_index(inside.index.quantizer)
    n_lists = inside.index.nlist
    if coarse.ntotal != n_lists:
        raise ValueError(f"The index has {n_lists} lists, and {coarse.ntotal} centres: train it first.")
    try:
        coarse.reconstruct(0)  # where it cannot, faiss would end the process if asked for all of them
    except RuntimeError as error:
        raise TypeError(
            f"The coarse quantizer, a {_name(coarse)}, does not give its centres."
        ) from error
    centres: Floats = coarse.reconstruct_n(0, n_lists).astype(np.float64)
    return centres if inside.rotation is None else centres @ inside.rotation.T


def quantizer_from_faiss(index: Any) -> ProductQuantizer:
    """A fitted `ProductQuantizer` with the codebooks of a trained IndexPQ or IndexIVFPQ.

    A rotation in front of the index (`faiss.OPQMatrix`, or any `LinearTransform` that is orthogonal)
    becomes that of the quantizer. What it was trained on is not known: `distortions_` are NaN. That of
    an IndexIVFPQ is one of residuals, unless the index has `by_residual` False. Where the index scales
    rows to unit length first (`faiss.NormalizationTransform`), give the quantizer such rows.
    """
    faiss = faiss_module()
    inside = _inside(index)
    kinds = (faiss.IndexPQ, faiss.IndexIVFPQ, faiss.IndexPQFastScan, faiss.IndexIVFPQFastScan)
    if not isinstance(inside.index, kinds):
        raise TypeError(
            f"An IndexPQ or IndexIVFPQ of faiss has codebooks. Got {_name(inside.index)}, without any."
        )
    pq = inside.index.pq
    if pq.ksub > MAX_CENTROIDS:
        raise ValueError(
            f"The codebooks of the index have {pq.ksub} centroids, and a ProductQuantizer has up to "
            f"{MAX_CENTROIDS}. Train the index with 16 bits at most."
        )
    codebooks = faiss.vector_to_array(pq.centroids).reshape(pq.M, pq.ksub, pq.dsub)
    quantizer = ProductQuantizer(pq.M, pq.ksub, rotation=inside.rotation is not None)
    quantizer.__dict__.update(
        n_features_in_=pq.d,
        codebooks_=codebooks,
        rotation_=inside.rotation,
        distortions_=np.full(pq.M, np.nan),
        distortion_=float("nan"),
    )
    return quantizer


def codes_from_faiss(index: Any) -> Codes:
    """The codes in an IndexPQ, (n, n_subspaces), as `ProductQuantizer.encode` gives them."""
    faiss = faiss_module()
    inside = _inside(index).index  # beside `index`, which may own it
    if not isinstance(inside, faiss.IndexPQ):
        raise TypeError(f"codes_from_faiss takes an IndexPQ of faiss. Got {_name(inside)}.")
    pq = inside.pq
    packed = faiss.vector_to_array(inside.codes).reshape(inside.ntotal, pq.code_size)
    codes = packed if pq.nbits == 8 else faiss.unpack_bitstrings(packed, pq.M, pq.nbits)
    return np.ascontiguousarray(codes, dtype=code_type(pq.ksub))


def _inside(index: Any) -> _Inside:
    """A trained index without what is around it."""
    faiss = faiss_module()
    if not isinstance(index, faiss.Index):
        raise TypeError(f"index should be an index of faiss. Got {_name(index)}.")
    if not index.is_trained:
        raise ValueError(f"The {_name(index)} is not trained yet: call its train first.")
    rotation = None
    index = faiss.downcast_index(index)
    while isinstance(index, faiss.IndexPreTransform | faiss.IndexIDMap):
        if isinstance(index, faiss.IndexPreTransform):
            for number in range(index.chain.size()):
                step = _rotation_of(faiss.downcast_VectorTransform(index.chain.at(number)))
                if step is not None:
                    rotation = step if rotation is None else rotation @ step
        index = faiss.downcast_index(index.index)
    return _Inside(index, rotation)


def _rotation_of(step: Any) -> Floats | None:
    """None for unit length, which is the same before and after a rotation."""
    faiss = faiss_module()
    if isinstance(step, faiss.NormalizationTransform) and step.norm == 2:
        return None
    if isinstance(step, faiss.LinearTransform) and step.d_in == step.d_out and not step.have_bias:
        matrix = faiss.vector_to_array(step.A).reshape(step.d_out, step.d_in).T.astype(np.float64)
        if np.abs(matrix.T @ matrix - np.eye(step.d_in)).max() <= MOST_SKEWED:
            # The nearest orthogonal matrix: what float32 has lost.
            left, _, right = np.linalg.svd(matrix)
            return np.asarray(left @ right)
    raise ValueError(
        f"The {_name(step)} ({step.d_in} to {step.d_out} features) before the index is no rotation, and "
        " a ProductQuantizer has nothing else. Transform the rows before, and index the result."
    )


def _name(index: Any) -> str:
    return type(index).__name__
