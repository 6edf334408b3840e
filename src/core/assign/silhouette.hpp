// The silhouette of rows (Rousseeuw 1987), from the distances of all pairs of rows, in float64.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"

namespace boostkmeans {

struct SilhouetteOptions {
  // The distance of two rows is |x-y|, or |x-y|^2 / 2 if this is true: the cosine distance of rows of
  // unit length.
  bool cosine = false;
  // n, or null: amount that is added to all distances of a row to other rows.
  const double* additions = nullptr;
};

// Computes (b - a) / max(a, b) of rows [first, first + count), where a is the mean distance of a row to
// the other rows of its cluster, and b the smallest mean distance to the rows of another cluster. The
// result is 0 if the row is alone in its cluster. A weight of w counts as w equal rows, and a row leaves
// itself out with the weight min(w, 1). There must be two clusters of positive weight.
//
// The time is proportional to count * n * d. Memory beyond the rows: O(n).
template <class Rows>
void silhouette(const Rows& rows, RowWeights row_weights, const std::int32_t* labels,
                std::int64_t n_clusters, const SilhouetteOptions& options, std::int64_t first,
                std::int64_t count, double* out, ThreadPool& pool);

}  // namespace boostkmeans
