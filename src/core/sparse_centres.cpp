#include "sparse_centres.hpp"

#include <algorithm>

namespace boostkmeans {

SparseCentres::SparseCentres(const Kernel& kernel, std::int64_t n_clusters, std::int64_t n_features,
                             const SparseRows*)
    : width_(kernel.panel_width), n_clusters_(n_clusters), n_features_(n_features),
      n_panels_((n_clusters + width_ - 1) / width_), step_(n_panels_ * width_),
      lines_(step_ * n_features), vectors_(step_), scales_(step_) {
  for (std::int64_t c = 0; c < step_; ++c) set_never(c);
}

void SparseCentres::fill(const double* composites, Team& team) {
  constexpr std::int64_t kTerms = 64;  // so that reading and writing both go over whole cache lines
  team.for_each((n_features_ + kTerms - 1) / kTerms, [&](std::int64_t block, int) {
    const std::int64_t begin = block * kTerms, end = std::min(n_features_, begin + kTerms);
    for (std::int64_t c = 0; c < n_clusters_; ++c)
      for (std::int64_t j = begin; j < end; ++j) set_term(j, c, composites[c * n_features_ + j]);
    for (std::int64_t j = begin; j < end; ++j)
      std::fill(lines_.get() + j * step_ + n_clusters_, lines_.get() + (j + 1) * step_, 0.0f);
  });
}

void SparseCentres::set(std::int64_t cluster, double weight, double square) {
  const double inverse = inverse_of(weight);
  vectors_.set(cluster, static_cast<float>(square * inverse * inverse), weight);
  scales_[cluster] = static_cast<float>(-2.0 * inverse);
}

void SparseCentres::set_never(std::int64_t cluster) {
  vectors_.set_never(cluster);
  scales_[cluster] = 0.0f;
}

void SparseCentres::clear(std::int64_t cluster) {
  for (std::int64_t j = 0; j < n_features_; ++j) lines_[j * step_ + cluster] = 0.0f;
}

PanelView SparseCentres::view() const {
  return {nullptr, vectors_.norms.get(), vectors_.factors.get(), vectors_.inverse_weights.get(),
          static_cast<std::int32_t>(n_clusters_)};
}

GatheredCentres::GatheredCentres(const Kernel& kernel, std::int64_t most_clusters,
                                 std::int64_t n_features)
    : width_(kernel.panel_width), step_((most_clusters + width_ - 1) / width_ * width_),
      line_of_(static_cast<std::size_t>(n_features), nullptr), vectors_(step_), scales_(step_) {}

void GatheredCentres::gather(const SparseCentres& table, const std::int32_t* clusters,
                             std::int64_t count) {
  for (const std::int64_t term : terms_) line_of_[static_cast<std::size_t>(term)] = nullptr;
  terms_.clear();
  table_ = &table;
  clusters_ = clusters;
  n_clusters_ = count;
  n_panels_ = (count + width_ - 1) / width_;
  for (std::int64_t i = 0; i < count; ++i) {
    vectors_.copy(i, table.vectors_, clusters[i]);
    scales_[i] = table.scales_[clusters[i]];
  }
  for (std::int64_t i = count; i < n_panels_ * width_; ++i) {
    vectors_.set_never(i);
    scales_[i] = 0.0f;
  }
}

const float* GatheredCentres::line(std::int64_t term) {
  float*& line = line_of_[static_cast<std::size_t>(term)];
  if (line == nullptr) {
    line = new_line();
    terms_.push_back(term);
    const float* from = table_->line(term);
    for (std::int64_t i = 0; i < n_clusters_; ++i) line[i] = from[clusters_[i]];
    std::fill(line + n_clusters_, line + n_panels_ * width_, 0.0f);
  }
  return line;
}

float* GatheredCentres::new_line() {
  const auto n = static_cast<std::int64_t>(terms_.size());
  if (n == static_cast<std::int64_t>(blocks_.size()) * kLinesInBlock)
    blocks_.emplace_back(kLinesInBlock * step_);
  return blocks_[static_cast<std::size_t>(n / kLinesInBlock)].get() + n % kLinesInBlock * step_;
}

PanelView GatheredCentres::view() const {
  return {nullptr, vectors_.norms.get(), vectors_.factors.get(), vectors_.inverse_weights.get(),
          static_cast<std::int32_t>(n_clusters_)};
}

}  // namespace boostkmeans
