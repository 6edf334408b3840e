// The nearest other centres of each centre.
//
// Centres are divided into groups, and each group has a list of groups to search. If every list contains
// all groups, the result is exact. If lists contain the nearest groups, the result is almost exact, and
// the time grows in proportion to k instead of its square.
#pragma once

#include <cstdint>

#include "kernel/kernel.hpp"
#include "parallel/thread_pool.hpp"

namespace boostkmeans {

struct Groups {
  const std::int32_t* order;   // k: centres, group by group
  const std::int64_t* starts;  // n_groups + 1: start of each group in `order`
  const std::int32_t* lists;   // n_groups x list_length: groups to search, padded with -1
  std::int64_t n_groups;
  std::int64_t list_length;
};

// `out` (k x n_neighbours) receives the neighbours of each centre, nearest first, padded with -1.
// `previous` is null or has earlier lists of the same shape. Their centres are compared, too, wherever
// they are.
void neighbours(const Kernel& kernel, const double* centres, std::int64_t n_clusters,
                std::int64_t n_features, const Groups& groups, std::int64_t n_neighbours,
                const std::int32_t* previous, std::int32_t* out, ThreadPool& pool);

// Computes |C_a - C_b|^2 of pairs of centres in float64, with C = composite / weight, or C = composite
// if the weight is 0.
void pair_distances(const Kernel& kernel, const double* composites, const double* weights,
                    std::int64_t n_features, const std::int64_t* a, const std::int64_t* b,
                    std::int64_t n_pairs, double* out, ThreadPool& pool);

}  // namespace boostkmeans
