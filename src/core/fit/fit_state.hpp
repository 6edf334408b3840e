// The state of a whole fit of small data, between two steps.
//
// The schedule is that of the Python class `Schedule`: annealed sweeps with a repair after the first,
// sweeps that only lower the inertia, repair rounds, and again sweeps, until a criterion ends the fit.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/kernel.hpp"
#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"

namespace boostkmeans {

enum class FitPhase : std::uint8_t { beginning, early_repair, descent, rest, repair, end };
enum class EndReason : std::uint8_t { none, certified, tol, max_iter };
enum class StepKind : std::uint8_t { sweep, certify, repair };

// What a fit reports about a sweep or a repair round.
struct StepRecord {
  StepKind kind = StepKind::sweep;
  std::int64_t moves = 0;
  std::int64_t evaluations = 0;
  double inertia = 0.0;  // of the current partition
  double temperature = 0.0;
  std::int64_t swaps = 0;
  double seconds = 0.0;  // since the beginning of the call
};

struct FitOptions {
  bool first = false;  // see SweepOptions
  double tol = 0.0;
  std::int64_t max_iter = 1;
  std::int64_t n_beginning = 0;  // sweeps of the first phase
  double temperature = 0.0;      // of the first sweep; falls linearly to 0 in n_beginning sweeps
  // If positive, the temperature is at most this times the square of the explained share.
  double per_explained_square = 0.0;
  std::int64_t run_rows = 1;     // see FullVisit
  std::int64_t block_rows = 48;  // see FullVisit
  std::uint64_t seed = 0;
};

struct FitState {
  FitPhase phase = FitPhase::beginning;
  EndReason end_reason = EndReason::none;
  std::int64_t annealed = 0;
  std::int64_t repair_rounds = 0;  // left
  std::int64_t trial_swaps = 0;    // left
  bool changed = false;            // whether the current repair has changed the partition
  std::int64_t n_sweeps = 0;
  StepKind last_kind = StepKind::sweep;
  std::int64_t last_moves = -1;  // of the last step; -1 before the first one
  double inertia = 0.0;
  double total_squares = 0.0;  // inertia + objective
  double moves_since_recompute = 0.0;
  double drift = 0.0;
  bool has_best = false;  // whether `best` is a partition to which the fit may return
  double best_inertia = 0.0;
  std::uint64_t n_draws = 0;  // number of random numbers drawn so far
  // The sweeps have come to rest with clusters at the same place. The caller separates them, and then
  // decides whether the fit continues.
  bool coincident = false;
  std::vector<StepRecord> records;
};

// Returns true if two clusters have the same centre up to rounding.
bool has_coincident(const Kernel& kernel, const double* composites, const double* weights,
                    std::int64_t n_clusters, std::int64_t n_features);

// Performs steps until the fit ends, `max_records` steps were recorded, or a stop is requested. The
// partition is consistent in all cases. `best` has the shape of `partition` and holds the best partition
// while the fit may have to return to it.
template <class Rows>
void advance(const Rows& rows, RowWeights row_weights, const Partition& partition, const Partition& best,
             const FitOptions& options, FitState& state, std::int64_t max_records, ThreadPool& pool);

}  // namespace boostkmeans
