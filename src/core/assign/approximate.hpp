// Assigns rows to centres without comparing them with all centres. The result is the nearest centre
// for most rows.
#pragma once

#include <cstdint>

#include "assign/neighbours.hpp"
#include "parallel/thread_pool.hpp"

namespace boostkmeans {

// Finds the nearest centre of each row among the groups in the list of its own group. `row_groups`
// has the group of each row. Every list must name at least one group that is not empty.
template <class Rows>
void nearest_in_groups(const Rows& rows, const double* centres, std::int64_t n_clusters,
                       std::int32_t* row_groups, const Groups& groups, std::int32_t* labels,
                       ThreadPool& pool);

// The same for the n nearest centres, which are decided in float64. `labels` and `distances`
// (n_rows x n) receive them, nearest first, with ties ordered by number. Every list must have n centres.
template <class Rows>
void nearest_many_in_groups(const Rows& rows, const double* centres, std::int64_t n_clusters,
                            std::int32_t* row_groups, const Groups& groups, std::int64_t n,
                            std::int32_t* labels, double* distances, ThreadPool& pool);

// Descends a tree from node 0, always to the nearest child, in float64. `children` (n_nodes x s) is
// padded with -1, `centres` has one centre per node. `leaves` receives the index of the last node.
template <class Rows>
void descend(const Rows& rows, const std::int32_t* children, std::int64_t n_nodes,
             std::int64_t n_sections, const double* centres, std::int32_t* leaves, ThreadPool& pool);

}  // namespace boostkmeans
