// Decisions on the proposals of a block, in float64 and by the current composites.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"
#include "rows/thread_rows.hpp"
#include "sweep/block_moves.hpp"
#include "sweep/decision_order.hpp"
#include "sweep/exchanger.hpp"
#include "sweep/mover.hpp"
#include "sweep/proposer.hpp"
#include "sweep/sweep.hpp"
#include "sweep/visit_policies.hpp"

namespace boostkmeans {

// Makes the proposed moves that are still a gain when their turn comes. The result is that of deciding
// one proposal after the other, whatever the number of threads.
template <class Rows, class Policy>
class Decider {
 public:
  Decider(const Rows& rows, RowWeights row_weights, const Partition& partition,
          const SweepOptions& options, Mover<Rows, Policy>& mover, ThreadPool& pool)
      : rows_(rows),
        row_weights_(row_weights),
        partition_(partition),
        options_(options),
        annealing_factor_(annealing_factor(options)),
        mover_(mover),
        pool_(pool),
        exchanger_(rows, row_weights, partition, options, mover),
        order_(partition.n_clusters),
        fetched_(row_for_each_thread(rows, pool)) {}

  // Some proposals are not decided if a stop is requested.
  void decide(const std::vector<Proposal>& proposals) {
    if (options_.exchange) {
      decide_with_exchanges(proposals);
      return;
    }
    order_.assign(proposals);
    const bool wide = is_wide();
    if (!wide && is_crowded()) commit_at_once();
    if (wide)
      decide_in_parallel();
    else
      decide_in_sequence();
    for (const Decision& decision : order_.decisions) {
      if (!decision.moved) continue;
      mover_.note_move(decision.from, decision.to);
      mover_.count(decision.gain);
    }
  }

 private:
  static constexpr std::int64_t kDecisionsBetweenPolls = 256;

  // Returns true if there are so many more decisions than clusters that hardly any two are independent
  // of each other. Candidates do not count: the proposals of a block concern few of the clusters.
  bool is_crowded() const {
    // Minimum number of decisions, in total and per cluster.
    constexpr std::int64_t kMin = 256;
    constexpr std::int64_t kMinPerCluster = 4;
    return !Rows::kSparse && Policy::kFull && !options_.exact && !options_.limits &&
           options_.penalties == nullptr &&
           order_.size() >= std::max(kMin, kMinPerCluster * partition_.n_clusters);
  }
  // Makes all moves at once that lower the inertia in any number. The other proposals are then decided
  // in sequence.
  void commit_at_once() {
    if constexpr (!Rows::kSparse) {
      if (!block_moves_) block_moves_.emplace(rows_, row_weights_, partition_, annealing_factor_, pool_);
      mover_.result.gain += block_moves_->commit(order_.decisions);
    }
  }

  // Returns true if enough decisions are independent of each other for several threads. This does not
  // depend on the number of threads, so that the measured times do not, either.
  bool is_wide() const {
    // Minimum number of decisions per level, and of values that all decisions of a level read.
    constexpr double kMinWidth = 3.0;
    constexpr double kMinValues = 2048.0;
    // Minimum number of values of all decisions. Threads need some microseconds to begin.
    constexpr double kMinTotal = 16384.0;
    const double values = static_cast<double>(rows_.n_values()) / static_cast<double>(rows_.n_rows());
    return mover_.may_move_in_parallel() && order_.width() >= kMinWidth &&
           order_.width() * values >= kMinValues &&
           static_cast<double>(order_.size()) * values >= kMinTotal;
  }

  void decide_in_sequence() {
    std::int64_t n_decided = 0;
    for (Decision& decision : order_.decisions) {
      decide_one(decision, fetched_[0]);
      if (++n_decided % kDecisionsBetweenPolls == 0 && pool_.stop_token().poll()) return;
    }
  }

