#include "sweep/sweep.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"
#include "rows/dense_rows.hpp"
#include "rows/sparse_rows.hpp"
#include "sweep/decider.hpp"
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

// Returns the largest weight of a row.
double heaviest(RowWeights row_weights, std::int64_t n_rows) {
  return row_weights ? *std::max_element(row_weights.values, row_weights.values + n_rows) : 1.0;
}

// One sweep, block by block: propose in parallel, then decide as if one row came after the other.
template <class Rows, class Policy>
class Sweep {
 public:
  Sweep(const Rows& rows, RowWeights row_weights, const Partition& partition,
        const SweepOptions& options, Policy& policy, bool low_precision, ThreadPool& pool)
      : policy_(policy),
        pool_(pool),
        bounds_(options.projected ? std::make_unique<LowerBounds>(options.projected, partition,
                                                                  policy.list_length(), pool)
                                  : nullptr),
        mover_(rows, row_weights, partition, options, policy, bounds_.get(), pool),
        proposer_(rows, row_weights, partition, options, policy, mover_, bounds_.get(), low_precision,
                  pool),
        decider_(rows, row_weights, partition, options, mover_, pool) {}

  SweepResult run() {
    while (collect()) {
      mover_.repack_stale(pool_);
      proposer_.propose(proposals_, tasks_);
      if (pool_.stop_token().stopped()) break;  // the proposals of the block are incomplete
      for (const Task& task : tasks_) mover_.result.evaluations += task.count * task.n_columns;
      decider_.decide(proposals_);
      if (pool_.stop_token().stopped()) break;
      policy_.decided(proposals_);
    }
    return mover_.result;
  }

 private:
  // Starts the next block. Returns false if all rows were visited.
  bool collect() {
    tasks_.clear();
    proposals_.resize(static_cast<std::size_t>(policy_.collect(tasks_)));
    return !proposals_.empty();
  }

  Policy& policy_;
  ThreadPool& pool_;
  std::unique_ptr<LowerBounds> bounds_;
  Mover<Rows, Policy> mover_;
  Proposer<Rows, Policy> proposer_;
  Decider<Rows, Policy> decider_;
  std::vector<Proposal> proposals_;
  std::vector<Task> tasks_;
};

}  // namespace

template <class Rows>
SweepResult sweep(const Rows& rows, RowWeights row_weights, const Partition& partition, Visit& visit,
                  const SweepOptions& options, ThreadPool& pool) {
  if (auto* candidates = std::get_if<CandidateVisit>(&visit)) {
    CandidatePolicy<Rows> policy(rows, partition, *candidates, pool);
    return Sweep(rows, row_weights, partition, options, policy, false, pool).run();
  }
  const bool low_precision = uses_low_precision(rows, options);
  const FullVisit& full = std::get<FullVisit>(visit);
  const bool visits_all = options.exact || !full.bounds;
  FullPolicy<Rows> policy(rows, partition, full, low_precision, visits_all,
                          full.bounds ? heaviest(row_weights, rows.n_rows()) : 1.0);
  return Sweep(rows, row_weights, partition, options, policy, low_precision, pool).run();
}

template SweepResult sweep(const DenseRows&, RowWeights, const Partition&, Visit&, const SweepOptions&,
                           ThreadPool&);
template SweepResult sweep(const SparseRows&, RowWeights, const Partition&, Visit&, const SweepOptions&,
                           ThreadPool&);

}  // namespace boostkmeans
