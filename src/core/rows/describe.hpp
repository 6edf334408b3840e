// Statistics of rows: ranges of columns, and norms.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/thread_pool.hpp"
#include "rows/dense_rows.hpp"

namespace boostkmeans {

struct Description {
  std::vector<double> low, high;  // minimum and maximum of each column
  std::int64_t bad_row = -1;      // the first row with a value that is not finite
};

Description describe(const DenseRows& rows, ThreadPool& pool);

// The order in which the squares of a row are added. By columns, dense rows and sparse rows of the same
// data have equal norms, bit for bit. The fastest order depends on the positions of the stored values.
enum class NormOrder : std::uint8_t { fastest, by_columns };

// Computes |x| of each row without intermediate overflow or underflow.
template <class Rows>
void row_norms(const Rows& rows, NormOrder order, double* norms, ThreadPool& pool);

}  // namespace boostkmeans
