// The exact nearest centre of rows that have a projection and a guess, such as the label of a fit.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.hpp"
#include "projection/lower_bounds.hpp"
#include "rows/dense_rows.hpp"

namespace boostkmeans {

// Replaces each label by the nearest centre. Distances are computed in float64, for the centres that
// lower bounds do not exclude. Ties go to the smaller index. `distances` (or null) receives |x-C|^2.
void bounded_nearest(const DenseRows& rows, const double* centres, std::int64_t n_clusters,
                     const ProjectedRows& projected, std::int32_t* labels, double* distances,
                     ThreadPool& pool);

}  // namespace boostkmeans
