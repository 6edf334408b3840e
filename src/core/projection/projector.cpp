#include "projection/projector.hpp"

#include <algorithm>
#include <cmath>

namespace boostkmeans {

Projector::Projector(const Kernel& kernel, const double* axes, std::int64_t n_features,
                     std::int64_t n_axes, double scale)
    : kernel_(kernel),
      width_(kernel.panel_width),
      n_axes_(n_axes),
      n_panels_((n_axes + width_ - 1) / width_),
      scale_(scale),
      values_(n_columns() * n_features),
      zeros_(std::max(n_columns(), kBatchRows)) {
  std::fill_n(values_.get(), n_columns() * n_features, 0.0f);
  std::fill_n(zeros_.get(), std::max(n_columns(), kBatchRows), 0.0f);
  for (std::int64_t j = 0; j < n_features; ++j)
    for (std::int64_t i = 0; i < n_axes; ++i)
      values_[(i / width_ * n_features + j) * width_ + i % width_] =
          static_cast<float>(axes[j * n_axes + i] * scale);
}

void Projector::multiply(const RowBatch<DenseRows>& batch, float* products) const {
  TileView tile = batch.view();
  tile.norms = zeros_.get();
  PanelView panels;
  panels.values = values_.get();
  panels.norms = zeros_.get();
  panels.n_clusters = static_cast<std::int32_t>(n_columns());
  kernel_.score(tile, panels, 0, n_panels_, products, n_columns());
}

double Projector::rest(const float* products, double square) const {
  double shown = 0.0;
  for (std::int64_t i = 0; i < n_axes_; ++i)
    shown += static_cast<double>(products[i]) * static_cast<double>(products[i]);
  return std::sqrt(std::max(0.0, scale_ * scale_ * square - shown));
}

// A coordinate is a sum of n_features products, so its error is at most n_features units times the
// lengths of the row and the axis. The rest is the root of a difference of squares.
double projection_error(std::int64_t n_features, std::int64_t n_axes, double length, double rest) {
  constexpr double kUnit = 0x1p-24;  // largest relative rounding error of float32
  const double n_products = static_cast<double>(n_features + 16);
  const double shown = std::sqrt(static_cast<double>(n_axes)) * n_products * kUnit * length;
  const double of_square = 3.0 * length * shown;
  const double of_rest =
      rest > 0.0 ? std::min(std::sqrt(of_square), of_square / rest) : std::sqrt(of_square);
  return shown + of_rest + 4.0 * kUnit * length;
}

}  // namespace boostkmeans
