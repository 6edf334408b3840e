// Proposals: the cluster to which each row of a block should move, found in parallel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "kernel/kernel.hpp"
#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"
#include "projection/bounded_search.hpp"
#include "scoring/row_batch.hpp"
#include "support/random.hpp"
#include "sweep/mover.hpp"
#include "sweep/sweep.hpp"
#include "sweep/visit_policies.hpp"

namespace boostkmeans {

// Factor of the cost of entering a cluster: 1, or less in an annealed sweep.
inline double annealing_factor(const SweepOptions& options) {
  return (1.0 - options.temperature) / (1.0 + options.temperature);
}

// Finds proposals from float32 centres. An exact sweep computes again in float64 where float32 cannot
// decide.
template <class Rows, class Policy>
class Proposer {
 public:
  Proposer(const Rows& rows, RowWeights row_weights, const Partition& partition,
           const SweepOptions& options, Policy& policy, const Mover<Rows, Policy>& mover,
           LowerBounds* bounds, bool low_precision, ThreadPool& pool)
      : rows_(rows),
        row_weights_(row_weights),
        partition_(partition),
        options_(options),
        annealing_factor_(annealing_factor(options)),
        rule_(options.first && !options.exact ? Rule::first : Rule::best),
        policy_(policy),
        mover_(mover),
        pool_(pool) {
    scratch_.reserve(static_cast<std::size_t>(pool.size()));
    for (int t = 0; t < pool.size(); ++t)
      scratch_.push_back(std::make_unique<ThreadScratch>(rows, low_precision));
    if (bounds != nullptr)
      bounded_ = std::make_unique<BoundedSearch>(*bounds, options.projected.values, pool);
  }

  // Fills in the proposals of a block. They are incomplete if a stop was requested.
  void propose(std::vector<Proposal>& proposals, const std::vector<Task>& tasks) {
    pool_.for_each(static_cast<std::int64_t>(tasks.size()), [&](std::int64_t i, int thread) {
      const auto at = static_cast<std::size_t>(i);
      propose_task(proposals.data(), tasks[at], at + 1 < tasks.size() ? &tasks[at + 1] : nullptr,
                   thread);
    });
  }

 private:
  using Row = typename Rows::Row;

  struct ThreadScratch {
    ThreadScratch(const Rows& rows, bool low_precision) : batch(rows, low_precision), fetched(rows) {}
    RowBatch<Rows> batch;
    Row fetched;
    std::int64_t next_rows[kBatchRows];  // rows of the next batch
    std::int64_t n_next = 0;
  };

  // `next` is the task that this thread is likely to take afterwards, or null.
  void propose_task(Proposal* proposals, const Task& task, const Task* next, int thread) {
    ThreadScratch& scratch = *scratch_[static_cast<std::size_t>(thread)];
    auto* centres = bounded_ == nullptr ? &policy_.centres(task.list, thread) : nullptr;
    if (bounded_ != nullptr) bounded_->begin(bounded_scan(task), thread);
    for (std::int64_t at = 0; at < task.count; at += kBatchRows) {
      const std::int64_t count = std::min(kBatchRows, task.count - at);
      std::int64_t rows[kBatchRows];
      policy_.rows_of(task, at, count, rows);
      for (std::int64_t r = 0; r < count; ++r)
        proposals[task.first + at + r] = {rows[r], -1, -1, 0.0f, 0.0f};
      const bool is_last = at + count == task.count;
      scratch.n_next =
          std::min(kBatchRows, is_last ? (next ? next->count : 0) : task.count - at - count);
      if (scratch.n_next > 0)
        policy_.rows_of(is_last ? *next : task, is_last ? 0 : at + count, scratch.n_next,
                        scratch.next_rows);
      if (centres != nullptr)
        propose_batch(proposals + task.first + at, count, task, *centres, scratch, thread);
      else
        propose_bounded(proposals + task.first + at, count, task, scratch, thread);
    }
  }

