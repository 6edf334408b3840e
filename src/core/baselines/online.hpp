// Online k-means: the nearest centre of each row moves towards the row, one row after the other.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.hpp"

namespace boostkmeans {

// Sets C = C + rate * (x - C) for the centre C nearest to x, for all rows in the given order. `centres`
// is k x d in the frame of the rows, and 0 <= rate < 1. Returns the number of rows visited, which is
// less than n_order if a stop was requested.
template <class Rows>
std::int64_t online_pass(const Rows& rows, double* centres, std::int64_t n_clusters,
                         const std::int64_t* order, std::int64_t n_order, double rate,
                         StopToken& stop_token);

}  // namespace boostkmeans
