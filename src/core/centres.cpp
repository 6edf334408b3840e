#include "centres.hpp"

#include <algorithm>
#include <limits>

namespace boostkmeans {

namespace {

// Stands for 1 / 0: large enough to make an empty cluster free, and finite so that no NaN arises.
constexpr float kHuge = 1e30f;

double inverse_of(double weight) { return weight > 0.0 ? 1.0 / weight : 0.0; }
float factor_of(double weight) { return static_cast<float>(weight / (weight + 1.0)); }
float narrow_inverse_of(double weight) {
  return weight > 0.0 ? std::min(static_cast<float>(1.0 / weight), kHuge) : kHuge;
}

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
    : kernel_(kernel),
      width_(kernel.panel_width),
      n_clusters_(n_clusters),
      n_features_(n_features),
      n_panels_((n_clusters + width_ - 1) / width_),
      values_(n_panels_ * width_ * n_features),
      norms_(n_panels_ * width_),
      factors_(n_panels_ * width_),
      inverse_weights_(n_panels_ * width_) {
  for (std::int64_t c = (n_panels_ - 1) * width_; c < n_panels_ * width_; ++c) set_never(c);
}

void Centres::set(std::int64_t cluster, const double* composite, double weight) {
  const std::int64_t width = width_;
  float* column = values_.get() + cluster / width * width * n_features_ + cluster % width;
  norms_[cluster] = pack_column(composite, inverse_of(weight), n_features_, width, column);
  factors_[cluster] = factor_of(weight);
  inverse_weights_[cluster] = narrow_inverse_of(weight);
}

void Centres::set_never(std::int64_t cluster) {
  float* column = values_.get() + cluster / width_ * width_ * n_features_ + cluster % width_;
  for (std::int64_t j = 0; j < n_features_; ++j) column[j * width_] = 0.0f;
  norms_[cluster] = std::numeric_limits<float>::infinity();
  factors_[cluster] = 1.0f;
  inverse_weights_[cluster] = 0.0f;
}

void Centres::gather(const CentreTable& table, const std::int32_t* clusters, std::int64_t count) {
  kernel_.pack(table.values_.get(), table.step_, clusters, count, n_features_, values_.get());
  for (std::int64_t i = 0; i < count; ++i) {
    norms_[i] = table.norms_[clusters[i]];
    factors_[i] = table.factors_[clusters[i]];
    inverse_weights_[i] = table.inverse_weights_[clusters[i]];
  }
  std::fill(norms_.get() + count, norms_.get() + n_panels_ * width_,
            std::numeric_limits<float>::infinity());
}

CentreTable::CentreTable(const Kernel& kernel, std::int64_t n_clusters, std::int64_t n_features)
    : kernel_(kernel),
      n_features_(n_features),
      step_(flat_layout(n_features).row_step),
      values_(n_clusters * step_),
      norms_(n_clusters),
      factors_(n_clusters),
      inverse_weights_(n_clusters) {}

void CentreTable::set(std::int64_t cluster, const double* composite, double weight) {
  float* row = values_.get() + cluster * step_;
  norms_[cluster] = kernel_.flat_centre(composite, inverse_of(weight), n_features_, row);
  std::fill_n(row + n_features_, step_ - n_features_, 0.0f);
  factors_[cluster] = factor_of(weight);
  inverse_weights_[cluster] = narrow_inverse_of(weight);
}

PanelView Centres::view() const {
  return {values_.get(), norms_.get(), factors_.get(), inverse_weights_.get(),
          static_cast<std::int32_t>(n_clusters_)};
}

}  // namespace boostkmeans
