// The centres that k-means++ compares with all rows: the last one chosen, and the candidates for the
// next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rows/dense_rows.hpp"
#include "rows/sparse_rows.hpp"
#include "scoring/packed_centres.hpp"
#include "scoring/row_batch.hpp"
#include "scoring/term_centres.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

// Columns for Kernel::seed, in panels of one vector each, whatever the width of the panels
// elsewhere.
template <class Rows>
class SeedColumns;

template <>
class SeedColumns<DenseRows> {
 public:
  SeedColumns(const DenseRows& rows, std::int64_t n_columns)
      : lanes_(rows.kernel().lanes),
        n_features_(rows.n_features()),
        n_panels_((n_columns + lanes_ - 1) / lanes_),
        values_(n_panels_ * lanes_ * n_features_),
        norms_(n_panels_ * lanes_) {
    std::fill_n(values_.get(), n_panels_ * lanes_ * n_features_, 0.0f);
    std::fill_n(norms_.get(), n_panels_ * lanes_, 0.0f);
  }
  // Sets a column to a row.
  void set(std::int64_t column, const DenseRows::Row& x) {
    float* to = values_.get() + column / lanes_ * lanes_ * n_features_ + column % lanes_;
    norms_[column] = pack_column(x.values.get(), 1.0, n_features_, lanes_, to);
  }
  // Prepares a batch for the columns of the first panels.
  void prepare(RowBatch<DenseRows>&, std::int64_t) const {}
  const float* values() const { return values_.get(); }
  const float* norms() const { return norms_.get(); }
  std::int64_t n_panels() const { return n_panels_; }
  // Number of columns, including those that fill up the last panel.
  std::int64_t padded() const { return n_panels_ * lanes_; }

 private:
  std::int64_t lanes_, n_features_, n_panels_;
  Buffer<float> values_, norms_;
};

// Term rows as in TermCentres: for each term, its value in every column. `set` writes only the terms of
// the old and the new row.
template <>
class SeedColumns<SparseRows> {
 public:
  SeedColumns(const SparseRows& rows, std::int64_t n_columns)
      : lanes_(rows.kernel().lanes),
        step_((n_columns + lanes_ - 1) / lanes_ * lanes_),
        term_rows_(rows.n_features() * step_),
        norms_(step_),
        scales_(step_),
        terms_(static_cast<std::size_t>(n_columns)) {
    std::fill_n(term_rows_.get(), rows.n_features() * step_, 0.0f);
    std::fill_n(norms_.get(), step_, 0.0f);
    std::fill_n(scales_.get(), step_, -2.0f);
  }
  void set(std::int64_t column, const SparseRows::Row& x) {
    std::vector<std::int32_t>& terms = terms_[static_cast<std::size_t>(column)];
    for (const std::int32_t j : terms) term_rows_[j * step_ + column] = 0.0f;
    terms.assign(x.columns.get(), x.columns.get() + x.count);
    for (std::int64_t t = 0; t < x.count; ++t)
      term_rows_[x.columns[t] * step_ + column] = static_cast<float>(x.values[t]);
    norms_[column] = static_cast<float>(x.norm);
  }
  // Computes the dot products of the batch with the columns of the first panels.
  void prepare(RowBatch<SparseRows>& batch, std::int64_t n_panels) const {
    batch.prepare_columns(*this, 0, n_panels * lanes_);
  }
  const float* term_row(std::int64_t term) const { return term_rows_.get() + term * step_; }
  static constexpr bool has_sparse_term_rows() { return false; }
  static SparseTermRow sparse_term_row(std::int64_t) { return {nullptr, 0}; }
  std::int64_t n_clusters() const { return step_; }
  const float* scales() const { return scales_.get(); }
  const float* values() const { return nullptr; }
  const float* norms() const { return norms_.get(); }
  std::int64_t n_panels() const { return step_ / lanes_; }
  std::int64_t padded() const { return step_; }

 private:
  std::int64_t lanes_, step_;
  Buffer<float> term_rows_, norms_, scales_;
  std::vector<std::vector<std::int32_t>> terms_;  // by column: the terms that are not zero
};

}  // namespace boostkmeans
