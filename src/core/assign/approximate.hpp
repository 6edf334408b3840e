// Rows to clusters without looking at all of them: nearly always to the nearest one.
#pragma once

#include <cstdint>

#include "assign/neighbours.hpp"
#include "parallel/thread_pool.hpp"

namespace boostkmeans {

// The nearest of the centres in the groups that are listed for the group of a row. `row_groups` has a
// group for each row; every list names a group with centres.
template <class Rows>
void nearest_in_groups(const Rows& rows, const double* centres, std::int64_t n_clusters,
                       std::int32_t* row_groups, const Groups& groups, std::int32_t* labels, Team& team);

// From node 0 of a tree on, always to the nearest child, in float64. `children` (n_nodes x s) is -1
// where there is none, `centres` has one for each node; `leaves` gets the number of the last node.
template <class Rows>
void descend(const Rows& rows, const std::int32_t* children, std::int64_t n_nodes,
             std::int64_t n_sections, const double* centres, std::int32_t* leaves, Team& team);

}  // namespace boostkmeans
