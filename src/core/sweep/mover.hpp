// Moves of rows between clusters: their costs, and their effect on the partition and on the float32
// centres.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"
#include "scoring/centre_traits.hpp"
#include "support/aligned_buffer.hpp"
#include "support/alignment.hpp"
#include "sweep/sweep.hpp"

namespace boostkmeans {

// Costs of a move, in float64. With weight w of the row, the inertia falls by w * (leave - enter).
struct MoveCosts {
  double leave, enter;
  double norm;   // |x|^2, if rows are exchanged
  double noise;  // bound on the rounding error of leave and enter together
};

// A partition together with the float32 centres of a visit policy, which are updated between
// blocks.
template <class Rows, class Policy>
class Mover {
 public:
  using Row = typename Rows::Row;

  Mover(const Rows& rows, RowWeights row_weights, const Partition& partition,
        const SweepOptions& options, Policy& policy, LowerBounds* bounds, ThreadPool& pool)
      : rows_(rows),
        row_weights_(row_weights),
        partition_(partition),
        options_(options),
        policy_(policy),
        bounds_(bounds),
        composite_norms_(rows, partition.composites, partition.n_clusters, pool),
        is_stale_(static_cast<std::size_t>(partition.n_clusters), 0),
        saved_(2 * rows.saved_size()) {
    if (options.limits) smallest_weight_ = smallest_weight(pool);
    fill_term_rows(policy.table(), partition.composites, true, pool);
    for (std::int64_t c = 0; c < partition.n_clusters; ++c) mark_stale(c);
  }

  Centre centre(std::int64_t cluster) const {
    return {partition_.composite(cluster), inverse_of(partition_.weights[cluster]),
            composite_norms_.at(cluster)};
  }
  // |x - C|^2 in float64; 0 for an empty cluster.
  double distance(const Row& x, std::int64_t cluster) const {
    return partition_.weights[cluster] > 0.0 ? rows_.distance(x, centre(cluster)) : 0.0;
  }
  double penalty(std::int64_t cluster) const {
    return options_.penalties == nullptr ? 0.0 : options_.penalties[cluster];
  }

  // Fetches the row into x and computes the costs of its move.
  MoveCosts costs_of(std::int64_t row, std::int32_t to, Row& x) const {
    return costs_of(row, partition_.labels[row], to, x);
  }
  MoveCosts costs_of(std::int64_t row, std::int32_t from, std::int32_t to, Row& x) const {
    const double w = row_weights_[row];
    rows_.fetch(row, x);
    const double from_weight = partition_.weights[from], to_weight = partition_.weights[to];
    const double from_distance = distance(x, from), to_distance = distance(x, to);
    return {leaving(from_weight, w, from_distance), entering(to_weight, w, to_distance),
            options_.exchange ? rows_.norm(x) : 0.0,
            leaving(from_weight, w, rows_.noise(x, from_distance)) +
                entering(to_weight, w, rows_.noise(x, to_distance))};
  }

  // Moves a row, whose values are x, and counts the move.
  void accept(std::int64_t row, std::int32_t to, const Row& x, const MoveCosts& costs) {
    move(row, to, x);
    count(row, costs);
  }
  // Adds a move that was made to the result.
  void count(std::int64_t row, const MoveCosts& costs) {
    count(row_weights_[row] * (costs.leave - costs.enter));
  }
  void count(double gain) {
    result.gain += gain;
    ++result.moves;
  }

  void move(std::int64_t row, std::int32_t to, const Row& x) {
    const std::int32_t from = partition_.labels[row];
    change_clusters(row, from, to, x);
    note_move(from, to);
  }

  // The first part of a move changes only the two clusters and the label of the row. Several threads may
  // call it at the same time for different clusters, unless the table has sparse term rows.
  void change_clusters(std::int64_t row, std::int32_t from, std::int32_t to, const Row& x) {
    const double w = row_weights_[row];
    if (partition_.counts[to] == 0) clear(to);
    const double lost = rows_.add(x, -w, partition_.composite(from));
    composite_norms_.add(from, lost, partition_.composite(from));
    const double won = rows_.add(x, w, partition_.composite(to));
    composite_norms_.add(to, won, partition_.composite(to));
    update_terms(policy_.table(), x, from, partition_.composite(from), w);
    update_terms(policy_.table(), x, to, partition_.composite(to), w);
    partition_.weights[from] -= w;
    partition_.weights[to] += w;
    --partition_.counts[from];
    ++partition_.counts[to];
    partition_.labels[row] = to;
  }
  // The second part of a move: the centres of both clusters have to be packed again.
  void note_move(std::int32_t from, std::int32_t to) {
    mark_stale(from);
    mark_stale(to);
    policy_.moved(from, to);
  }
  // Prefetches the composite of a cluster. For sparse rows this does nothing: they read few of its
  // values.
  void prefetch(std::int64_t cluster) const {
    // Number of cache lines after which the hardware prefetcher takes over.
    constexpr std::int64_t kMaxLines = 16;
    constexpr std::int64_t kValuesPerLine = static_cast<std::int64_t>(kAlignment / sizeof(double));
    if constexpr (Rows::kSparse) return;
    const double* composite = partition_.composite(cluster);
    const std::int64_t end = std::min(partition_.n_features, kMaxLines * kValuesPerLine);
    for (std::int64_t j = 0; j < end; j += kValuesPerLine) __builtin_prefetch(composite + j, 1, 3);
  }
  bool may_move_in_parallel() const { return !shares_terms(policy_.table()); }

