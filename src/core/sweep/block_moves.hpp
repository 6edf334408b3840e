// Moves of a block that are made at once, if there are many more of them than clusters.
//
// The objective sum |D|^2 / W is convex in (D, W). Moves that are measured against the same centres
// therefore lower the inertia by at least the sum of w * (|x - C_from|^2 - |x - C_to|^2), in any number.
// Exactly, they lower it by this sum plus W' |C' - C|^2 of each cluster, where C' and W' are its new
// centre and weight.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"
#include "rows/dense_rows.hpp"
#include "rows/thread_rows.hpp"
#include "support/aligned_buffer.hpp"
#include "sweep/decision_order.hpp"

namespace boostkmeans {

class BlockMoves {
 public:
  // The factor multiplies the distance to the new centre. It is below 1 in an annealed sweep.
  BlockMoves(const DenseRows& rows, RowWeights row_weights, const Partition& partition, double factor,
             ThreadPool& pool)
      : rows_(rows),
        row_weights_(row_weights),
        partition_(partition),
        factor_(factor),
        pool_(pool),
        fetched_(row_for_each_thread(rows, pool)),
        changes_(pool.size() * partition.n_features),
        starts_(static_cast<std::size_t>(partition.n_clusters) + 1),
        shifts_(static_cast<std::size_t>(partition.n_clusters)),
        is_updated_(static_cast<std::size_t>(partition.n_clusters)) {}

  // Makes all moves that bring a row nearer to its centre, and marks their decisions. Returns the gain
  // besides that of the decisions. Makes no move if a cluster might lose all its rows.
  double commit(std::vector<Decision>& decisions) {
    constexpr std::int64_t kDecisionsPerTask = 32;
    const auto n = static_cast<std::int64_t>(decisions.size());
    pool_.for_each((n + kDecisionsPerTask - 1) / kDecisionsPerTask, [&](std::int64_t task, int thread) {
      const std::int64_t end = std::min(n, (task + 1) * kDecisionsPerTask);
      for (std::int64_t i = task * kDecisionsPerTask; i < end; ++i)
        test(decisions[static_cast<std::size_t>(i)], fetched_[static_cast<std::size_t>(thread)]);
    });
    if (pool_.stop_token().stopped() || !list_changes(decisions)) {
      for (Decision& decision : decisions) decision.moved = false;
      return 0.0;
    }
    update_clusters(decisions);
    double gain = 0.0;
    for (const double shift : shifts_) gain += shift;
    return gain;
  }

 private:
  // Marks a move that lowers the inertia together with any others.
  void test(Decision& decision, DenseRows::Row& x) const {
    const double w = row_weights_[decision.row];
    if (partition_.weights[decision.to] <= 0.0) return;
    rows_.fetch(decision.row, x);
    const double leave = distance(x, decision.from), enter = distance(x, decision.to);
    if (!improves(leave, factor_ * enter, decision.norm, 0.0)) return;
    decision.moved = true;
    decision.gain = w * (leave - enter);
  }
  double distance(const DenseRows::Row& x, std::int64_t cluster) const {
    return rows_.distance(x, {partition_.composite(cluster), 1.0 / partition_.weights[cluster]});
  }

