// The exact k nearest points of each row. float32 distances exclude most points, float64 distances
// decide. Intended for a few rows and many points, which are passed in blocks.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.hpp"
#include "rows/dense_rows.hpp"

namespace boostkmeans {

// Merges a block of points into the results. `points` is n_points x d in the frame of the rows, and
// its first point has the index `first`. `ids` and `distances` (n_rows x k) contain the nearest
// points of all blocks so far and their squared distances, nearest first, with ties ordered by
// index. They are padded with -1 and infinity.
void nearest_rows(const DenseRows& rows, const double* points, std::int64_t n_points, std::int64_t first,
                  std::int64_t k, std::int64_t* ids, double* distances, ThreadPool& pool);

}  // namespace boostkmeans
