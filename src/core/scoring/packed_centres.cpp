#include "scoring/packed_centres.hpp"

#include <algorithm>
#include <cmath>

namespace boostkmeans {

namespace {

std::int64_t quads_of(std::int64_t n_features) { return (n_features + 3) / 4; }

// Kernels that multiply signed bytes subtract this number from the bytes of rows.
constexpr std::int32_t kMiddleByte = 128;

// Rounds -2 C to bytes such that x . -2 C = scale * (x . bytes - offset). `sum` is the sum of the bytes,
// multiplied by kMiddleByte. Returns |C|^2.
float to_bytes(const DenseRows& rows, const double* composite, double inverse, std::int32_t* quads,
               float& scale, float& offset, std::int32_t& sum) {
  constexpr double kLargest = 127.0;
  const std::int64_t n = rows.n_features();
  double norm = 0.0, largest = 0.0, shifted = 0.0;
  for (std::int64_t j = 0; j < n; ++j) {
    norm += composite[j] * composite[j];
    largest = std::max(largest, std::abs(composite[j]));
  }
  std::fill_n(quads, quads_of(n), 0);
  sum = 0;
  auto* bytes = reinterpret_cast<signed char*>(quads);
  const double factor = largest > 0.0 ? -kLargest / largest : 0.0;
  for (std::int64_t j = 0; j < n; ++j) {
    const double q = std::nearbyint(composite[j] * factor);
    bytes[j] = static_cast<signed char>(q);
    sum += bytes[j];
    shifted += q * rows.byte_shift(j);
  }
  scale = static_cast<float>(2.0 * largest * inverse / kLargest * rows.byte_scale());
  offset = static_cast<float>(shifted);
  sum *= kMiddleByte;
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

PackedCentres::PackedCentres(const Kernel& kernel, std::int64_t n_clusters, std::int64_t n_features,
                             const DenseRows* bytes)
    : kernel_(kernel),
      width_(kernel.panel_width),
      n_clusters_(n_clusters),
      n_features_(n_features),
      n_panels_((n_clusters + width_ - 1) / width_),
      bytes_(bytes),
      values_(bytes != nullptr ? 0 : n_panels_ * width_ * n_features),
      quads_(bytes != nullptr ? n_panels_ * width_ * quads_of(n_features) : 0),
      scalars_(n_panels_ * width_),
      byte_scales_(n_panels_ * width_),
      byte_offsets_(n_panels_ * width_),
      byte_sums_(n_panels_ * width_) {
  std::fill_n(values_.get(), bytes != nullptr ? 0 : n_panels_ * width_ * n_features, 0.0f);
  std::fill_n(quads_.get(), bytes != nullptr ? n_panels_ * width_ * quads_of(n_features) : 0, 0);
  for (std::int64_t c = n_clusters; c < n_panels_ * width_; ++c) set_never(c);
}

void PackedCentres::set(std::int64_t cluster, const double* composite, double weight) {
  const std::int64_t first = cluster / width_ * width_, column = cluster % width_;
  float norm = 0.0f;
  if (bytes_ != nullptr) {
    const std::int64_t n_quads = quads_of(n_features_);
    Buffer<std::int32_t> quads(n_quads);
    norm = to_bytes(*bytes_, composite, inverse_of(weight), quads.get(), byte_scales_[cluster],
                    byte_offsets_[cluster], byte_sums_[cluster]);
    for (std::int64_t j = 0; j < n_quads; ++j) quads_[first * n_quads + column + j * width_] = quads[j];
  } else {
    norm = pack_column(composite, inverse_of(weight), n_features_, width_,
                       values_.get() + first * n_features_ + column);
  }
  scalars_.set(cluster, norm, weight);
}

void PackedCentres::set_never(std::int64_t cluster) {
  scalars_.set_never(cluster);
  byte_scales_[cluster] = byte_offsets_[cluster] = 0.0f;
  byte_sums_[cluster] = 0;
}

void PackedCentres::gather(const CentreTable& table, const std::int32_t* clusters, std::int64_t count) {
  kernel_.pack(table.values_.get(), table.step_, clusters, count, n_features_, values_.get());
  for (std::int64_t i = 0; i < count; ++i) scalars_.copy(i, table.scalars_, clusters[i]);
  n_clusters_ = count;
  n_panels_ = (count + width_ - 1) / width_;
  for (std::int64_t c = count; c < n_panels_ * width_; ++c) set_never(c);
}

CentreTable::CentreTable(const Kernel& kernel, std::int64_t n_clusters, std::int64_t n_features)
    : kernel_(kernel),
      n_features_(n_features),
      step_(flat_layout(n_features).row_step),
      values_(n_clusters * step_),
      scalars_(n_clusters) {}

void CentreTable::set(std::int64_t cluster, const double* composite, double weight) {
  float* row = values_.get() + cluster * step_;
  const float norm = kernel_.flat_centre(composite, inverse_of(weight), n_features_, row);
  std::fill_n(row + n_features_, step_ - n_features_, 0.0f);
  scalars_.set(cluster, norm, weight);
}

void CentreTable::set_never(std::int64_t cluster) {
  std::fill_n(values_.get() + cluster * step_, step_, 0.0f);
  scalars_.set_never(cluster);
}

PanelView PackedCentres::view() const {
  return {values_.get(),
          scalars_.norms.get(),
          scalars_.factors.get(),
          scalars_.inverse_weights.get(),
          static_cast<std::int32_t>(n_clusters_),
          bytes_ != nullptr ? quads_.get() : nullptr,
          byte_scales_.get(),
          byte_offsets_.get(),
          byte_sums_.get()};
}

}  // namespace boostkmeans