  // A single thread decides in sequence, because neighbouring proposals often concern the same cluster.
  void decide_in_parallel() {
    // Maximum number of decisions per item, which amortises the costs of an item.
    constexpr std::int64_t kMaxPerItem = 16;
    const std::int64_t n = order_.size();
    const bool alone = pool_.size() == 1;
    const std::int32_t* sorted = alone ? nullptr : order_.sort_by_level().data();
    const auto share = static_cast<std::int64_t>(order_.width()) / (2 * pool_.size());
    const std::int64_t per_item = std::clamp<std::int64_t>(share, 1, kMaxPerItem);
    const double chain = static_cast<double>(order_.n_levels()) / static_cast<double>(n);
    pool_.for_each_in_order((n + per_item - 1) / per_item, chain, [&](std::int64_t item, int thread) {
      typename Rows::Row& x = fetched_[static_cast<std::size_t>(thread)];
      const std::int64_t end = std::min(n, (item + 1) * per_item);
      for (std::int64_t i = item * per_item; i < end; ++i) {
        prefetch(sorted, i);
        Decision& decision = at(sorted, i);
        if (!alone && !order_.wait_for_turn(decision, pool_, thread)) return;
        decide_one(decision, x);
        order_.end_turn(decision);
      }
    });
  }

  Decision& at(const std::int32_t* sorted, std::int64_t i) {
    return order_.decisions[static_cast<std::size_t>(sorted == nullptr ? i : sorted[i])];
  }

  // Prefetches the rows and composites of the next decisions.
  void prefetch(const std::int32_t* sorted, std::int64_t i) {
    // Number of decisions by which prefetching runs ahead.
    constexpr std::int64_t kRowsAhead = 4;
    constexpr std::int64_t kCompositesAhead = 1;
    if (i + kRowsAhead < order_.size()) rows_.prefetch(at(sorted, i + kRowsAhead).row);
    if (i + kCompositesAhead >= order_.size()) return;
    const Decision& next = at(sorted, i + kCompositesAhead);
    mover_.prefetch(next.from);
    mover_.prefetch(next.to);
  }

  // Makes a proposed move if it is still a gain according to the current composites.
  void decide_one(Decision& decision, typename Rows::Row& x) {
    if (decision.moved) return;
    const std::int32_t from = decision.from, to = decision.to;
    const double w = row_weights_[decision.row];
    if (!may_leave(partition_, from, w)) return;
    if (!options_.limits.at_least_min(from, partition_.weights[from] - w)) return;
    if (!options_.limits.at_most_max(to, partition_.weights[to] + w)) return;
    const MoveCosts costs = mover_.costs_of(decision.row, from, to, x);
    if (!is_gain(costs, from, to, decision.norm)) return;
    mover_.change_clusters(decision.row, from, to, x);
    decision.moved = true;
    decision.gain = w * (costs.leave - costs.enter);
  }

  bool is_gain(const MoveCosts& costs, std::int32_t from, std::int32_t to, float norm) const {
    const double leave = costs.leave + mover_.penalty(from);
    const double enter = annealing_factor_ * costs.enter + mover_.penalty(to);
    return improves(leave, enter, norm, costs.noise);
  }

  // An exchange concerns up to four clusters, which are found only when the decision is made.
  void decide_with_exchanges(const std::vector<Proposal>& proposals) {
    std::int64_t n_decided = 0;
    for (const Proposal& proposal : proposals) {
      if (proposal.target < 0) continue;
      decide_or_exchange(proposal);
      if (++n_decided % kDecisionsBetweenPolls == 0 && pool_.stop_token().poll()) return;
    }
  }

  void decide_or_exchange(const Proposal& proposal) {
    // The row may have moved since it proposed, as a partner in an exchange.
    const std::int32_t from = partition_.labels[proposal.row], to = proposal.target;
    const double w = row_weights_[proposal.row];
    if (from == to || !may_leave(partition_, from, w)) return;
    if (proposal.regret >= 0.0f) {
      exchanger_.offer(proposal);
      return;
    }
    const bool may_shrink = options_.limits.at_least_min(from, partition_.weights[from] - w);
    const bool has_room = options_.limits.at_most_max(to, partition_.weights[to] + w);
    if (!may_shrink || !has_room) {
      if (!exchanger_.exchange(proposal, !may_shrink, !has_room)) exchanger_.offer(proposal);
      return;
    }
    const MoveCosts costs = mover_.costs_of(proposal.row, to, fetched_[0]);
    if (is_gain(costs, from, to, proposal.norm)) mover_.accept(proposal.row, to, fetched_[0], costs);
  }

  const Rows& rows_;
  RowWeights row_weights_;
  const Partition& partition_;
  const SweepOptions& options_;
  const double annealing_factor_;
  Mover<Rows, Policy>& mover_;
  ThreadPool& pool_;
  Exchanger<Rows, Policy> exchanger_;
  DecisionOrder order_;
  std::optional<BlockMoves> block_moves_;
  std::vector<typename Rows::Row> fetched_;  // by thread
};

}  // namespace boostkmeans
