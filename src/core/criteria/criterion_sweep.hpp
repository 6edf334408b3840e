// A sweep that optimises one of CLUTO's criteria by moves of single rows.
//
// As in sweep/sweep.hpp, rows are handled in blocks. All rows of a block propose their best cluster in
// parallel, by the composites at the beginning of the block. Then the proposals are decided one after
// the other, by the current composites. Proposals and decisions are both computed in float64. Every move
// improves the criterion, and the result does not depend on the number of threads. All sums are in the
// order of the columns, so that dense rows and sparse rows give the same result, too. If a sweep over
// all rows makes no move, no single move improves the criterion.
#pragma once

#include <cstdint>

#include "criteria/criterion.hpp"
#include "criteria/term_composites.hpp"
#include "parallel/thread_pool.hpp"

namespace boostkmeans {

struct CriterionVisit {
  const std::int64_t* order;  // rows, in the order of the visit
  std::int64_t n_rows;        // length of `order`
  std::int64_t block_rows;    // number of rows that propose before the first of them is decided
};

struct CriterionSweepResult {
  std::int64_t moves = 0;
  std::int64_t evaluations = 0;  // number of products of rows and composites
  CriterionSums sums;            // of the terms of all clusters, after the sweep
};

// Rows of weight 0 never move, and no cluster loses its last row. The composites must match the labels.
template <class Rows>
CriterionSweepResult criterion_sweep(const Rows& rows, RowWeights row_weights,
                                     const TermComposites& composites, CriterionName criterion,
                                     const CriterionVisit& visit, ThreadPool& pool);

}  // namespace boostkmeans
