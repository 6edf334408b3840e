#include "centres.hpp"

#include <algorithm>
#include <cmath>
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

std::int64_t quads_of(std::int64_t n_features) { return (n_features + 3) / 4; }

// -2 C in bytes, what they are to be multiplied with, and what to take off before. Returns |C|^2.
float to_bytes(const DenseRows& rows, const double* composite, double inverse, std::int32_t* quads,
               float& scale, float& offset) {
  constexpr double kLargest = 127.0;
  const std::int64_t n = rows.n_features();
  double norm = 0.0, largest = 0.0, shifted = 0.0;
  for (std::int64_t j = 0; j < n; ++j) {
    norm += composite[j] * composite[j];
    largest = std::max(largest, std::abs(composite[j]));
  }
  std::fill_n(quads, quads_of(n), 0);
  auto* bytes = reinterpret_cast<signed char*>(quads);
  const double factor = largest > 0.0 ? -kLargest / largest : 0.0;
  for (std::int64_t j = 0; j < n; ++j) {
    const double q = std::nearbyint(composite[j] * factor);
    bytes[j] = static_cast<signed char>(q);
    shifted += q * rows.byte_shift(j);
  }
  scale = static_cast<float>(2.0 * largest * inverse / kLargest * rows.byte_scale());
  offset = static_cast<float>(shifted);
  return static_cast<float>(norm * inverse * inverse);
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

Centres::Centres(const Kernel& kernel, std::int64_t n_clusters, std::int64_t n_features,
                 const DenseRows* bytes)
    : kernel_(kernel),
      width_(kernel.panel_width),
      n_clusters_(n_clusters),
      n_features_(n_features),
      n_panels_((n_clusters + width_ - 1) / width_),
      bytes_(bytes),
      values_(bytes ? 0 : n_panels_ * width_ * n_features),
      quads_(bytes ? n_panels_ * width_ * quads_of(n_features) : 0),
      norms_(n_panels_ * width_),
      factors_(n_panels_ * width_),
      inverse_weights_(n_panels_ * width_),
      byte_scales_(n_panels_ * width_),
      byte_offsets_(n_panels_ * width_) {
  std::fill_n(values_.get(), bytes ? 0 : n_panels_ * width_ * n_features, 0.0f);
  std::fill_n(quads_.get(), bytes ? n_panels_ * width_ * quads_of(n_features) : 0, 0);
  for (std::int64_t c = n_clusters; c < n_panels_ * width_; ++c) set_never(c);
}

void Centres::set(std::int64_t cluster, const double* composite, double weight) {
  const std::int64_t first = cluster / width_ * width_, column = cluster % width_;
  if (bytes_ != nullptr) {
    const std::int64_t n_quads = quads_of(n_features_);
    Buffer<std::int32_t> quads(n_quads);
    norms_[cluster] = to_bytes(*bytes_, composite, inverse_of(weight), quads.get(),
                               byte_scales_[cluster], byte_offsets_[cluster]);
    for (std::int64_t j = 0; j < n_quads; ++j) quads_[first * n_quads + column + j * width_] = quads[j];
  } else {
    norms_[cluster] = pack_column(composite, inverse_of(weight), n_features_, width_,
                                  values_.get() + first * n_features_ + column);
  }
  factors_[cluster] = factor_of(weight);
  inverse_weights_[cluster] = narrow_inverse_of(weight);
}

void Centres::set_never(std::int64_t cluster) {
  norms_[cluster] = std::numeric_limits<float>::infinity();
  factors_[cluster] = 1.0f;
  inverse_weights_[cluster] = 0.0f;
  byte_scales_[cluster] = byte_offsets_[cluster] = 0.0f;
}

void Centres::gather(const CentreTable& table, const std::int32_t* clusters, std::int64_t count) {
  kernel_.pack(table.values_.get(), table.step_, clusters, count, n_features_, values_.get());
  for (std::int64_t i = 0; i < count; ++i) {
    norms_[i] = table.norms_[clusters[i]];
    factors_[i] = table.factors_[clusters[i]];
    inverse_weights_[i] = table.inverse_weights_[clusters[i]];
  }
  n_clusters_ = count;
  n_panels_ = (count + width_ - 1) / width_;
  for (std::int64_t c = count; c < n_panels_ * width_; ++c) set_never(c);
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

void CentreTable::set_never(std::int64_t cluster) {
  std::fill_n(values_.get() + cluster * step_, step_, 0.0f);
  norms_[cluster] = std::numeric_limits<float>::infinity();
  factors_[cluster] = 1.0f;
  inverse_weights_[cluster] = 0.0f;
}

void CentreTable::add_price(std::int64_t cluster, double price) {
  norms_[cluster] += static_cast<float>(price);
}

void Centres::add_price(std::int64_t cluster, double price) {
  norms_[cluster] += static_cast<float>(price);
}

PanelView Centres::view() const {
  return {values_.get(),
          norms_.get(),
          factors_.get(),
          inverse_weights_.get(),
          static_cast<std::int32_t>(n_clusters_),
          bytes_ != nullptr ? quads_.get() : nullptr,
          byte_scales_.get(),
          byte_offsets_.get()};
}

}  // namespace boostkmeans
