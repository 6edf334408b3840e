// Assigns rows to centres without comparing them with all centres. Most rows get the nearest centre.
#pragma once

#include <cstdint>

#include "assign/neighbours.hpp"
#include "parallel/thread_pool.hpp"

namespace boostkmeans {

// Finds the nearest of the centres in the groups that are listed for the group of each row. `row_groups`
// has one group per row. Every list must name at least one group that is not empty.
template <class Rows>
void nearest_in_groups(const Rows& rows, const double* centres, std::int64_t n_clusters,
                       std::int32_t* row_groups, const Groups& groups, std::int32_t* labels,
                       ThreadPool& pool);

// Descends a tree from node 0, always to the nearest child, in float64. `children` (n_nodes x s) is
// padded with -1, `centres` has one centre per node. `leaves` gets the number of the last node.
template <class Rows>
void descend(const Rows& rows, const std::int32_t* children, std::int64_t n_nodes,
             std::int64_t n_sections, const double* centres, std::int32_t* leaves, ThreadPool& pool);

}  // namespace boostkmeans
