// Products of batches of rows with a few axes.
#pragma once

#include <cstdint>

#include "rows/dense_rows.hpp"
#include "scoring/row_batch.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

// Axes in float32, packed like centres. Without norms, the kernel's scores are plain products.
class Projector {
 public:
  // `axes` has shape n_features x n_axes. It must not lengthen any vector.
  Projector(const Kernel& kernel, const double* axes, std::int64_t n_features, std::int64_t n_axes,
            double scale);

  std::int64_t n_axes() const { return n_axes_; }
  // Number of values for the products of one row, including padding.
  std::int64_t n_columns() const { return n_panels_ * width_; }
  // Computes the products of all rows of a batch. Those of row r start at products[r * n_columns()].
  void multiply(const RowBatch<DenseRows>& batch, float* products) const;
  // Returns scale * sqrt(|x|^2 - |axes^T x|^2) for a row with these products.
  double rest(const float* products, double square) const;

 private:
  const Kernel& kernel_;
  std::int64_t width_, n_axes_, n_panels_;
  double scale_;
  Buffer<float> values_;
  Buffer<float> zeros_;  // norms of axes and rows
};

// Bound on the distance between the computed coordinates and rest of a row and the exact ones. `length`
// is the length of the row and `rest` that of its rest, in units of the scale.
double projection_error(std::int64_t n_features, std::int64_t n_axes, double length, double rest);

}  // namespace boostkmeans
