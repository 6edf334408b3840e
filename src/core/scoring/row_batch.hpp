// A batch of rows in float32, and the result of scoring it against centres. Each thread has its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "parallel/stop_token.hpp"
#include "scoring/tile.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

template <class Rows>
class RowBatch {
 public:
  // Low precision requires rows of bytes.
  explicit RowBatch(const Rows& rows, bool low_precision = false)
      : rows_(rows),
        tile_(rows, low_precision),
        lanes_(rows.kernel().lanes),
        norms_(kBatchRows),
        own_(kBatchRows),
        stay_(kBatchRows),
        weights_(kBatchRows),
        rotation_(kBatchRows),
        best_(kBatchRows * lanes_),
        second_(kBatchRows * lanes_),
        index_(kBatchRows * lanes_) {}

  // Loads rows ids(0) ... ids(count - 1). Resets the other inputs of the scan to neutral values.
  template <class Ids>
  void load(std::int64_t count, Ids ids) {
    const std::int64_t block = rows_.kernel().block_rows;
    n_padded_ = (count + block - 1) / block * block;
    std::int64_t rows[kBatchRows];
    for (std::int64_t r = 0; r < count; ++r) rows[r] = ids(r);
    tile_.load(rows, count, n_padded_, norms_.get());
    for (std::int64_t r = 0; r < n_padded_; ++r) {
      own_[r] = -1;
      weights_[r] = 1.0f;
      rotation_[r] = 0;
      stay_[r] = 0.0f;
    }
  }

  // Prefetches rows ids(0) ... ids(count - 1), which will be loaded next.
  template <class Ids>
  void prefetch(std::int64_t count, Ids ids) const {
    for (std::int64_t r = 0; r < count; ++r) rows_.prefetch(ids(r));
  }

  // Prepares the scan. `distance_to` is cheaper afterwards.
  template <class Centres>
  void prepare(Centres& centres) {
    const std::int64_t end = std::min(panels_at_once(centres), centres.n_panels());
    tile_.prepare(centres, 0, end * rows_.kernel().panel_width);
  }
  // Scores the batch against all centres. Returns false if a stop was requested.
  template <class Centres>
  bool scan(Rule rule, bool weighted, Centres& centres, StopToken& stop_token, int thread) {
    const Kernel& kernel = rows_.kernel();
    if constexpr (!Rows::kSparse) {
      const bool few = rows_.n_features() <= kMaxFewFeatures && centres.n_clusters() <= kMaxFewClusters;
      if (few && rule != Rule::first && centres.view().quads == nullptr) {
        kernel.scan_few(rule, weighted, view(), centres.view(), state());
        return true;
      }
    }
    const std::int64_t step = panels_at_once(centres);
    kernel.reset(rule, n_padded_, state());
    for (std::int64_t p = 0; p < centres.n_panels(); p += step) {
      if (p > 0 && stop_token.stop_requested(thread)) return false;
      const std::int64_t end = std::min(p + step, centres.n_panels());
      const std::int64_t first = p * kernel.panel_width, count = (end - p) * kernel.panel_width;
      if (!tile_.is_prepared(centres, first, count)) tile_.prepare(centres, first, count);
      kernel.scan(rule, weighted, view(), centres.view(), p, end, state());
    }
    kernel.reduce(rule, n_padded_, state());
    return true;
  }
  // Prepares `view` for n_columns columns, starting from `first`.
  template <class Columns>
  void prepare_columns(Columns& columns, std::int64_t first, std::int64_t n_columns) {
    tile_.prepare(columns, first, n_columns);
  }
  // |x - C|^2 of a row and the centre of its cluster, about as precise as its scores.
  template <class Table>
  double distance_to(std::int64_t r, const Centre& centre, const Table& table,
                     std::int64_t cluster) const {
    return tile_.distance_to(r, centre, table, cluster);
  }

  float norm(std::int64_t r) const { return norms_[r]; }
  std::int32_t& own(std::int64_t r) { return own_[r]; }
  float& stay(std::int64_t r) { return stay_[r]; }
  float& weight(std::int64_t r) { return weights_[r]; }
  std::int32_t& rotation(std::int64_t r) { return rotation_[r]; }

  float best(std::int64_t r) const { return best_[r * lanes_]; }
  float second(std::int64_t r) const { return second_[r * lanes_]; }
  std::int32_t index(std::int64_t r) const { return index_[r * lanes_]; }

  TileView view() const {
    TileView view{nullptr,        norms_.get(),    own_.get(), stay_.get(),
                  weights_.get(), rotation_.get(), n_padded_,  rows_.n_features()};
    tile_.complete(view);
    return view;
  }

 private:
  // Number of panels that are scored between two polls of the stop token. This takes tens of
  // milliseconds.
  template <class Centres>
  std::int64_t panels_at_once(const Centres& centres) const {
    constexpr double kOperations = 1e9;
    const double panel =
        static_cast<double>(kBatchRows * rows_.n_values()) / static_cast<double>(rows_.n_rows()) *
        static_cast<double>(centres.n_clusters()) / static_cast<double>(centres.n_panels());
    const auto timely =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(kOperations / std::max(1.0, panel)));
    return std::min(timely, Tile<Rows>::kMaxPanels);
  }
  LaneState state() const { return {best_.get(), second_.get(), index_.get()}; }

  const Rows& rows_;
  Tile<Rows> tile_;
  std::int64_t lanes_;
  std::int64_t n_padded_ = 0;
  Buffer<float> norms_;
  Buffer<std::int32_t> own_;
  Buffer<float> stay_, weights_;
  Buffer<std::int32_t> rotation_;
  Buffer<float> best_, second_;
  Buffer<std::int32_t> index_;
};

// Bound on the error of float32 distances |x-C|^2 up to `distance`: the worst case for a sum of n
// products, with a margin for the rounding of x and C and for products that underflow. Uses |C| <= |x| +
// |x-C|.
inline double float32_error(double norm, double distance, std::int64_t n_products) {
  constexpr double kUnit = 0x1p-24, kSmallestNormal = 0x1p-126;
  const double reach = 2.0 * std::sqrt(norm) + std::sqrt(distance);
  return static_cast<double>(n_products + 16) * (kUnit * reach * reach + kSmallestNormal);
}

}  // namespace boostkmeans
