// The exact nearest points or centres of each row. float32 distances exclude most of them, float64
// distances decide.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.hpp"
#include "rows/dense_rows.hpp"

namespace boostkmeans {

// Finds the n nearest centres of each row. `labels` and `distances` (n_rows x n) receive their numbers
// and squared distances, nearest first, with ties ordered by number. n must not exceed n_clusters.
template <class Rows>
void nearest_many(const Rows& rows, const double* centres, std::int64_t n_clusters, std::int64_t n,
                  std::int32_t* labels, double* distances, ThreadPool& pool);

// Finds the k nearest of points that are passed in blocks. Merges a block into the results. `points` is
// n_points x d in the frame of the rows, and its first point has the index `first`. `ids` and
// `distances` (n_rows x k) contain the nearest points of all blocks so far and their squared distances,
// nearest first, with ties ordered by index. They are padded with -1 and infinity.
void nearest_rows(const DenseRows& rows, const double* points, std::int64_t n_points, std::int64_t first,
                  std::int64_t k, std::int64_t* ids, double* distances, ThreadPool& pool);

}  // namespace boostkmeans
