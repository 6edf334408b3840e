// Sets of rows, each split into sections: what a bisecting tree is made of.
//
// `members` is a permutation of row numbers in which a set is a range, and its sections are ranges of
// that range. Many sets are split at once, in parallel; what becomes of a set depends on its rows and
// the seed alone. A large set is sectioned by a sample of its rows, and the rest follows by the nearest
// centre.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"
#include "tree/sectioning.hpp"

namespace boostkmeans {

struct SplitOptions {
  SectionOptions sections;
  std::uint64_t seed;
  bool measured;  // whether inertias of the sections are wanted
};

// For set i and section s of it.
struct SplitResult {
  std::int64_t* ends;  // n_sets x s: where the section ends in `members`; all -1 if rows are all equal
  double* weights;     // n_sets x s
  double* inertias;    // n_sets x s, if measured
};

// Set i is members[begins[i], ends[i]): at least as many rows as sections, all of positive weight.
template <class Rows>
void split(const Rows& rows, RowWeights row_weights, std::int64_t* members, const std::int64_t* begins,
           const std::int64_t* ends, std::int64_t n_sets, const SplitOptions& options,
           const SplitResult& result, Team& team);

}  // namespace boostkmeans
