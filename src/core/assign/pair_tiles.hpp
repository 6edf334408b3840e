// Squared distances of some rows to many others, in float64.
//
// PairColumns holds the many rows, which all threads share. PairTile holds a few rows of one thread and
// computes their distances to the columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel/kernel.hpp"
#include "parallel/thread_pool.hpp"
#include "rows/dense_rows.hpp"
#include "rows/sparse_rows.hpp"
#include "rows/thread_rows.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

template <class Rows>
class PairColumns;
template <class Rows>
class PairTile;

template <>
class PairColumns<DenseRows> {
 public:
  // Returns the number of columns whose values fit into the cache of a core (1 MB), a multiple of
  // `step`.
  static std::int64_t suitable_count(const DenseRows& rows, std::int64_t step) {
    constexpr std::int64_t kValues = 1 << 17;
    return std::max<std::int64_t>(1, kValues / rows.n_features() / step) * step;
  }
  PairColumns(const DenseRows& rows, std::int64_t max_count, const ThreadPool& pool)
      : width_(rows.kernel().pair_width),
        n_features_(rows.n_features()),
        values_((max_count + width_ - 1) / width_ * width_ * n_features_),
        fetched_(row_for_each_thread(rows, pool)) {}

  // Loads rows ids[0] ... ids[count - 1] and fills up the last panel with zeros.
  void load(const DenseRows& rows, const std::int64_t* ids, std::int64_t count, ThreadPool& pool) {
    pool.for_each((count + width_ - 1) / width_, [&](std::int64_t p, int thread) {
      DenseRows::Row& x = fetched_[static_cast<std::size_t>(thread)];
      double* to = values_.get() + p * width_ * n_features_;
      for (std::int64_t i = 0; i < width_; ++i, ++to) {
        const bool exists = p * width_ + i < count;
        if (exists) rows.fetch(ids[p * width_ + i], x);
        for (std::int64_t j = 0; j < n_features_; ++j) to[j * width_] = exists ? x.values[j] : 0.0;
      }
    });
  }
  const double* panel(std::int64_t column) const { return values_.get() + column * n_features_; }
  std::int64_t width() const { return width_; }

 private:
  std::int64_t width_, n_features_;
  Buffer<double> values_;
  std::vector<DenseRows::Row> fetched_;  // by thread
};

template <>
class PairTile<DenseRows> {
 public:
  static constexpr std::int64_t kRows = 32;
  static_assert(kRows % kPairRows == 0);

  explicit PairTile(const DenseRows& rows)
      : rows_(rows),
        values_(kRows * rows.n_features()),
        fetched_(rows) {}

  // Loads rows [first, first + count).
  void load(std::int64_t first, std::int64_t count) {
    const std::int64_t d = rows_.n_features();
    n_padded_ = (count + kPairRows - 1) / kPairRows * kPairRows;
    for (std::int64_t r = 0; r < count; ++r) {
      rows_.fetch(first + r, fetched_);
      std::copy_n(fetched_.values.get(), d, values_.get() + r * d);
    }
    std::fill_n(values_.get() + count * d, (n_padded_ - count) * d, 0.0);
  }
  // Computes the squared distances to columns [begin, end), which start at the beginning of a panel.
  // Those of row r are at out + r * stride. There must be room for whole panels.
  void squares(const PairColumns<DenseRows>& columns, std::int64_t begin, std::int64_t end, double* out,
               std::int64_t stride) {
    const std::int64_t n_panels = (end - begin + columns.width() - 1) / columns.width();
    rows_.kernel().pair_squares(values_.get(), n_padded_, columns.panel(begin), n_panels,
                                rows_.n_features(), out, stride);
  }

 private:
  const DenseRows& rows_;
  Buffer<double> values_;
  DenseRows::Row fetched_;
  std::int64_t n_padded_ = 0;
};

template <>
class PairColumns<SparseRows> {
 public:
  // Returns a number of columns whose terms fit into the cache if they are not many.
  static std::int64_t suitable_count(const SparseRows&, std::int64_t step) {
    constexpr std::int64_t kColumns = 1024;
    return std::max<std::int64_t>(1, kColumns / step) * step;
  }
  PairColumns(const SparseRows& rows, std::int64_t, const ThreadPool&) : fetched_(rows) {}