  template <class Centres>
  void propose_batch(Proposal* proposals, std::int64_t count, const Task& task, Centres& centres,
                     ThreadScratch& scratch, int thread) {
    RowBatch<Rows>& batch = scratch.batch;
    batch.load(count, [=](std::int64_t r) { return proposals[r].row; });
    batch.prepare(centres);
    double stay[kBatchRows];
    prepare_rows(proposals, count, task, stay, scratch);
    if (!batch.scan(rule_, static_cast<bool>(row_weights_), centres, pool_.stop_token(), thread)) return;
    for (std::int64_t r = 0; r < count; ++r) {
      if (rule_ == Rule::best && batch.index(r) >= 0)
        policy_.found(proposals[r].row, policy_.cluster(task.list, batch.index(r)));
      policy_.scored(proposals[r].row, batch.own(r), stay[r], batch.best(r), batch.norm(r));
      if (stay[r] < 0.0) continue;
      proposals[r].target = target(batch, r, proposals[r].row, task.list, stay[r], scratch);
      // The rule "first" finds an improving cluster, but does not compute the gain.
      proposals[r].regret =
          rule_ == Rule::first ? -1.0f : batch.weight(r) * (batch.best(r) - batch.stay(r));
    }
  }

  // The same with lower bounds.
  void propose_bounded(Proposal* proposals, std::int64_t count, const Task& task, ThreadScratch& scratch,
                       int thread) {
    RowBatch<Rows>& batch = scratch.batch;
    const auto row_of = [=](std::int64_t r) { return proposals[r].row; };
    batch.load(count, row_of);
    double stay[kBatchRows];
    prepare_rows(proposals, count, task, stay, scratch);
    bounded_->load(
        count, row_of, [&](std::int64_t r) { return batch.own(r); },
        [&](std::int64_t r) { return batch.weight(r); }, thread);
    std::int64_t fetched = -1;  // the row in scratch.fetched
    const auto cost_of = [&](std::int64_t r, std::int32_t cluster) {
      const double w = row_weights_[row_of(r)];
      // An exact sweep must find the best cluster that has room for this row.
      if (options_.exact && !options_.limits.at_most_max(cluster, partition_.weights[cluster] + w))
        return std::numeric_limits<double>::infinity();
      if (options_.exact && fetched != r) rows_.fetch(row_of(r), scratch.fetched), fetched = r;
      const double distance =
          options_.exact ? mover_.distance(scratch.fetched, cluster)
                         : batch.distance_to(r, mover_.centre(cluster), policy_.table(), cluster);
      return entering(partition_.weights[cluster], w, distance);
    };
    BoundedSearch::Found found[kBatchRows];
    const BoundedScan scan = bounded_scan(task);
    const bool keeps_runners_up = rule_ == Rule::best && policy_.keeps_runners_up();
    std::int32_t runners_up[kBatchRows];
    if (keeps_runners_up && !bounded_->most_promising(scan, count, runners_up, thread)) return;
    for (std::int64_t r = 0; r < count; ++r) found[r] = {stay[r], -1};
    const auto rotation_of = [&](std::int64_t r) { return batch.rotation(r); };
    const bool complete =
        rule_ == Rule::first
            ? bounded_->search_first(scan, count, row_of, stay, rotation_of, cost_of, found, thread)
            : bounded_->search(scan, count, row_of, stay, cost_of, found, thread);
    if (!complete) return;
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int64_t row = row_of(r);
      const std::int32_t best = found[r].cluster;
      // The runner-up of a row that stays is the cluster with the smallest bound.
      if (keeps_runners_up && (best >= 0 || runners_up[r] >= 0))
        policy_.found(row, best >= 0 ? best : runners_up[r]);
      if (best < 0 || (options_.exact && !improves_exactly(row, best, batch.norm(r), scratch))) continue;
      proposals[r].target = best;
      proposals[r].regret =
          rule_ == Rule::first ? -1.0f : batch.weight(r) * static_cast<float>(found[r].cost - stay[r]);
    }
  }

  BoundedScan bounded_scan(const Task& task) const {
    return {policy_.clusters(task.list), policy_.n_columns(task.list), static_cast<bool>(row_weights_),
            options_.exact};
  }

