// One pass over the rows in which each may move to a better cluster: proposals are made in parallel,
// block by block, from float32 centres; then decided one after the other, in the order of the visit,
// in float64, from the composites as they are at that moment. Every accepted move raises the
// objective, whatever the proposal was; the result does not depend on the number of threads.
#pragma once

#include <cstdint>

#include "dense_rows.hpp"
#include "partition.hpp"
#include "team.hpp"

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
};

struct SweepResult {
  std::int64_t moves = 0;
  std::int64_t visited = 0;
  double gain = 0.0;  // by how much the inertia fell
};

SweepResult sweep(const DenseRows& rows, RowWeights row_weights, const Partition& partition,
                  const Visit& visit, const SweepOptions& options, Team& team);

}  // namespace boostkmeans
