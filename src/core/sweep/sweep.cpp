#include "sweep/sweep.hpp"

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"
#include "rows/dense_rows.hpp"
#include "rows/sparse_rows.hpp"
#include "sweep/exchanger.hpp"
#include "sweep/mover.hpp"
#include "sweep/proposer.hpp"
#include "sweep/visit_policies.hpp"

namespace boostkmeans {

namespace {

// Only rows of bytes can be scored in low precision, and only if the sweep is not exact.
bool uses_low_precision(const DenseRows& rows, const SweepOptions& options) {
  return options.low_precision && !options.exact && rows.are_bytes();
}
bool uses_low_precision(const SparseRows&, const SweepOptions&) { return false; }

// One sweep, block by block: collect rows, propose in parallel, decide one row after the other.
template <class Rows, class Policy>
class Sweep {
 public:
  Sweep(const Rows& rows, RowWeights row_weights, const Partition& partition,
        const SweepOptions& options, Policy& policy, bool low_precision, ThreadPool& pool)
      : row_weights_(row_weights),
        partition_(partition),
        options_(options),
        annealing_factor_(annealing_factor(options)),
        policy_(policy),
        pool_(pool),
        bounds_(options.projected ? std::make_unique<LowerBounds>(options.projected, partition,
                                                                  policy.list_length(), pool)
                                  : nullptr),
        mover_(rows, row_weights, partition, options, policy, bounds_.get(), pool),
        proposer_(rows, row_weights, partition, options, policy, mover_, bounds_.get(), low_precision,
                  pool),
        exchanger_(rows, row_weights, partition, options, mover_),
        fetched_(rows) {}

  SweepResult run() {
    while (collect()) {
      mover_.repack_stale(pool_);
      proposer_.propose(proposals_, tasks_);
      if (pool_.stop_token().stopped()) break;  // the proposals of the block are incomplete
      for (const Task& task : tasks_)
        mover_.result.evaluations += task.count * policy_.n_columns(task.list);
      decide();
      if (pool_.stop_token().stopped()) break;
      policy_.decided();
    }
    return mover_.result;
  }

 private:
  // Starts the next block. Returns false if all rows were visited.
  bool collect() {
    proposals_.clear();
    tasks_.clear();
    return policy_.collect(proposals_, tasks_);
  }

  void decide() {
    constexpr std::int64_t kRowsBetweenPolls = 256;
    std::int64_t n_decided = 0;
    for (const Proposal& proposal : proposals_) {
      if (proposal.target < 0) continue;
      decide_row(proposal);
      if (++n_decided % kRowsBetweenPolls == 0 && pool_.stop_token().poll()) return;
    }
  }

  // Makes a proposed move if it is still a gain according to the current composites.
  void decide_row(const Proposal& proposal) {
    const std::int32_t from = partition_.labels[proposal.row], to = proposal.target;
    const double w = row_weights_[proposal.row];
    // The row may have moved since it proposed, as a partner in an exchange.
    if (from == to || !may_leave(partition_, from, w)) return;
    if (options_.exchange && proposal.regret >= 0.0f) {
      exchanger_.offer(proposal);
      return;
    }
    const bool may_shrink = options_.limits.at_least_min(partition_.weights[from] - w);
    const bool has_room = options_.limits.at_most_max(partition_.weights[to] + w);
    if (!may_shrink || !has_room) {
      if (options_.exchange && !exchanger_.exchange(proposal, !may_shrink, !has_room))
        exchanger_.offer(proposal);
      return;
    }
    const MoveCosts costs = mover_.costs_of(proposal.row, to, fetched_);
    const double leave = costs.leave + mover_.penalty(from);
    const double enter = annealing_factor_ * costs.enter + mover_.penalty(to);
    if (improves(leave, enter, proposal.norm, costs.noise))
      mover_.accept(proposal.row, to, fetched_, costs);
  }

  RowWeights row_weights_;
  const Partition& partition_;
  const SweepOptions& options_;
  const double annealing_factor_;
  Policy& policy_;
  ThreadPool& pool_;
  std::unique_ptr<LowerBounds> bounds_;
  Mover<Rows, Policy> mover_;
  Proposer<Rows, Policy> proposer_;
  Exchanger<Rows, Policy> exchanger_;
  typename Rows::Row fetched_;
  std::vector<Proposal> proposals_;
  std::vector<Task> tasks_;
};

}  // namespace

template <class Rows>
SweepResult sweep(const Rows& rows, RowWeights row_weights, const Partition& partition, Visit& visit,
                  const SweepOptions& options, ThreadPool& pool) {
  if (auto* candidates = std::get_if<CandidateVisit>(&visit)) {
    CandidatePolicy<Rows> policy(rows, partition, *candidates, pool.size());
    return Sweep(rows, row_weights, partition, options, policy, false, pool).run();
  }
  const bool low_precision = uses_low_precision(rows, options);
  FullPolicy<Rows> policy(rows, partition, std::get<FullVisit>(visit), low_precision);
  return Sweep(rows, row_weights, partition, options, policy, low_precision, pool).run();
}

template SweepResult sweep(const DenseRows&, RowWeights, const Partition&, Visit&, const SweepOptions&,
                           ThreadPool&);
template SweepResult sweep(const SparseRows&, RowWeights, const Partition&, Visit&, const SweepOptions&,
                           ThreadPool&);

}  // namespace boostkmeans
