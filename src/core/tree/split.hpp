// Splits sets of rows into sections. A bisecting tree consists of such splits.
//
// `members` is a permutation of row numbers. A set is a range of it, and its sections are ranges of that
// range. Many sets are split in parallel. The split of a set depends only on its rows and the seed. With
// `sample`, a large set is sectioned by a sample of its rows, and the other rows are assigned to the
// nearest centre.
#pragma once

#include <cstdint>
#include <functional>

#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"
#include "tree/sectioning.hpp"

namespace boostkmeans {

// fast: boost k-means in float32, in blocks of rows in the order of the set (see Sectioning).
// boost: boost k-means in float64, row by row in random order (see BoostPasses).
// lloyd: Lloyd's iterations in float64.
enum class SplitRule : std::uint8_t { fast, boost, lloyd };

// Called after a pass over a set that all threads split together, with the number of rows of the set,
// the number of passes so far, and the number of rows that the last one moved.
using AfterPass = std::function<void(std::int64_t, std::int64_t, std::int64_t)>;

struct SplitOptions {
  SectionOptions sections;
  std::uint64_t seed;
  bool with_inertias;  // true to compute the inertias of the sections
  SplitRule rule = SplitRule::fast;
  bool sample = true;  // false to use all rows of a set, which is not possible with the rule fast
  // For tests of the rules boost and lloyd: false to read all rows in every pass, and the number of rows
  // above which all threads split a set together (0 for the default).
  bool bounded = true;
  std::int64_t max_rows_of_one_thread = 0;
  AfterPass after_pass = {};
};

// Results for all sets and sections.
struct SplitResult {
  // n_sets x s: end of each section in `members`; all -1 if the rows of a set are equal
  std::int64_t* ends;
  double* weights;                 // n_sets x s
  double* inertias;                // n_sets x s, only with with_inertias
  std::int64_t* passes = nullptr;  // n_sets: number of passes
};

// Marks a set whose rows are all equal.
inline void mark_equal(const SplitResult& result, std::int64_t set, std::int64_t n_sections) {
  for (std::int64_t out = set * n_sections; out < (set + 1) * n_sections; ++out) {
    result.ends[out] = -1;
    result.weights[out] = 0.0;
    result.inertias[out] = 0.0;
  }
}

// Splits sets. Set i is members[begins[i]] to members[ends[i] - 1]. It has at least as many rows as
// sections, all of positive weight.
template <class Rows>
void split(const Rows& rows, RowWeights row_weights, std::int64_t* members, const std::int64_t* begins,
           const std::int64_t* ends, std::int64_t n_sets, const SplitOptions& options,
           const SplitResult& result, ThreadPool& pool);

}  // namespace boostkmeans
