// How far the data reaches, and whether it is finite, in one pass.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/thread_pool.hpp"
#include "rows/dense_rows.hpp"

namespace boostkmeans {

struct Description {
  std::vector<double> low, high;  // by column
  std::int64_t bad_row = -1;      // the first row with a value that is not finite
};

Description describe(const DenseRows& rows, Team& team);

// |x| of each row, without overflow or underflow on the way.
template <class Rows>
void row_norms(const Rows& rows, double* norms, Team& team);

}  // namespace boostkmeans