  // Sorts the moves by the clusters that they change. Returns false if a cluster might lose all its
  // rows.
  bool list_changes(const std::vector<Decision>& decisions) {
    std::ranges::fill(starts_, 0);
    std::vector<double> lost(shifts_.size(), 0.0);
    std::vector<std::int64_t> n_lost(shifts_.size(), 0);
    for (const Decision& decision : decisions) {
      if (!decision.moved) continue;
      ++start(decision.from);
      ++start(decision.to);
      lost[static_cast<std::size_t>(decision.from)] += row_weights_[decision.row];
      ++n_lost[static_cast<std::size_t>(decision.from)];
    }
    for (std::size_t c = 0; c < lost.size(); ++c) {
      // A cluster keeps at least half of its rows and weight, so that rounding errors stay small.
      const auto cluster = static_cast<std::int64_t>(c);
      if (2 * n_lost[c] > partition_.counts[cluster] || 2.0 * lost[c] > partition_.weights[cluster])
        return false;
    }
    for (std::size_t c = 1; c < starts_.size(); ++c) starts_[c] += starts_[c - 1];
    changes_of_clusters_.resize(static_cast<std::size_t>(starts_.back()));
    for (std::size_t i = decisions.size(); i-- > 0;) {  // backwards, so that starts_ ends at the starts
      if (!decisions[i].moved) continue;
      changes_of_clusters_[static_cast<std::size_t>(--start(decisions[i].from))] =
          ~static_cast<std::int64_t>(i);
      changes_of_clusters_[static_cast<std::size_t>(--start(decisions[i].to))] =
          static_cast<std::int64_t>(i);
    }
    return true;
  }
  std::int64_t& start(std::int32_t cluster) { return starts_[static_cast<std::size_t>(cluster)]; }

  // All clusters must be updated, even if a stop is requested in between.
  void update_clusters(const std::vector<Decision>& decisions) {
    std::ranges::fill(is_updated_, 0);
    pool_.for_each(partition_.n_clusters,
                   [&](std::int64_t c, int thread) { update(c, thread, decisions); });
    for (std::int64_t c = 0; c < partition_.n_clusters; ++c)
      if (is_updated_[static_cast<std::size_t>(c)] == 0) update(c, 0, decisions);
  }

  void update(std::int64_t cluster, int thread, const std::vector<Decision>& decisions) {
    const auto c = static_cast<std::size_t>(cluster);
    is_updated_[c] = 1;
    shifts_[c] = 0.0;
    if (starts_[c] == starts_[c + 1]) return;
    DenseRows::Row& x = fetched_[static_cast<std::size_t>(thread)];
    double* change = changes_.get() + thread * partition_.n_features;
    std::fill_n(change, partition_.n_features, 0.0);
    double weight = 0.0;
    std::int64_t count = 0;
    for (std::int64_t i = starts_[c]; i < starts_[c + 1]; ++i) {
      const std::int64_t at = changes_of_clusters_[static_cast<std::size_t>(i)];
      const bool enters = at >= 0;
      const Decision& decision = decisions[static_cast<std::size_t>(enters ? at : ~at)];
      const double w = enters ? row_weights_[decision.row] : -row_weights_[decision.row];
      rows_.fetch(decision.row, x);
      rows_.add(x, w, change);
      weight += w;
      count += enters ? 1 : -1;
      if (enters) partition_.labels[decision.row] = decision.to;
    }
    const Kernel& kernel = rows_.kernel();
    const double old_weight = partition_.weights[cluster], new_weight = old_weight + weight;
    double* composite = partition_.composite(cluster);
    // W'^2 |C' - C|^2 = |change of D - change of W * C|^2
    shifts_[c] =
        kernel.distance(change, composite, weight / old_weight, partition_.n_features) / new_weight;
    kernel.add(composite, change, 1.0, partition_.n_features);
    partition_.weights[cluster] = new_weight;
    partition_.counts[cluster] += count;
  }

  const DenseRows& rows_;
  RowWeights row_weights_;
  const Partition& partition_;
  const double factor_;
  ThreadPool& pool_;
  std::vector<DenseRows::Row> fetched_;            // by thread
  Buffer<double> changes_;                         // by thread: change of a composite
  std::vector<std::int64_t> starts_;               // k + 1: start of each cluster in the next array
  std::vector<std::int64_t> changes_of_clusters_;  // decisions by which rows enter, or ~ to leave
  std::vector<double> shifts_;                     // by cluster: W' |C' - C|^2
  std::vector<unsigned char> is_updated_;          // by cluster
};

}  // namespace boostkmeans