  // Moves a row, whose values are x, such that `undo` can restore both clusters exactly.
  void move_with_undo(std::int64_t row, std::int32_t to, const Row& x) {
    const std::int32_t from = partition_.labels[row];
    rows_.save(x, partition_.composite(from), saved_.get());
    rows_.save(x, partition_.composite(to), saved_.get() + rows_.saved_size());
    undo_[0] = {from, partition_.weights[from], composite_norms_.at(from)};
    undo_[1] = {to, partition_.weights[to], composite_norms_.at(to)};
    move(row, to, x);
  }
  // Reverts the last `move_with_undo`, which must have been the last move.
  void undo(std::int64_t row, const Row& x) {
    restore(x, row, 0);
    restore(x, row, 1);
    ++partition_.counts[undo_[0].cluster];
    --partition_.counts[undo_[1].cluster];
    partition_.labels[row] = undo_[0].cluster;
  }

  // Packs the centres of the clusters that changed since the last call.
  void repack_stale(ThreadPool& pool) {
    if (bounds_ != nullptr) return update_bounds(pool);
    constexpr std::int64_t kClustersPerTask = 16;
    const auto n = static_cast<std::int64_t>(stale_.size());
    pool.for_each((n + kClustersPerTask - 1) / kClustersPerTask, [&](std::int64_t task, int) {
      const std::int64_t end = std::min(n, (task + 1) * kClustersPerTask);
      for (std::int64_t i = task * kClustersPerTask; i < end; ++i)
        repack(stale_[static_cast<std::size_t>(i)]);
    });
    stale_.clear();
  }

  SweepResult result;

 private:
  void mark_stale(std::int64_t cluster) {
    if (is_stale_[static_cast<std::size_t>(cluster)] != 0) return;
    is_stale_[static_cast<std::size_t>(cluster)] = 1;
    stale_.push_back(cluster);
  }

  // Projects the centres instead, if proposals use lower bounds.
  void update_bounds(ThreadPool& pool) {
    bounds_->update(stale_, pool);
    for (const std::int64_t c : stale_) {
      if (options_.limits.full(c, partition_.weights[c], smallest_weight_)) bounds_->set_never(c);
      is_stale_[static_cast<std::size_t>(c)] = 0;
    }
    stale_.clear();
  }

  void repack(std::int64_t cluster) {
    const double weight = partition_.weights[cluster];
    set_centre(policy_.table(), cluster, partition_.composite(cluster), weight,
               composite_norms_.at(cluster));
    if (options_.penalties != nullptr)
      policy_.table().add_penalty(cluster, options_.penalties[cluster]);
    else if (!options_.exchange && options_.limits.full(cluster, weight, smallest_weight_))
      policy_.table().set_never(cluster);
    is_stale_[static_cast<std::size_t>(cluster)] = 0;
  }

  // The composite of an empty cluster may have any value. A row that enters it starts from 0.
  void clear(std::int64_t cluster) {
    std::fill_n(partition_.composite(cluster), partition_.n_features, 0.0);
    clear_terms(policy_.table(), cluster);
    composite_norms_.set(cluster, 0.0);
  }

  void restore(const Row& x, std::int64_t row, int i) {
    const std::int32_t cluster = undo_[i].cluster;
    rows_.restore(x, saved_.get() + i * rows_.saved_size(), partition_.composite(cluster));
    update_terms(policy_.table(), x, cluster, partition_.composite(cluster), row_weights_[row]);
    partition_.weights[cluster] = undo_[i].weight;
    composite_norms_.set(cluster, undo_[i].norm);
  }

  // The smallest positive weight of a row.
  double smallest_weight(ThreadPool& pool) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr std::int64_t kRowsPerTask = 16384;
    if (!row_weights_) return 1.0;
    const std::int64_t n_rows = rows_.n_rows(), n_tasks = (n_rows + kRowsPerTask - 1) / kRowsPerTask;
    std::vector<double> smallest(static_cast<std::size_t>(n_tasks), kInfinity);
    pool.for_each(n_tasks, [&](std::int64_t task, int) {
      double& least = smallest[static_cast<std::size_t>(task)];
      const std::int64_t end = std::min(n_rows, (task + 1) * kRowsPerTask);
      for (std::int64_t row = task * kRowsPerTask; row < end; ++row)
        if (row_weights_[row] > 0.0) least = std::min(least, row_weights_[row]);
    });
    return std::ranges::min(smallest);
  }

  // State of a cluster before a move, besides its composite.
  struct Undo {
    std::int32_t cluster;
    double weight, norm;
  };

  const Rows& rows_;
  RowWeights row_weights_;
  const Partition& partition_;
  const SweepOptions& options_;
  Policy& policy_;
  LowerBounds* bounds_;  // null if proposals do not use bounds
  CompositeNorms<Rows> composite_norms_;
  std::vector<unsigned char> is_stale_;  // by cluster
  std::vector<std::int64_t> stale_;      // clusters to repack
  Buffer<double> saved_;                 // composite values that the row changes, before the move
  Undo undo_[2] = {};
  double smallest_weight_ = 0.0;
};

}  // namespace boostkmeans
