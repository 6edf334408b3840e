// Projection of rows onto a few axes, such as principal components.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.hpp"
#include "rows/dense_rows.hpp"

namespace boostkmeans {

// Computes scale * axes^T x of all rows, in float32. `axes` has shape n_features x n_axes and must not
// lengthen any vector. A row of `out` has n_axes + 1 values. The last one is
// scale * sqrt(|x|^2 - |axes^T x|^2), the length of the part of the row that the axes do not show.
// Distances between rows of `out` are therefore lower bounds of the distances between the rows, times
// scale.
void project(const DenseRows& rows, const double* axes, std::int64_t n_axes, double scale, float* out,
             ThreadPool& pool);

}  // namespace boostkmeans
