"""Reasons why boostkmeans is not first on a problem, written by hand from profiles and curves."""

_SAMPLE = (
    "These settings train on a sample. They finish before the first record of boostkmeans, with a much "
    "higher inertia (see the table above)."
)

REASONS: dict[str, str] = {
    "blobs 10,000 x 8, k=8": (
        "All times are a few milliseconds. A fit of boostkmeans takes at least 8 ms for validation, the "
        "start, the repair and the final check in float64."
    ),
    "birch1 100,000 x 2, k=100": _SAMPLE,
    "blobs 100,000 x 32, k=64": _SAMPLE,
    "normal 10,000 x 64, k=500": _SAMPLE,
    "SIFT 10,000 x 128, k=256": (
        "There are few rows. The initialization of boostkmeans, a tree with repair, takes as long as "
        "ten iterations of k-means from random rows."
    ),
    "SIFT 100,000 x 128, k=256": _SAMPLE,
    "embeddings 50,000 x 1,536, k=100": _SAMPLE,
    "embeddings 100,000 x 768, k=2,000": (
        "A tree of 2,000 leaves in 768 dimensions takes as long as the whole training of these peers, "
        "which end 9 % above boostkmeans."
    ),
    "normal 1,000,000 x 16, k=16": (
        "The data have no structure, and each cluster has 62,500 rows. With clusters this large, the "
        "rule for single moves is nearly the same as Lloyd's rule, so there is little to gain, and "
        "only the cost of a pass matters. The defaults stop at an inertia that is a tenth of a percent "
        "higher than that of settings that run longer. With tol=1e-6, it is a few hundredths of a "
        "percent higher."
    ),
    "blobs 10,000,000 x 8, k=32": (
        "With eight features, a pass over all rows is limited by memory bandwidth. Training on a sample "
        "of 8,192 rows gives an inertia that is at most a few percent higher."
    ),
    "MNIST 70,000 x 784, k=10": (
        "Each of the ten clusters has 7,000 rows. A sample of a few thousand rows is nearly as good as "
        "all rows, and the defaults of boostkmeans use all rows. They end within 0.01 % of the lowest "
        "inertia of the peers."
    ),
}
