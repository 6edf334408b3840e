// A tile: some rows in float32, in the form that the kernel scores. It contains the values of dense
// rows, or the dot products of sparse rows with the centres.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernel/kernel.hpp"
#include "rows/dense_rows.hpp"
#include "rows/sparse_rows.hpp"
#include "scoring/term_centres.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

template <class Rows>
class Tile;

template <>
class Tile<DenseRows> {
 public:
  // Low precision requires rows of bytes.
  Tile(const DenseRows& rows, bool low_precision)
      : rows_(rows),
        low_precision_(low_precision),
        values_(n_chunks() * kChunkSize),
        quads_(low_precision ? n_chunks() * kQuadChunkSize : 0) {
    if (low_precision) std::fill_n(quads_.get(), n_chunks() * kQuadChunkSize, 0);
  }

  // Loads `count` rows and fills up the tile with zeros to `n_padded` rows.
  void load(const std::int64_t* rows, std::int64_t count, std::int64_t n_padded, float* norms) {
    rows_.load(rows, count, kTileLayout, values_.get(), norms);
    for (std::int64_t r = count; r < n_padded; ++r) clear_row(r, norms);
    if (low_precision_) rows_.load_bytes(rows, count, quads_.get());
  }
  // Prepares for n_columns columns of the centres, starting from `first`.
  template <class Centres>
  void prepare(Centres&, std::int64_t, std::int64_t) {}
  template <class Centres>
  bool is_prepared(const Centres&, std::int64_t, std::int64_t) const {
    return true;
  }
  void complete(TileView& view) const {
    view.values = values_.get();
    view.quads = quads_.get();
  }
  static constexpr std::int64_t kMaxPanels =
      std::numeric_limits<std::int64_t>::max();  // number of panels that can be prepared at once

  // |x - C|^2 of a row and the centre of a cluster, in float64.
  template <class Table>
  double distance_to(std::int64_t r, const Centre& centre, const Table&, std::int64_t) const {
    return rows_.kernel().tile_distance(values_.get() + r * kTileStride, centre.composite,
                                        centre.inverse, rows_.n_features());
  }

 private:
  std::int64_t n_chunks() const { return (rows_.n_features() + kChunkColumns - 1) / kChunkColumns; }
  void clear_row(std::int64_t r, float* norms) {
    for (std::int64_t begin = 0; begin < rows_.n_features(); begin += kChunkColumns)
      std::fill_n(values_.get() + begin / kChunkColumns * kChunkSize + r * kTileStride, kChunkColumns,
                  0.0f);
    norms[r] = 0.0f;
  }

  const DenseRows& rows_;
  bool low_precision_;
  Buffer<float> values_;
  Buffer<std::int32_t> quads_;
};

template <>
class Tile<SparseRows> {
 public:
  Tile(const SparseRows& rows, bool) : rows_(rows), dots_(0) {}

  void load(const std::int64_t* rows, std::int64_t count, std::int64_t n_padded, float* norms) {
    starts_.assign(1, 0);
    for (std::int64_t r = 0; r < n_padded; ++r)
      starts_.push_back(starts_.back() +
                        (r < count ? static_cast<std::size_t>(rows_.length(rows[r])) : 0));
    columns_.resize(starts_.back());
    values_.resize(starts_.back());
    for (std::int64_t r = 0; r < n_padded; ++r) {
      const std::size_t at = starts_[static_cast<std::size_t>(r)];
      norms_[r] = r < count ? rows_.load(rows[r], columns_.data() + at, values_.data() + at) : 0.0f;
      norms[r] = norms_[r];
    }
    prepared_for_ = nullptr;
  }
  template <class Centres>
  void prepare(Centres& centres, std::int64_t first, std::int64_t n_columns) {
    prepared_for_ = &centres;
    first_ = first;
    n_columns_ = n_columns;
    scales_ = centres.scales();
    if (kBatchRows * n_columns > room_) {
      room_ = kBatchRows * n_columns;
      dots_ = Buffer<float>(room_);
    }
    for (std::size_t r = 0; r + 1 < starts_.size(); ++r) prepare_row(centres, r);
  }
  template <class Centres>
  bool is_prepared(const Centres& centres, std::int64_t first, std::int64_t n_columns) const {
    return prepared_for_ == &centres && first_ == first && n_columns_ == n_columns;
  }
  void complete(TileView& view) const {
    view.dots = dots_.get();
    view.dots_step = n_columns_;
    view.dots_first = first_;
    view.scales = scales_;
  }
  static constexpr std::int64_t kMaxPanels = 256;

