// Online k-means: the nearest centre of each row moves towards the row, one row after the other.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.hpp"
#include "rows/dense_rows.hpp"
#include "rows/sparse_rows.hpp"

namespace boostkmeans {

// Sets C = C + rate * (x - C) for the centre C nearest to x, for all rows in the given order. `centres`
// is k x d in the frame of the rows, and 0 <= rate < 1. Returns the number of rows visited, which is
// less than n_order if a stop was requested. Threads share the work on a block of `block_rows` rows. The
// result does not depend on it, and blocks of one row are visited by one thread.
std::int64_t online_pass(const DenseRows& rows, double* centres, std::int64_t n_clusters,
                         const std::int64_t* order, std::int64_t n_order, double rate,
                         std::int64_t block_rows, ThreadPool& pool);
// The same for sparse rows, one row after the other.
std::int64_t online_pass(const SparseRows& rows, double* centres, std::int64_t n_clusters,
                         const std::int64_t* order, std::int64_t n_order, double rate, ThreadPool& pool);

}  // namespace boostkmeans
