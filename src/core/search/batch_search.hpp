// The exact n nearest points of the rows of a batch. float32 distances exclude most points, float64
// distances decide. Each thread has its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "parallel/stop_token.hpp"
#include "scoring/row_batch.hpp"
#include "support/aligned_buffer.hpp"
#include "support/nearest_found.hpp"

namespace boostkmeans {

template <class Rows>
class BatchSearch {
 public:
  BatchSearch(const Rows& rows, std::int64_t n_nearest)
      : found(static_cast<std::size_t>(kBatchRows), NearestFound(n_nearest)),
        rows_(rows),
        batch_(rows),
        scores_(kBatchRows * kPanelsAtOnce * rows.kernel().panel_width),
        fetched_(rows) {}

  // Loads rows row_of(0) ... row_of(count - 1).
  template <class RowOf>
  void load(std::int64_t count, RowOf row_of) {
    count_ = count;
    for (std::int64_t r = 0; r < count; ++r) ids_[r] = row_of(r);
    batch_.load(count, row_of);
  }

  // Compares the rows with packed points, and updates `found`. centre_of(i) and number_of(i) return
  // the point of column i in float64 and its number. Returns false if a stop was requested.
  template <class Packed, class CentreOf, class NumberOf>
  bool compare(Packed& packed, CentreOf centre_of, NumberOf number_of, StopToken& stop_token,
               int thread) {
    const Kernel& kernel = rows_.kernel();
    const std::int64_t width = kernel.panel_width, stride = kPanelsAtOnce * width;
    for (std::int64_t prepared = 0; prepared < packed.n_panels(); prepared += kPanelsPrepared) {
      const std::int64_t stop = std::min(prepared + kPanelsPrepared, packed.n_panels());
      batch_.prepare_columns(packed, prepared * width, (stop - prepared) * width);
      for (std::int64_t p = prepared; p < stop; p += kPanelsAtOnce) {
        if (stop_token.stop_requested(thread)) return false;
        const std::int64_t end = std::min(p + kPanelsAtOnce, stop);
        kernel.score(batch_.view(), packed.view(), p, end, scores_.get(), stride);
        const std::int64_t n = std::min(end * width, packed.n_clusters()) - p * width;
        for (std::int64_t r = 0; r < count_; ++r)
          examine(r, scores_.get() + r * stride, p * width, n, centre_of, number_of);
      }
    }
    return true;
  }

  std::vector<NearestFound> found;  // by row of the batch

 private:
  // Number of panels that are scored before their scores are examined. The scores must fit into the
  // cache.
  static constexpr std::int64_t kPanelsAtOnce = 8;
  // Number of panels for which the dot products of sparse rows are computed at a time.
  static constexpr std::int64_t kPanelsPrepared = 256;
  static_assert(kPanelsPrepared <= Tile<SparseRows>::kMaxPanels);
  // Number of scores that are skipped together if none is small enough.
  static constexpr std::int64_t kChunk = 16;

  // Examines the scores of a row and columns [first, first + count).
  template <class CentreOf, class NumberOf>
  void examine(std::int64_t r, const float* scores, std::int64_t first, std::int64_t count,
               CentreOf& centre_of, NumberOf& number_of) {
    NearestFound& nearest = found[static_cast<std::size_t>(r)];
    float limit = limit_of(r, nearest.bound());
    bool fetched = false;
    for (std::int64_t begin = 0; begin < count; begin += kChunk) {
      const std::int64_t end = std::min(count, begin + kChunk);
      bool any = false;  // NaN counts as small enough
      for (std::int64_t i = begin; i < end; ++i) any |= !(scores[i] > limit);
      if (!any) continue;
      if (!fetched) rows_.fetch(ids_[r], fetched_);
      fetched = true;
      for (std::int64_t i = begin; i < end; ++i)
        if (!(scores[i] > limit) &&
            nearest.insert(rows_.distance(fetched_, centre_of(first + i)), number_of(first + i)))
          limit = limit_of(r, nearest.bound());
    }
  }

  // A point with a score above this limit is farther than the last of the nearest so far.
  float limit_of(std::int64_t r, double last) const {
    const double limit = last + float32_error(batch_.norm(r), last, rows_.n_products(ids_[r]));
    return std::nextafter(static_cast<float>(limit), std::numeric_limits<float>::infinity());
  }

  const Rows& rows_;
  RowBatch<Rows> batch_;
  Buffer<float> scores_;
  typename Rows::Row fetched_;
  std::int64_t ids_[kBatchRows] = {};
  std::int64_t count_ = 0;
};

}  // namespace boostkmeans
