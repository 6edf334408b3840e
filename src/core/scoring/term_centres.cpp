#include "scoring/term_centres.hpp"

#include <algorithm>
#include <cmath>

namespace boostkmeans {

namespace {

// A line is short up to that share of the clusters, if there are so many that whole ones cost more.
constexpr double kLongestShort = 1.0 / 2.0;
constexpr std::int64_t kClustersForShort = 128;
constexpr std::int64_t kSpare = 4;
// What is left of a value after that share of it was taken away is rounding.
constexpr double kRounding = 1e-9;

}  // namespace

SparseCentres::SparseCentres(const SparseRows& rows, std::int64_t n_clusters)
    : rows_(rows),
      width_(rows.kernel().panel_width),
      n_clusters_(n_clusters),
      n_features_(rows.n_features()),
      n_panels_((n_clusters + width_ - 1) / width_),
      step_(n_panels_ * width_),
      lines_(0),
      entries_(0),
      vectors_(step_),
      scales_(step_) {
  for (std::int64_t c = 0; c < step_; ++c) set_never(c);
}

void SparseCentres::fill(const double* composites, bool rows_move, Team& team) {
  constexpr std::int64_t kTerms = 64;  // so that reading and writing both go over whole cache lines
  const std::int64_t n_blocks = (n_features_ + kTerms - 1) / kTerms;
  const auto each_value = [&](std::int64_t block, auto body) {
    const std::int64_t end = std::min(n_features_, (block + 1) * kTerms);
    for (std::int64_t c = 0; c < n_clusters_; ++c)
      for (std::int64_t j = block * kTerms; j < end; ++j) body(j, c, composites[c * n_features_ + j]);
  };
  counts_.assign(static_cast<std::size_t>(n_features_), 0);
  const bool may_be_short = n_clusters_ >= kClustersForShort;
  if (may_be_short)
    team.for_each(n_blocks, [&](std::int64_t block, int) {
      each_value(block, [this](std::int64_t j, std::int64_t, double value) {
        counts_[static_cast<std::size_t>(j)] += value != 0.0;
      });
    });
  make_room(rows_move, may_be_short);
  team.for_each(n_blocks, [&](std::int64_t block, int) {
    each_value(block, [this](std::int64_t j, std::int64_t c, double value) {
      const std::int64_t at = places_[static_cast<std::size_t>(j)];
      if (at >= 0)
        lines_[at + c] = static_cast<float>(value);
      else if (value != 0.0)
        set_short(j, c, static_cast<float>(value));
    });
  });
}

// A row that enters a cluster may bring its terms there, so that lines grow: a term is in no more
// clusters than rows have it, but for what rounding leaves behind.
void SparseCentres::make_room(bool rows_move, bool may_be_short) {
  const auto limit = static_cast<std::int64_t>(kLongestShort * static_cast<double>(n_clusters_));
  places_.clear();
  most_.clear();
  std::int64_t n_lines = 0, n_short = 0;
  for (std::int64_t j = 0; j < n_features_; ++j) {
    const std::int64_t now = counts_[static_cast<std::size_t>(j)];
    const std::int64_t room = rows_move ? std::max(now, rows_.frequency(j)) + kSpare : now;
    const bool is_short = may_be_short && room <= limit;
    places_.push_back(is_short ? ~n_short : n_lines * step_);
    most_.push_back(static_cast<std::int32_t>(is_short ? room : 0));
    n_short += is_short ? room : 0;
    n_lines += is_short ? 0 : 1;
  }
  has_short_lines_ = n_lines < n_features_;
  counts_.assign(counts_.size(), 0);
  lines_ = Buffer<float>(n_lines * step_);
  entries_ = Buffer<Entry>(n_short);
  for (std::int64_t i = 0; i < n_lines; ++i)
    std::fill(lines_.get() + i * step_ + n_clusters_, lines_.get() + (i + 1) * step_, 0.0f);
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

void SparseCentres::set_term(std::int64_t term, std::int64_t cluster, double value, double step) {
  const std::int64_t at = places_[static_cast<std::size_t>(term)];
  if (at >= 0)
    lines_[at + cluster] = static_cast<float>(value);
  else
    set_short(term, cluster,
              std::abs(value) <= kRounding * std::abs(step) ? 0.0f : static_cast<float>(value));
}

// Should a line ever be full, it lacks a cluster, and rows may miss a move.
void SparseCentres::set_short(std::int64_t term, std::int64_t cluster, float value) {
  Entry* entries = entries_.get() + ~places_[static_cast<std::size_t>(term)];
  std::int32_t& count = counts_[static_cast<std::size_t>(term)];
  Entry* end = entries + count;
  Entry* at = entries + (ShortLine{entries, count}.from(cluster) - entries);
  const bool has = at != end && at->cluster == cluster;
  if (has && value != 0.0f) {
    at->value = value;
  } else if (has) {
    std::move(at + 1, end, at);
    --count;
  } else if (value != 0.0f && count < most_[static_cast<std::size_t>(term)]) {
    std::move_backward(at, end, end + 1);
    *at = {static_cast<std::int32_t>(cluster), value};
    ++count;
  }
}

void SparseCentres::clear(std::int64_t cluster) {
  for (std::int64_t j = 0; j < n_features_; ++j) set_term(j, cluster, 0.0, 0.0);
}

float SparseCentres::value(std::int64_t term, std::int64_t cluster) const {
  if (const float* line = this->line(term)) return line[cluster];
  const ShortLine line = short_line(term);
  const Entry* at = line.from(cluster);
  return at != line.end() && at->cluster == cluster ? at->value : 0.0f;
}

PanelView SparseCentres::view() const {
  return {nullptr, vectors_.norms.get(), vectors_.factors.get(), vectors_.inverse_weights.get(),
          static_cast<std::int32_t>(n_clusters_)};
}

GatheredCentres::GatheredCentres(const SparseRows& rows, std::int64_t n_clusters,
                                 std::int64_t most_gathered)
    : width_(rows.kernel().panel_width),
      step_((most_gathered + width_ - 1) / width_ * width_),
      line_of_(static_cast<std::size_t>(rows.n_features()), nullptr),
      column_(static_cast<std::size_t>(n_clusters), -1),
      vectors_(step_),
      scales_(step_) {}

void GatheredCentres::gather(const SparseCentres& table, const std::int32_t* clusters,
                             std::int64_t count) {
  for (const std::int64_t term : terms_) line_of_[static_cast<std::size_t>(term)] = nullptr;
  terms_.clear();
  std::fill(column_.begin(), column_.end(), -1);
  table_ = &table;
  clusters_ = clusters;
  n_clusters_ = count;
  n_panels_ = (count + width_ - 1) / width_;
  for (std::int64_t i = 0; i < count; ++i) {
    vectors_.copy(i, table.vectors_, clusters[i]);
    scales_[i] = table.scales_[clusters[i]];
    column_[static_cast<std::size_t>(clusters[i])] = static_cast<std::int32_t>(i);
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
    fill_line(term, line);
  }
  return line;
}

void GatheredCentres::fill_line(std::int64_t term, float* line) const {
  if (const float* from = table_->line(term)) {
    for (std::int64_t i = 0; i < n_clusters_; ++i) line[i] = from[clusters_[i]];
    std::fill(line + n_clusters_, line + n_panels_ * width_, 0.0f);
    return;
  }
  std::fill(line, line + n_panels_ * width_, 0.0f);
  const ShortLine from = table_->short_line(term);
  for (const Entry* entry = from.entries; entry != from.end(); ++entry) {
    const std::int32_t column = column_[static_cast<std::size_t>(entry->cluster)];
    if (column >= 0) line[column] = entry->value;
  }
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
