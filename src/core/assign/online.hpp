// Online k-means: row by row, the nearest centre moves a little towards the row.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.hpp"

namespace boostkmeans {

// C := C + rate * (x - C) for the centre C nearest to x, for the rows in that order. `centres` is k x d
// in the frame of the rows; 0 <= rate < 1. Returns how many rows had their turn: fewer if the watch says
// stop.
template <class Rows>
std::int64_t online_pass(const Rows& rows, double* centres, std::int64_t n_clusters,
                         const std::int64_t* order, std::int64_t n_order, double rate, Watch& watch);

}  // namespace boostkmeans
