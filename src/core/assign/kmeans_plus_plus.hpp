// Greedy k-means++ (Arthur & Vassilvitskii 2007): each centre is the best of several candidate rows,
// which are drawn with probability proportional to their squared distance |x-C|^2 from the nearest
// chosen centre.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"

namespace boostkmeans {

// Chooses n_clusters rows, each the best of n_trials candidates. `chosen` receives their row
// indices, and `labels` the nearest of them for each row by float32 distances. Ties go to the
// centre chosen first.
template <class Rows>
void plus_plus(const Rows& rows, RowWeights row_weights, std::int64_t n_clusters, std::int64_t n_trials,
               std::uint64_t seed, std::int64_t* chosen, std::int32_t* labels, ThreadPool& pool);

}  // namespace boostkmeans
