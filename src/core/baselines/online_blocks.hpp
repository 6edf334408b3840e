// Online k-means in blocks of rows, with the result of visiting one row after the other.
//
// All rows of a block find their nearest centre in parallel, by the centres at the beginning of the
// block. Then the rows are visited in order. A row has the same nearest centre as before if the centres
// that moved meanwhile cannot have come closer. Otherwise it is compared again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "baselines/moving_centres.hpp"
#include "parallel/thread_pool.hpp"
#include "rows/dense_rows.hpp"
#include "rows/thread_rows.hpp"
#include "scoring/packed_centres.hpp"
#include "scoring/row_batch.hpp"

namespace boostkmeans {

class OnlineBlocks {
 public:
  OnlineBlocks(const DenseRows& rows, MovingCentres<DenseRows>& centres, std::int64_t block_rows,
               ThreadPool& pool)
      : rows_(rows),
        centres_(centres),
        pool_(pool),
        packed_(rows.kernel(), centres.n_clusters(), rows.n_features()),
        fetched_(row_for_each_thread(rows, pool)),
        near_(static_cast<std::size_t>(block_rows)),
        shifts_(static_cast<std::size_t>(centres.n_clusters()), kUnmoved) {
    for (int t = 0; t < pool.size(); ++t)
      batches_.push_back(std::make_unique<RowBatch<DenseRows>>(rows));
    pool.for_each(centres.n_clusters(), [&](std::int64_t c, int) { pack(c); });
  }

  // Visits the rows of a block in order. Returns the number of rows that it has visited, which is less
  // than `count` if a stop was requested.
  std::int64_t visit(const std::int64_t* order, std::int64_t count, double rate) {
    pool_.for_each((count + kBatchRows - 1) / kBatchRows, [&](std::int64_t task, int thread) {
      const std::int64_t first = task * kBatchRows;
      search(order + first, std::min(kBatchRows, count - first),
             near_.data() + static_cast<std::size_t>(first), thread);
    });
    if (pool_.stop_token().stopped()) return 0;  // the search is incomplete
    DenseRows::Row& x = fetched_[0];
    for (std::int64_t i = 0; i < count; ++i) {
      if (pool_.stop_token().poll()) return i;
      rows_.fetch(order[i], x);
      const Winner winner = nearest_now(x, near_[static_cast<std::size_t>(i)]);
      shift(winner.cluster, rate * std::sqrt(winner.distance));
      centres_.move(winner.cluster, x, rate);
    }
    for (const std::int64_t c : moved_) pack(c), shifts_[static_cast<std::size_t>(c)] = kUnmoved;
    moved_.clear();
    largest_shift_ = 0.0;
    return count;
  }

 private:
  static constexpr double kUnmoved = -1.0;

  // The nearest centre of a row at the beginning of the block. All others are at least `reach` away.
  struct Near {
    std::int64_t cluster;
    double reach;
  };
  struct Winner {
    std::int64_t cluster;
    double distance;
  };

  void pack(std::int64_t cluster) {
    packed_.set(cluster, centres_[cluster].composite, 1.0 / centres_[cluster].inverse);
  }

  // Finds the nearest centres of a batch of rows.
  void search(const std::int64_t* rows, std::int64_t count, Near* out, int thread) {
    const auto t = static_cast<std::size_t>(thread);
    RowBatch<DenseRows>& batch = *batches_[t];
    batch.load(count, [=](std::int64_t r) { return rows[r]; });
    if (!batch.scan(Rule::nearest, false, packed_, pool_.stop_token(), thread)) return;
    for (std::int64_t r = 0; r < count; ++r) {
      const double best = batch.best(r), second = batch.second(r);
      const std::int64_t n_products = rows_.n_products(rows[r]);
      const double error = float32_error(batch.norm(r), std::max(second, 0.0), n_products);
      // Also false for NaN and infinities.
      const bool clear =
          second - best > error + float32_error(batch.norm(r), std::max(best, 0.0), n_products);
      if (clear) {
        out[r] = {batch.index(r), std::sqrt(second - error)};
        continue;
      }
      rows_.fetch(rows[r], fetched_[t]);
      const auto found = centres_.nearest(fetched_[t]);
      out[r] = {found.cluster, std::sqrt(found.second)};
    }
  }

  // The nearest centre now. Ties go to the smaller index.
  Winner nearest_now(const DenseRows::Row& x, const Near& near) const {
    // Margin for rounding errors of float64 distances and moves. The absolute part is for moves, whose
    // errors depend on the lengths of the vectors. Values of rows lie within [-1, 1].
    constexpr double kMargin = 1e-6, kTiny = 1e-9;
    Winner found{near.cluster, rows_.distance(x, centres_[near.cluster])};
    if (moved_.empty()) return found;
    if ((std::sqrt(found.distance) + largest_shift_) * (1.0 + kMargin) + kTiny < near.reach)
      return found;
    if (shifts_[static_cast<std::size_t>(near.cluster)] >= 0.0) {
      const auto all = centres_.nearest(x);
      return {all.cluster, all.distance};
    }
    for (const std::int64_t c : moved_) {
      const double distance = rows_.distance(x, centres_[c]);
      const bool tie = distance == found.distance && c < found.cluster;
      if (distance < found.distance || tie) found = {c, distance};
    }
    return found;
  }

  // Notes by how much a centre moves.
  void shift(std::int64_t cluster, double length) {
    double& sum = shifts_[static_cast<std::size_t>(cluster)];
    if (sum < 0.0) moved_.push_back(cluster), sum = 0.0;
    sum += length;
    largest_shift_ = std::max(largest_shift_, sum);
  }

  const DenseRows& rows_;
  MovingCentres<DenseRows>& centres_;
  ThreadPool& pool_;
  PackedCentres packed_;
  std::vector<std::unique_ptr<RowBatch<DenseRows>>> batches_;  // by thread
  std::vector<DenseRows::Row> fetched_;                        // by thread
  std::vector<Near> near_;                                     // by row of the block
  std::vector<std::int64_t> moved_;  // centres that have moved within the block
  std::vector<double> shifts_;  // by cluster: by how much it has moved within the block, or kUnmoved
  double largest_shift_ = 0.0;
};

}  // namespace boostkmeans
