// The nearest other centres of each centre.
//
// Centres come in groups, and each group with a list of groups in which its centres look. With all
// groups in every list the result is exact; with the nearest ones it is nearly so, at a cost that grows
// with k and not with its square.
#pragma once

#include <cstdint>

#include "kernel/kernel.hpp"
#include "parallel/thread_pool.hpp"

namespace boostkmeans {

struct Groups {
  const std::int32_t* order;   // k: centres, group by group
  const std::int64_t* starts;  // n_groups + 1: where each group begins in `order`
  const std::int32_t* lists;   // n_groups x list_length: where to look; a group that is -1 is left out
  std::int64_t n_groups;
  std::int64_t list_length;
};

// `out`: k x n_neighbours, nearest first. Where a centre saw fewer, its list is filled up with -1.
void neighbours(const Kernel& kernel, const double* centres, std::int64_t n_clusters,
                std::int64_t n_features, const Groups& groups, std::int64_t n_neighbours,
                std::int32_t* out, Team& team);

// |C_a - C_b|^2 in float64 of pairs of centres, C = composite / weight (or the composite itself, if that
// is 0).
void pair_gaps(const Kernel& kernel, const double* composites, const double* weights,
               std::int64_t n_features, const std::int64_t* a, const std::int64_t* b,
               std::int64_t n_pairs, double* out, Team& team);

}  // namespace boostkmeans
