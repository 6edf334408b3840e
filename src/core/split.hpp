// Splitting sets of rows in two by boost k-means: a level of the bisecting tree at a time.
//
// With the set's mean taken off, the composites of its halves are S and -S, so that one product x.S tells
// what a move gains. Sets that fit into the cache are split as they are. Of larger ones a sample is split,
// and all rows then go to the nearer of its two centres.
#pragma once

#include <cstdint>

#include "dense_rows.hpp"
#include "partition.hpp"
#include "team.hpp"

namespace boostkmeans {

// How the two halves of a set begin.
enum class Halves : int { random_partition, random_rows, plus_plus };

struct SplitOptions {
  Halves start;
  double tol;             // a pass that gains less than this share of the set's inertia is the last
  std::int64_t max_passes;
};

// Sets of rows: set s is members[begin[s]] ... members[end[s] - 1]. `members` is reordered, so that the
// first half of each set comes first; within a half, the order of the rows stays.
struct RowSets {
  std::int64_t* members;
  const std::int64_t* begin;
  const std::int64_t* end;
  const double* composites;   // n_sets x d
  const double* weights;      // n_sets
  const std::uint64_t* seeds; // n_sets: a split depends on its set and its seed alone
  std::int64_t n_sets;
};

// By set. A set whose rows are all equal has no halves: its count is 0.
struct FirstHalves {
  std::int64_t* counts;
  double* composites;  // n_sets x d
  double* weights;
  double* energies;    // sum of w |x|^2
};

void split(const DenseRows& rows, RowWeights row_weights, const RowSets& sets,
           const SplitOptions& options, const FirstHalves& halves, Team& team);

}  // namespace boostkmeans
