// The k nearest of many points, exactly, for each row: float32 picks out who may be among them, float64
// decides. For a few rows among many points that come block by block.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.hpp"
#include "rows/dense_rows.hpp"

namespace boostkmeans {

// `points` is n_points x d in the frame of the rows; the first of them has the number `first`. `ids` and
// `distances` (n_rows x k, squared) have the nearest among all points before, nearest first, equal ones
// by their number; where there were fewer, -1 and infinity.
void nearest_rows(const DenseRows& rows, const double* points, std::int64_t n_points, std::int64_t first,
                  std::int64_t k, std::int64_t* ids, double* distances, Team& team);

}  // namespace boostkmeans
