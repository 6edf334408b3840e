// Splits sets of rows into sections. A bisecting tree consists of such splits.
//
// `members` is a permutation of row numbers. A set is a range of it, and its sections are ranges of that
// range. Many sets are split in parallel. The split of a set depends only on its rows and the seed. A
// large set is sectioned by a sample of its rows, and the other rows are assigned to the nearest centre.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"
#include "tree/sectioning.hpp"

namespace boostkmeans {

struct SplitOptions {
  SectionOptions sections;
  std::uint64_t seed;
  bool with_inertias;  // true to compute the inertias of the sections
};

// Results for all sets and sections.
struct SplitResult {
  // n_sets x s: end of each section in `members`; all -1 if the rows of a set are equal
  std::int64_t* ends;
  double* weights;   // n_sets x s
  double* inertias;  // n_sets x s, only with with_inertias
};

// Splits sets. Set i is members[begins[i]] to members[ends[i] - 1]. It has at least as many rows as
// sections, all of positive weight.
template <class Rows>
void split(const Rows& rows, RowWeights row_weights, std::int64_t* members, const std::int64_t* begins,
           const std::int64_t* ends, std::int64_t n_sets, const SplitOptions& options,
           const SplitResult& result, ThreadPool& pool);

}  // namespace boostkmeans
