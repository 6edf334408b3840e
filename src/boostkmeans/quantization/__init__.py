"""Product quantization: short codes for vectors, and nearest-neighbour search among them.

`ProductQuantizer` learns codebooks and encodes rows. `exact_neighbors` computes the ground truth that an
approximate search is compared with. `check_codes` validates codes that were read from elsewhere.
`training_rows` chooses the rows of a file to train on, and `search_batches` searches for the queries in
a file.

>>> import numpy as np
>>> from boostkmeans.quantization import ProductQuantizer
>>> X = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)
>>> ProductQuantizer(n_subspaces=2, n_centroids=16, random_state=0).fit(X).encode(X).shape
(300, 2)
"""

from boostkmeans.quantization._batch_search import search_batches
from boostkmeans.quantization._codes import MAX_CENTROIDS, Codes, check_codes, code_type
from boostkmeans.quantization._exact_neighbors import exact_neighbors
from boostkmeans.quantization._neighbors import Neighbors
from boostkmeans.quantization._product_quantizer import ProductQuantizer
from boostkmeans.quantization._record import QuantizerRecord
from boostkmeans.quantization._training_rows import training_rows

__all__ = [
    "MAX_CENTROIDS",
    "Codes",
    "Neighbors",
    "ProductQuantizer",
    "QuantizerRecord",
    "check_codes",
    "code_type",
    "exact_neighbors",
    "search_batches",
    "training_rows",
]
