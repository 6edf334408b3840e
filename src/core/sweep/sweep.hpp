// One pass over the rows in which each may move to a better cluster: proposals are made in parallel,
// block by block, from float32 centres; then decided one after the other, in the order of the visit,
// in float64, from the composites as they are at that moment. Every accepted move raises the
// objective, whatever the proposal was; the result does not depend on the number of threads.
#pragma once

#include <cstdint>

#include "sweep/size_limits.hpp"
#include "partition/partition.hpp"
#include "parallel/thread_pool.hpp"

namespace boostkmeans {

struct Visit {
  const std::int64_t* order;  // runs of rows, in the order of the visit
  std::int64_t n_runs;
  std::int64_t run_rows;      // run r is rows [r * run_rows, (r + 1) * run_rows), cut at n
  std::int64_t block_rows;    // rows that propose before the first of them is decided
};

struct SweepOptions {
  bool first;           // take the first improving cluster from a random one on, not the best
  std::uint64_t seed;   // of that random cluster
  bool exact;           // for a certificate: the best cluster, by float64 where float32 cannot tell
  bool low;             // proposals in low precision, where rows and kernel allow it
  // Above 0, a row also moves where that costs little: what it costs to stay counts (1 + temperature)
  // fold, what it costs to go (1 - temperature) fold. Not for a certificate.
  double temperature = 0.0;
  Limits limits = {};
  // If true, rows also look at clusters that have no room. One that would go there looks for another row
  // that makes room (or one that takes its place, where its own cluster has just enough) and both move, if
  // this is a gain altogether. Else such clusters are not looked at.
  bool exchange = false;
  // k, or null: what it costs to be in a cluster, beside the distance. High prices make rows leave that are
  // nearly as well off elsewhere, so that others find room. Not for a certificate, nor with limits.
  const double* prices = nullptr;
};

// For a sweep over candidates: rows are visited cluster by cluster, and look at the neighbours of their
// cluster alone. A cluster is passed over if nothing in its neighbourhood changed since its last visit.
struct Neighbourhoods {
  const std::int32_t* lists;  // k x length: other clusters, filled up with -1
  std::int64_t length;
  std::int64_t* changed;      // k: when each cluster changed last, or -1 ...
  std::int64_t* visited;      // k: ... and when all of its rows were visited, or -1; both by `clock`
  std::int64_t clock;         // counts blocks, over all sweeps
};

struct CandidateVisit {
  const std::int32_t* order;  // clusters, in the order of the visit
  std::int64_t n_clusters;
  std::int64_t block_rows;
  // n, or null: best other cluster of each row that was visited, better or not.
  std::int32_t* runners_up;
  // If true, rows are visited with the cluster that `runners_up` names, and look at the neighbours of that
  // one: clusters that the list of their own cluster lacks. None is passed over then, nor counts as visited.
  bool by_runner_up;
};

struct SweepResult {
  std::int64_t moves = 0;
  std::int64_t evaluations = 0;  // distances, of all rows that were decided
  double gain = 0.0;  // by how much the inertia fell
};

template <class Rows>
SweepResult sweep(const Rows& rows, RowWeights row_weights, const Partition& partition,
                  const Visit& visit, const SweepOptions& options, Team& team);
// Moves `neighbourhoods.clock` on. `options.exact` and `options.low` must be false.
template <class Rows>
SweepResult sweep(const Rows& rows, RowWeights row_weights, const Partition& partition,
                  const CandidateVisit& visit, Neighbourhoods& neighbourhoods,
                  const SweepOptions& options, Team& team);

}  // namespace boostkmeans