  // Computes the norm, the weight and the cost of staying of each row of a batch.
  void prepare_rows(Proposal* proposals, std::int64_t count, const Task& task, double* stay,
                    ThreadScratch& scratch) const {
    RowBatch<Rows>& batch = scratch.batch;
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int64_t row = proposals[r].row;
      // Prefetch one row of the next batch, which this thread is likely to take: a pool hands out
      // neighbouring items. Only one row is prefetched at a time, because the number of pending
      // memory requests is limited.
      if (r < scratch.n_next) rows_.prefetch(scratch.next_rows[r]);
      // Labels are scattered in memory, so they are read only if they are not part of the task.
      const std::int32_t own = task.own >= 0 ? task.own : partition_.labels[row];
      proposals[r].own = own;
      proposals[r].norm = batch.norm(r);
      batch.own(r) = policy_.column(task.list, own);
      batch.weight(r) = static_cast<float>(row_weights_[row]);
      stay[r] = cost_of_staying(row, own, r, scratch);
      batch.stay(r) = static_cast<float>(stay[r]);
      if (rule_ == Rule::first) batch.rotation(r) = rotation(row, task.list);
    }
  }

  // Returns true if a move is a gain in float64.
  bool improves_exactly(std::int64_t row, std::int32_t to, float norm, ThreadScratch& scratch) const {
    const MoveCosts costs = mover_.costs_of(row, to, scratch.fetched);
    return improves(costs.leave, costs.enter, norm, costs.noise);
  }

  // Cost of a row in its cluster, or -1 if it cannot leave. An exact sweep computes it from the row
  // in float64. Other sweeps use the row in the tile. Its rounding to float32 matters only for a
  // row that is much heavier than others.
  double cost_of_staying(std::int64_t row, std::int32_t own, std::int64_t r,
                         ThreadScratch& scratch) const {
    const double w = row_weights_[row];
    if (w <= 0.0 || !may_leave(partition_, own, w)) return -1.0;
    const double total = partition_.weights[own];
    if (options_.exact) {
      rows_.fetch(row, scratch.fetched);
      return leaving(total, w, mover_.distance(scratch.fetched, own));
    }
    const double distance = scratch.batch.distance_to(r, mover_.centre(own), policy_.table(), own);
    return leaving(total, w, distance) / annealing_factor_ + mover_.penalty(own);
  }

  // Column at which the search for the first improving cluster starts.
  std::int32_t rotation(std::int64_t row, std::int32_t list) const {
    const std::uint64_t bits = random_at(options_.seed, static_cast<std::uint64_t>(row));
    return static_cast<std::int32_t>(random_below(bits, policy_.n_columns(list)));
  }

  // The cluster to which a row should move, or -1.
  std::int32_t target(const RowBatch<Rows>& batch, std::int64_t r, std::int64_t row, std::int32_t list,
                      double stay, ThreadScratch& scratch) const {
    const std::int64_t found = batch.index(r);
    if (rule_ == Rule::first) {
      if (found == INT32_MAX) return -1;
      return policy_.cluster(list, (found + rotation(row, list)) % policy_.n_columns(list));
    }
    if (!options_.exact) {
      if (found < 0) return -1;
      // With exchanges, rows that would lose by moving are proposed, too: they may make room for others.
      return options_.exchange || batch.best(r) < stay ? policy_.cluster(list, found) : -1;
    }
    const double error = float32_error(batch.norm(r), 2.0 * stay, rows_.n_products(row));
    return batch.best(r) > stay + error ? -1 : exact_target(row, batch.norm(r), scratch);
  }

  // The best cluster of a row by float64 distances to all clusters, or -1.
  std::int32_t exact_target(std::int64_t row, float norm, ThreadScratch& scratch) const {
    Row& x = scratch.fetched;
    rows_.fetch(row, x);
    const std::int32_t own = partition_.labels[row];
    const double w = row_weights_[row];
    const double own_distance = mover_.distance(x, own);
    const double leave = leaving(partition_.weights[own], w, own_distance);
    double best = leave, noise = 0.0;
    std::int32_t found = -1;
    for (std::int32_t c = 0; c < static_cast<std::int32_t>(partition_.n_clusters); ++c) {
      if (c == own || !options_.limits.at_most_max(c, partition_.weights[c] + w)) continue;
      const double distance = mover_.distance(x, c);
      const double enter = entering(partition_.weights[c], w, distance);
      if (enter < best) best = enter, found = c, noise = rows_.noise(x, distance);
    }
    noise += leaving(partition_.weights[own], w, rows_.noise(x, own_distance));
    return found >= 0 && improves(leave, best, norm, noise) ? found : -1;
  }

  const Rows& rows_;
  RowWeights row_weights_;
  const Partition& partition_;
  const SweepOptions& options_;
  const double annealing_factor_;
  const Rule rule_;
  Policy& policy_;
  const Mover<Rows, Policy>& mover_;
  ThreadPool& pool_;
  std::unique_ptr<BoundedSearch> bounded_;  // null if there are no bounds
  std::vector<std::unique_ptr<ThreadScratch>> scratch_;
};

}  // namespace boostkmeans
