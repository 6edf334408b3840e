// Greedy k-means++ (Arthur & Vassilvitskii 2007): each next centre is the best of several rows that
// were drawn with probability proportional to their distance |x-C|^2 from the centres so far.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"

namespace boostkmeans {

// Fills `chosen` (k row numbers) and `labels` (the nearest of them for each row, in float32; equal
// distances go to the centre chosen first).
template <class Rows>
void plus_plus(const Rows& rows, RowWeights row_weights, std::int64_t n_clusters, std::int64_t n_trials,
               std::uint64_t seed, std::int64_t* chosen, std::int32_t* labels, Team& team);

}  // namespace boostkmeans
