// Some rows in float32, as the kernel scores them: dense ones by their values, sparse ones by their dot
// products with the centres.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "buffer.hpp"
#include "dense_rows.hpp"
#include "kernel.hpp"
#include "sparse_rows.hpp"

namespace boostkmeans {

template <class Rows>
class Tile;

template <>
class Tile<DenseRows> {
 public:
  // `low`: rows are scored in low precision, for which they must be bytes.
  Tile(const DenseRows& rows, bool low)
      : rows_(rows), low_(low), values_(n_chunks() * kChunkSize),
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
  void complete(TileView& view) const {
    view.values = values_.get();
    view.quads = quads_.get();
  }
  static constexpr std::int64_t kMostPanels = std::numeric_limits<std::int64_t>::max();  // that are met at once

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
      std::fill_n(values_.get() + begin / kChunkColumns * kChunkSize + r * kTileStride,
                  kChunkColumns, 0.0f);
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
  Tile(const SparseRows& rows, bool)
      : rows_(rows), fetched_(rows), dots_(kPieceRows * kMostPanels * rows.kernel().panel_width) {}

  void load(const std::int64_t* rows, std::int64_t count, std::int64_t n_padded, float* norms) {
    columns_.clear();
    values_.clear();
    starts_.assign(1, 0);
    for (std::int64_t r = 0; r < n_padded; ++r) {
      norms_[r] = 0.0f;
      if (r < count) {
        rows_.fetch(rows[r], fetched_);
        columns_.insert(columns_.end(), fetched_.columns.get(), fetched_.columns.get() + fetched_.count);
        for (std::int64_t t = 0; t < fetched_.count; ++t)
          values_.push_back(static_cast<float>(fetched_.values[t]));
        norms_[r] = static_cast<float>(fetched_.norm);
      }
      norms[r] = norms_[r];
      starts_.push_back(values_.size());
    }
  }
  template <class Centres>
  void meet(Centres& centres, std::int64_t first, std::int64_t n_columns) {
    dots_first_ = first;
    dots_step_ = n_columns;
    scales_ = centres.scales();
    lines_.resize(columns_.size());
    for (std::size_t t = 0; t < columns_.size(); ++t) lines_[t] = centres.line(columns_[t]) + first;
    for (std::size_t r = 0; r + 1 < starts_.size(); ++r) {
      const std::size_t at = starts_[r], count = starts_[r + 1] - at;
      rows_.kernel().sparse_dots(lines_.data() + at, values_.data() + at,
                                 static_cast<std::int64_t>(count), dots_step_,
                                 dots_.get() + static_cast<std::int64_t>(r) * dots_step_);
    }
  }
  void complete(TileView& view) const {
    view.dots = dots_.get();
    view.dots_step = dots_step_;
    view.dots_first = dots_first_;
    view.scales = scales_;
  }
  static constexpr std::int64_t kMostPanels = 32;

  // In float32, from the lines that the row is about to be scored by.
  template <class Table>
  double gap(std::int64_t r, const Centre&, const Table& table, std::int64_t cluster) const {
    float dot = 0.0f;
    const auto row = static_cast<std::size_t>(r);
    for (std::size_t t = starts_[row]; t < starts_[row + 1]; ++t)
      dot += values_[t] * table.line(columns_[t])[cluster];
    return std::max(0.0, static_cast<double>(table.distance(norms_[r], dot, cluster)));
  }

 private:
  const SparseRows& rows_;
  SparseRows::Row fetched_;
  std::vector<std::int32_t> columns_;
  std::vector<float> values_;
  std::vector<std::size_t> starts_;
  std::vector<const float*> lines_;
  float norms_[kPieceRows];
  Buffer<float> dots_;
  std::int64_t dots_step_ = 0, dots_first_ = 0;
  const float* scales_ = nullptr;
};

}  // namespace boostkmeans
