#include "centres.hpp"

#include <algorithm>
#include <limits>

namespace boostkmeans {

namespace {

// Stands for 1 / 0: large enough to make an empty cluster free, and finite so that no NaN arises.
constexpr float kHuge = 1e30f;

}  // namespace

float pack_column(const double* composite, double inverse, std::int64_t n_features, std::int64_t step,
                  float* column) {
  double norm = 0.0;
  for (std::int64_t j = 0; j < n_features; ++j) {
    const float value = static_cast<float>(composite[j] * inverse);
    column[j * step] = -2.0f * value;
    norm += static_cast<double>(value) * static_cast<double>(value);
  }
  return static_cast<float>(norm);
}

Centres::Centres(const Kernel& kernel, std::int64_t n_clusters, std::int64_t n_features)
    : width_(kernel.panel_width),
      n_clusters_(n_clusters),
      n_features_(n_features),
      n_panels_((n_clusters + width_ - 1) / width_),
      values_(n_panels_ * width_ * n_features),
      norms_(n_panels_ * width_),
      factors_(n_panels_ * width_),
      inverse_weights_(n_panels_ * width_) {
  const std::int64_t last = (n_panels_ - 1) * width_;
  std::fill_n(values_.get() + last * n_features, width_ * n_features, 0.0f);
  std::fill_n(norms_.get() + last, width_, std::numeric_limits<float>::infinity());
  std::fill_n(factors_.get() + last, width_, 1.0f);
  std::fill_n(inverse_weights_.get() + last, width_, 0.0f);
}

void Centres::set(std::int64_t cluster, const double* composite, double weight) {
  const std::int64_t width = width_;
  float* column = values_.get() + cluster / width * width * n_features_ + cluster % width;
  const double inverse = weight > 0.0 ? 1.0 / weight : 0.0;
  norms_[cluster] = pack_column(composite, inverse, n_features_, width, column);
  factors_[cluster] = static_cast<float>(weight / (weight + 1.0));
  inverse_weights_[cluster] = weight > 0.0 ? std::min(static_cast<float>(inverse), kHuge) : kHuge;
}

PanelView Centres::view() const {
  return {values_.get(), norms_.get(), factors_.get(), inverse_weights_.get(),
          static_cast<std::int32_t>(n_clusters_)};
}

}  // namespace boostkmeans
