"""Export of centres and codebooks to faiss, and import from it.

`to_faiss_ivf_flat`, `to_faiss_pq` and `to_faiss_ivf_pq` build a trained index; the quantizer of the last
one is fitted to `residuals`. `centres_from_faiss`, `quantizer_from_faiss` and `codes_from_faiss` extract
the content of an index. All functions except `residuals` need faiss, which the extra `faiss` installs.

>>> import numpy as np
>>> from boostkmeans import BoostKMeans, interop
>>> X = np.random.default_rng(0).normal(size=(500, 8))
>>> model = BoostKMeans(n_clusters=10, random_state=0).fit(X)
>>> index = interop.to_faiss_ivf_flat(model, X)
>>> index.ntotal, index.nlist
(500, 10)
>>> bool(np.allclose(interop.centres_from_faiss(index), model.cluster_centers_))
True
"""

from boostkmeans.interop._coarse import residuals
from boostkmeans.interop._from_faiss import centres_from_faiss, codes_from_faiss, quantizer_from_faiss
from boostkmeans.interop._to_faiss import to_faiss_ivf_flat, to_faiss_ivf_pq, to_faiss_pq

__all__ = [
    "centres_from_faiss",
    "codes_from_faiss",
    "quantizer_from_faiss",
    "residuals",
    "to_faiss_ivf_flat",
    "to_faiss_ivf_pq",
    "to_faiss_pq",
]