  // The same in float32, as rows are scored.
  template <class Table>
  double distance_to(std::int64_t r, const Centre&, const Table& table, std::int64_t cluster) const {
    const bool known = prepared_for_ == &table && first_ == 0 && cluster < n_columns_;
    const float dot = known ? dots_[r * n_columns_ + cluster] : dot_with(table, r, cluster);
    return std::max(0.0, static_cast<double>(table.distance(norms_[r], dot, cluster)));
  }

 private:
  static constexpr std::size_t kSparseAhead = 3;

  struct SparseRange {
    const TermEntry *begin, *end;
    float value;
  };

  // Computes the dot products of a row. The kernel adds the dense term rows, and this function adds
  // the sparse ones.
  template <class Centres>
  void prepare_row(Centres& centres, std::size_t r) {
    const std::size_t begin = starts_[r], count = starts_[r + 1] - begin;
    float* dots = dots_.get() + static_cast<std::int64_t>(r) * n_columns_;
    term_rows_.resize(count);
    if (!centres.has_sparse_term_rows()) {
      for (std::size_t t = 0; t < count; ++t)
        term_rows_[t] = centres.term_row(columns_[begin + t]) + first_;
      rows_.kernel().sparse_dots(term_rows_.data(), values_.data() + begin,
                                 static_cast<std::int64_t>(count), n_columns_, dots);
      return;
    }
    factors_.resize(count);
    sparse_.clear();
    std::size_t n_term_rows = 0;
    const bool all = first_ == 0 && centres.n_clusters() <= n_columns_;
    for (std::size_t t = begin; t < begin + count; ++t) {
      if (const float* term_row = centres.term_row(columns_[t])) {
        term_rows_[n_term_rows] = term_row + first_;
        factors_[n_term_rows++] = values_[t];
      } else {
        const SparseTermRow found = centres.sparse_term_row(columns_[t]);
        sparse_.push_back({all ? found.entries : found.from(first_),
                           all ? found.end() : found.from(first_ + n_columns_), values_[t]});
      }
    }
    for (std::size_t i = 0; i < std::min(kSparseAhead, sparse_.size()); ++i) prefetch(sparse_[i]);
    rows_.kernel().sparse_dots(term_rows_.data(), factors_.data(),
                               static_cast<std::int64_t>(n_term_rows), n_columns_, dots);
    for (std::size_t i = 0; i < sparse_.size(); ++i) {
      if (i + kSparseAhead < sparse_.size()) prefetch(sparse_[i + kSparseAhead]);
      const SparseRange& term_row = sparse_[i];
      for (const TermEntry* entry = term_row.begin; entry != term_row.end; ++entry)
        dots[entry->cluster - first_] += term_row.value * entry->value;
    }
  }
  // Sparse term rows are scattered in memory, so they are prefetched a few rows ahead.
  static void prefetch(const SparseRange& term_row) {
    constexpr std::int64_t kEntriesInCacheLine = 64 / sizeof(TermEntry);
    for (const TermEntry* at = term_row.begin; at < term_row.end; at += kEntriesInCacheLine)
      __builtin_prefetch(at, 0, 3);
  }
  template <class Table>
  float dot_with(const Table& table, std::int64_t r, std::int64_t cluster) const {
    float dot = 0.0f;
    const auto row = static_cast<std::size_t>(r);
    for (std::size_t t = starts_[row]; t < starts_[row + 1]; ++t)
      dot += values_[t] * table.value(columns_[t], cluster);
    return dot;
  }

  const SparseRows& rows_;
  std::vector<std::int32_t> columns_;
  std::vector<float> values_;
  std::vector<std::size_t> starts_;
  float norms_[kBatchRows] = {};
  // The current row: its dense term rows, their factors, and its sparse term rows.
  std::vector<const float*> term_rows_;
  std::vector<float> factors_;
  std::vector<SparseRange> sparse_;
  // x . composite of all rows, for the columns starting at first_.
  Buffer<float> dots_;
  std::int64_t room_ = 0, first_ = 0, n_columns_ = 0;
  const float* scales_ = nullptr;
  const void* prepared_for_ = nullptr;
};

}  // namespace boostkmeans
