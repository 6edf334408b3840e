// A sweep visits the rows once and moves each to a better cluster.
//
// Rows are handled in blocks. The rows of a block propose moves in parallel, by float32 centres. Then
// the proposals are decided in float64, with the result of deciding one after the other, in the order of
// the visit, by the current composites (see decider.hpp). Every accepted move raises the objective, even
// if a proposal was inaccurate, and the result does not depend on the number of threads.
#pragma once

#include <cstdint>
#include <variant>

#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"
#include "projection/lower_bounds.hpp"
#include "sweep/size_limits.hpp"

namespace boostkmeans {

// Arrays of the caller that keep row bounds from one sweep to the next (see row_bounds.hpp). `margins`
// starts with -infinity, the others with 0. Between two sweeps, centres may change in any way. If the
// label of a row changes, its margin must be set to -infinity.
struct RowBoundsView {
  float* margins = nullptr;   // n: bound of each row; null if bounds are not used
  double* paths = nullptr;    // k: length of the path of each centre so far
  double* centres = nullptr;  // k x d: the centres to which the paths lead
  double* totals = nullptr;   // 2: sum of the longest steps of all centres, and the largest |x|^2

  explicit operator bool() const { return margins != nullptr; }
};

// A sweep in which every row is compared with all clusters.
struct FullVisit {
  const std::int64_t* order;  // runs of rows, in the order of the visit
  std::int64_t n_runs;
  std::int64_t run_rows;    // run r is rows [r * run_rows, (r + 1) * run_rows), truncated at n
  std::int64_t block_rows;  // number of rows that propose before the first of them is decided
  // If given, rows that certainly cannot gain are skipped, unless the sweep is exact. Moves are the same
  // as without bounds. Requires rule "best", temperature 0, no limits, no penalties, no low precision.
  RowBoundsView bounds = {};
};

// A sweep in which rows are visited cluster by cluster and compared only with the neighbours of their
// cluster. It skips a cluster if neither the cluster nor one of its neighbours changed since its last
// visit.
struct CandidateVisit {
  const std::int32_t* lists;  // k x list_length: neighbouring clusters, padded with -1
  std::int64_t list_length;
  std::int64_t* changed;      // k: time of the last change of each cluster, or -1
  std::int64_t* visited;      // k: time of the last visit to all rows of each cluster, or -1
  std::int64_t clock;         // time: the number of blocks decided so far; the sweep advances it
  const std::int32_t* order;  // clusters, in the order of the visit
  std::int64_t n_clusters;    // length of `order`
  std::int64_t block_rows;    // as in FullVisit
  // n, or null: receives the best other cluster of each visited row, even if moving there is no
  // gain.
  std::int32_t* runners_up = nullptr;
  // If true, rows are grouped by their cluster in `runners_up` and compared with the neighbours of
  // that cluster, which may be missing in the list of their own cluster. No cluster is then skipped
  // or marked as visited.
  bool by_runner_up = false;
};

using Visit = std::variant<FullVisit, CandidateVisit>;

struct SweepOptions {
  bool first = false;  // move to the first improving cluster from a random start instead of the best one
  // Certify a local optimum: find the best cluster in float64 wherever float32 cannot decide. Takes
  // precedence over `first` and `low_precision`. Requires a FullVisit.
  bool exact = false;
  // Score rows of bytes in low precision, if the kernel supports it. A CandidateVisit ignores this.
  bool low_precision = false;
  // If positive, a row may also make a move that raises the inertia a little: the cost of staying
  // is multiplied by (1 + temperature), the cost of moving by (1 - temperature). Must be 0 if
  // `exact`.
  double temperature = 0.0;
  SizeLimits limits = {};
  // If true, rows are also compared with clusters that are full. A row that would move to one is
  // combined with another row that makes room (or takes its place, if its own cluster is at the lower
  // limit), and both move if this is a gain. If false, rows are not compared with full clusters.
  bool exchange = false;
  // k, or null: cost of being in a cluster, added to the cost of the distance. Penalties drive away
  // rows that are nearly as close to another cluster. Must be null if `exact` or if there are
  // limits.
  const double* penalties = nullptr;
  // If given, rows are first compared with all centres in a few dimensions, and distances in all
  // dimensions are computed only where a gain is possible. Moves are the same as without, up to
  // rounding. Requires dense rows and the rule "best", and neither `exchange` nor `penalties`.
  ProjectedRows projected = {};
  std::uint64_t seed = 0;  // determines the random start of `first`
};

struct SweepResult {
  std::int64_t moves = 0;
  double gain = 0.0;             // decrease of the inertia
  std::int64_t evaluations = 0;  // number of distances computed for proposals
};

template <class Rows>
SweepResult sweep(const Rows& rows, RowWeights row_weights, const Partition& partition, Visit& visit,
                  const SweepOptions& options, ThreadPool& pool);

}  // namespace boostkmeans