  void load(const SparseRows& rows, const std::int64_t* ids, std::int64_t count, ThreadPool&) {
    ids_ = ids;
    starts_.assign(1, 0);
    terms_.clear();
    values_.clear();
    norms_.clear();
    for (std::int64_t i = 0; i < count; ++i) {
      rows.fetch(ids[i], fetched_);
      terms_.insert(terms_.end(), fetched_.columns.get(), fetched_.columns.get() + fetched_.count);
      values_.insert(values_.end(), fetched_.values.get(), fetched_.values.get() + fetched_.count);
      norms_.push_back(fetched_.norm);
      starts_.push_back(terms_.size());
    }
  }
  std::int64_t id(std::int64_t column) const { return ids_[column]; }
  double norm(std::int64_t column) const { return norms_[static_cast<std::size_t>(column)]; }
  // Calls use(term, value) for the terms of a column.
  template <class Use>
  void each_term(std::int64_t column, Use use) const {
    const auto c = static_cast<std::size_t>(column);
    for (std::size_t t = starts_[c]; t < starts_[c + 1]; ++t) use(terms_[t], values_[t]);
  }

 private:
  SparseRows::Row fetched_;
  const std::int64_t* ids_ = nullptr;
  std::vector<std::size_t> starts_;
  std::vector<std::int32_t> terms_;
  std::vector<double> values_, norms_;
};

// Stores its rows as a dense table, term by term, so that a term of a column is multiplied with all rows
// at once.
template <>
class PairTile<SparseRows> {
 public:
  static constexpr std::int64_t kRows = 8;

  explicit PairTile(const SparseRows& rows)
      : rows_(rows),
        table_(static_cast<std::size_t>(kRows * rows.n_features()), 0.0),
        other_(rows) {
    for (std::int64_t r = 0; r < kRows; ++r) fetched_.emplace_back(rows);
  }

  void load(std::int64_t first, std::int64_t count) {
    fill_table([](double) { return 0.0; });
    count_ = count;
    for (std::int64_t r = 0; r < count; ++r) rows_.fetch(first + r, fetched_[at(r)]);
    fill_table([](double value) { return value; });
  }
  void squares(const PairColumns<SparseRows>& columns, std::int64_t begin, std::int64_t end, double* out,
               std::int64_t stride) {
    for (std::int64_t i = begin; i < end; ++i) {
      double dots[kRows] = {};
      columns.each_term(i, [&](std::int32_t term, double value) {
        const double* row = table_.data() + static_cast<std::ptrdiff_t>(term) * kRows;
        for (std::int64_t r = 0; r < kRows; ++r) dots[r] += value * row[r];
      });
      for (std::int64_t r = 0; r < count_; ++r)
        out[r * stride + i - begin] = square(r, dots[r], columns, i);
    }
  }

 private:
  // A squared distance below this fraction of the norms is computed from differences, because the
  // difference of the norms would have fewer than twelve correct digits.
  static constexpr double kTrusted = 1e-4;

  static std::size_t at(std::int64_t r) { return static_cast<std::size_t>(r); }

  double square(std::int64_t r, double dot, const PairColumns<SparseRows>& columns, std::int64_t i) {
    const double norms = fetched_[at(r)].norm + columns.norm(i), found = norms - 2.0 * dot;
    if (found >= kTrusted * norms) return found;
    rows_.fetch(columns.id(i), other_);
    return rows_.distance_between(fetched_[at(r)], other_);
  }
  // Sets the cells of all terms of the rows to write(value).
  template <class Write>
  void fill_table(Write write) {
    for (std::int64_t r = 0; r < count_; ++r) {
      const SparseRows::Row& x = fetched_[at(r)];
      for (std::int64_t t = 0; t < x.count; ++t)
        table_[static_cast<std::size_t>(x.columns[t]) * kRows + at(r)] = write(x.values[t]);
    }
  }

  const SparseRows& rows_;
  std::vector<double> table_;
  std::vector<SparseRows::Row> fetched_;
  SparseRows::Row other_;
  std::int64_t count_ = 0;
};

}  // namespace boostkmeans
