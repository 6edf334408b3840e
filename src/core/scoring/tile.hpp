// Some rows in float32, as the kernel scores them: dense ones by their values, sparse ones by their dot
// products with the centres.
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
  // `low`: rows are scored in low precision, for which they must be bytes.
  Tile(const DenseRows& rows, bool low)
      : rows_(rows),
        low_(low),
        values_(n_chunks() * kChunkSize),
        quads_(low ? n_chunks() * kQuadChunkSize : 0) {
    if (low) std::fill_n(quads_.get(), n_chunks() * kQuadChunkSize, 0);
  }

  // Rows that fill up the tile, to `n_padded`, are zero.
  void load(const std::int64_t* rows, std::int64_t count, std::int64_t n_padded, float* norms) {
    rows_.load(rows, count, kTileLayout, values_.get(), norms);
    for (std::int64_t r = count; r < n_padded; ++r) clear_row(r, norms);
    if (low_) rows_.load_bytes(rows, count, quads_.get());
  }
  // Prepares for `count` columns of the centres, from `first` on.
  template <class Centres>
  void meet(Centres&, std::int64_t, std::int64_t) {}
  template <class Centres>
  bool has_met(const Centres&, std::int64_t, std::int64_t) const {
    return true;
  }
  void complete(TileView& view) const {
    view.values = values_.get();
    view.quads = quads_.get();
  }
  static constexpr std::int64_t kMostPanels =
      std::numeric_limits<std::int64_t>::max();  // that are met at once

  // |x - C|^2 of a row and the centre of a cluster, in float64.
  template <class Table>
  double gap(std::int64_t r, const Centre& centre, const Table&, std::int64_t) const {
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
  bool low_;
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
    met_ = nullptr;
  }
  template <class Centres>
  void meet(Centres& centres, std::int64_t first, std::int64_t n_columns) {
    met_ = &centres;
    first_ = first;
    n_columns_ = n_columns;
    scales_ = centres.scales();
    if (kPieceRows * n_columns > room_) {
      room_ = kPieceRows * n_columns;
      dots_ = Buffer<float>(room_);
    }
    for (std::size_t r = 0; r + 1 < starts_.size(); ++r) meet_row(centres, r);
  }
  template <class Centres>
  bool has_met(const Centres& centres, std::int64_t first, std::int64_t n_columns) const {
    return met_ == &centres && first_ == first && n_columns_ == n_columns;
  }
  void complete(TileView& view) const {
    view.dots = dots_.get();
    view.dots_step = n_columns_;
    view.dots_first = first_;
    view.scales = scales_;
  }
  static constexpr std::int64_t kMostPanels = 256;

  // In float32, as rows are scored.
  template <class Table>
  double gap(std::int64_t r, const Centre&, const Table& table, std::int64_t cluster) const {
    const bool known = met_ == &table && first_ == 0 && cluster < n_columns_;
    const float dot = known ? dots_[r * n_columns_ + cluster] : dot_with(table, r, cluster);
    return std::max(0.0, static_cast<double>(table.distance(norms_[r], dot, cluster)));
  }

 private:
  static constexpr std::size_t kShortAhead = 3;

  struct Short {
    const Entry *begin, *end;
    float value;
  };

  // The lines are added up in the kernel, the short ones here.
  template <class Centres>
  void meet_row(Centres& centres, std::size_t r) {
    const std::size_t begin = starts_[r], count = starts_[r + 1] - begin;
    float* dots = dots_.get() + static_cast<std::int64_t>(r) * n_columns_;
    lines_.resize(count);
    if (!centres.has_short_lines()) {
      for (std::size_t t = 0; t < count; ++t) lines_[t] = centres.line(columns_[begin + t]) + first_;
      rows_.kernel().sparse_dots(lines_.data(), values_.data() + begin, static_cast<std::int64_t>(count),
                                 n_columns_, dots);
      return;
    }
    factors_.resize(count);
    short_.clear();
    std::size_t n_lines = 0;
    const bool all = first_ == 0 && centres.n_clusters() <= n_columns_;
    for (std::size_t t = begin; t < begin + count; ++t) {
      if (const float* line = centres.line(columns_[t])) {
        lines_[n_lines] = line + first_;
        factors_[n_lines++] = values_[t];
      } else {
        const ShortLine found = centres.short_line(columns_[t]);
        short_.push_back({all ? found.entries : found.from(first_),
                          all ? found.end() : found.from(first_ + n_columns_), values_[t]});
      }
    }
    for (std::size_t i = 0; i < std::min(kShortAhead, short_.size()); ++i) prefetch(short_[i]);
    rows_.kernel().sparse_dots(lines_.data(), factors_.data(), static_cast<std::int64_t>(n_lines),
                               n_columns_, dots);
    for (std::size_t i = 0; i < short_.size(); ++i) {
      if (i + kShortAhead < short_.size()) prefetch(short_[i + kShortAhead]);
      const Short& line = short_[i];
      for (const Entry* entry = line.begin; entry != line.end; ++entry)
        dots[entry->cluster - first_] += line.value * entry->value;
    }
  }
  // Short lines lie all over the memory: they are asked for a few lines ahead.
  static void prefetch(const Short& line) {
    constexpr std::int64_t kEntriesInLine = 64 / sizeof(Entry);
    for (const Entry* at = line.begin; at < line.end; at += kEntriesInLine) __builtin_prefetch(at, 0, 3);
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
  float norms_[kPieceRows];
  // Of the row that is at hand: its lines with the values that go with them, and the short ones.
  std::vector<const float*> lines_;
  std::vector<float> factors_;
  std::vector<Short> short_;
  // x . D of all rows and the columns from `first` on.
  Buffer<float> dots_;
  std::int64_t room_ = 0, first_ = 0, n_columns_ = 0;
  const float* scales_ = nullptr;
  const void* met_ = nullptr;
};

}  // namespace boostkmeans
