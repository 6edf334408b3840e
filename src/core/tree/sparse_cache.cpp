#include "tree/sparse_cache.hpp"

#include <algorithm>

namespace boostkmeans {

namespace {

// A set is sectioned as a whole if its rows take at most this many bytes, and otherwise by a sample of
// half this size.
constexpr std::int64_t kCachedBytes = 1 << 26;
// Smallest number of cached rows, in total and per section.
constexpr std::int64_t kMinCached = 1024;
constexpr std::int64_t kCachedPerSection = 16;
// If the inertia is below this fraction of the sum of squares, it may be a rounding error. Rows are then
// compared.
constexpr double kTight = 1e-12;

}  // namespace

std::int64_t SparseCache::capacity(const SparseRows& rows, std::int64_t n_sections) {
  constexpr std::int64_t kTermBytes = 12;
  constexpr std::int64_t kRowBytes = 32;
  const std::int64_t row =
      kRowBytes + kTermBytes * (rows.n_values() / std::max<std::int64_t>(1, rows.n_rows()));
  return std::max({kCachedBytes / row, kMinCached, kCachedPerSection * n_sections});
}

SparseCache::SparseCache(const SparseRows& rows, std::int64_t n_sections, std::int64_t)
    : rows_(rows),
      n_features_(rows.n_features()),
      last_(n_sections - 1),
      fetched_(rows),
      starts_{0},
      occurs_(static_cast<std::size_t>(n_features_), 0),
      sum_(static_cast<std::size_t>(n_features_), 0.0),
      composites_(static_cast<std::size_t>(last_ * n_features_), 0.0),
      scratch_(static_cast<std::size_t>(n_features_), 0.0) {}

void SparseCache::reset() {
  clear();
  for (const std::int32_t j : terms_) {
    occurs_[static_cast<std::size_t>(j)] = 0;
    sum_[static_cast<std::size_t>(j)] = 0.0;
  }
  terms_.clear();
  columns_.clear();
  values_.clear();
  norms_.clear();
  dots_all_.clear();
  starts_.assign(1, 0);
}

bool SparseCache::load(const std::int64_t* ids, std::int64_t count, RowWeights weights) {
  constexpr std::int64_t kRowsAhead = 8;
  reset();
  count_ = count;
  double sum_of_squares = 0.0, total = 0.0, square = 0.0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (i + kRowsAhead < count) rows_.prefetch(ids[i + kRowsAhead]);
    rows_.fetch(ids[i], fetched_);
    const double w = weights[ids[i]];
    for (std::int64_t t = 0; t < fetched_.count; ++t) {
      const std::int32_t j = fetched_.columns[t];
      columns_.push_back(j);
      values_.push_back(fetched_.values[t]);
      if (occurs_[static_cast<std::size_t>(j)] == 0) {
        occurs_[static_cast<std::size_t>(j)] = 1;
        terms_.push_back(j);
      }
      sum_[static_cast<std::size_t>(j)] += w * fetched_.values[t];
    }
    starts_.push_back(values_.size());
    norms_.push_back(fetched_.norm);
    sum_of_squares += w * fetched_.norm;
    total += w;
  }
  inverse_all_ = 1.0 / total;
  for (const std::int32_t j : terms_)
    square += sum_[static_cast<std::size_t>(j)] * sum_[static_cast<std::size_t>(j)];
  if (sum_of_squares - square * inverse_all_ <= kTight * sum_of_squares && all_equal(ids, count))
    return false;
  for (std::int64_t i = 0; i < count; ++i) dots_all_.push_back(dot_with(i, sum_.data()));
  return true;
}

bool SparseCache::all_equal(const std::int64_t* ids, std::int64_t count) {
  SparseRows::Row first(rows_);
  rows_.fetch(ids[0], first);
  return std::all_of(ids + 1, ids + count, [&](std::int64_t id) {
    rows_.fetch(id, fetched_);
    return rows_.distance_between(first, fetched_) == 0.0;
  });
}

void SparseCache::dots_with(std::int64_t row, float* out) const {
  for (std::size_t t = begin(row); t < begin(row + 1); ++t)
    scratch_[static_cast<std::size_t>(columns_[t])] = values_[t];
  for (std::int64_t i = 0; i < count_; ++i) out[i] = static_cast<float>(dot_with(i, scratch_.data()));
  for (std::size_t t = begin(row); t < begin(row + 1); ++t)
    scratch_[static_cast<std::size_t>(columns_[t])] = 0.0;
}

void SparseCache::clear() {
  for (std::int64_t s = 0; s < last_; ++s)
    for (const std::int32_t j : terms_) composites_[static_cast<std::size_t>(s * n_features_ + j)] = 0.0;
}

void SparseCache::add(std::int64_t i, std::int64_t section, double weight) {
  double* composite = composites_.data() + section * n_features_;
  for (std::size_t t = begin(i); t < begin(i + 1); ++t) composite[columns_[t]] += weight * values_[t];
}

void SparseCache::squares(double* out) const {
  std::fill_n(out, last_ + 1, 0.0);
  for (const std::int32_t j : terms_) {
    double rest = sum_[static_cast<std::size_t>(j)];
    for (std::int64_t s = 0; s < last_; ++s) {
      const double x = composites_[static_cast<std::size_t>(s * n_features_ + j)];
      out[s] += x * x;
      rest -= x;
    }
    out[last_] += rest * rest;
  }
}

// See DenseCache::cut.
SparseCut SparseCache::cut(const std::vector<double>& inverse,
                           const std::vector<double>& offsets) const {
  SparseCut cut{std::vector<double>(static_cast<std::size_t>(last_ * n_features_), 0.0), {}};
  const auto l = static_cast<std::size_t>(last_);
  for (const std::int32_t j : terms_) {
    double rest = sum_[static_cast<std::size_t>(j)];
    for (std::int64_t s = 0; s < last_; ++s)
      rest -= composites_[static_cast<std::size_t>(s * n_features_ + j)];
    for (std::int64_t s = 0; s < last_; ++s) {
      const auto at = static_cast<std::size_t>(s * n_features_ + j);
      cut.directions[at] =
          2.0 * (composites_[at] * inverse[static_cast<std::size_t>(s)] - rest * inverse[l]);
    }
  }
  for (std::size_t s = 0; s < l; ++s) cut.thresholds.push_back(offsets[s] - offsets[l]);
  return cut;
}

void SparseCache::assign(const Cut& cut, const std::int64_t* ids, std::int64_t count, bool,
                         std::int32_t* sections) {
  for (std::int64_t i = 0; i < count; ++i) {
    rows_.fetch(ids[i], fetched_);
    double best = 0.0;
    auto found = static_cast<std::int32_t>(last_);
    for (std::int32_t s = 0; s < static_cast<std::int32_t>(last_); ++s) {
      const double lead = rows_.dot(fetched_, cut.directions.data() + s * n_features_) -
                          cut.thresholds[static_cast<std::size_t>(s)];
      if (lead > best) best = lead, found = s;
    }
    sections[i] = found;
  }
}

}  // namespace boostkmeans
