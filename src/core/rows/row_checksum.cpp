#include "rows/row_checksum.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "rows/dense_rows.hpp"
#include "rows/sparse_rows.hpp"
#include "rows/thread_rows.hpp"
#include "support/random.hpp"

namespace boostkmeans {

namespace {

constexpr std::int64_t kRowsPerTask = 1024;

// Adds a number to a checksum. For each number, this is a bijection of the checksum, and the reverse:
// different numbers give different results.
std::uint64_t extend(std::uint64_t sum, std::uint64_t number) {
  constexpr std::uint64_t kOdd = 0x9fb21c651e98df25u;
  sum = (sum ^ number) * kOdd;
  return sum ^ (sum >> 32);
}

// Adding 0 turns -0 into 0: the values are equal, so their bits should be, too.
std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value + 0.0); }

std::uint64_t checksum_of(const DenseRows& rows, const DenseRows::Row& x) {
  std::uint64_t sum = 0;
  for (std::int64_t j = 0; j < rows.n_features(); ++j) sum = extend(sum, bits_of(x.values[j]));
  return sum;
}

std::uint64_t checksum_of(const SparseRows&, const SparseRows::Row& x) {
  std::uint64_t sum = 0;
  for (std::int64_t t = 0; t < x.count; ++t) {
    if (x.values[t] == 0.0) continue;  // a stored zero does not change the row
    sum = extend(sum, static_cast<std::uint64_t>(x.columns[t]));
    sum = extend(sum, bits_of(x.values[t]));
  }
  return sum;
}

}  // namespace

template <class Rows>
std::uint64_t row_checksum(const Rows& rows, std::int64_t first_row, ThreadPool& pool) {
  const std::int64_t n = rows.n_rows();
  auto fetched = row_for_each_thread(rows, pool);
  std::vector<std::uint64_t> by_task(static_cast<std::size_t>((n + kRowsPerTask - 1) / kRowsPerTask), 0);
  pool.for_each(static_cast<std::int64_t>(by_task.size()), [&](std::int64_t task, int thread) {
    typename Rows::Row& x = fetched[static_cast<std::size_t>(thread)];
    std::uint64_t& total = by_task[static_cast<std::size_t>(task)];
    for (std::int64_t row = task * kRowsPerTask; row < std::min(n, (task + 1) * kRowsPerTask); ++row) {
      rows.fetch(row, x);
      total += random_at(checksum_of(rows, x), static_cast<std::uint64_t>(first_row + row));
    }
  });
  std::uint64_t total = 0;
  for (const std::uint64_t one : by_task) total += one;
  return total;
}

template std::uint64_t row_checksum(const DenseRows&, std::int64_t, ThreadPool&);
template std::uint64_t row_checksum(const SparseRows&, std::int64_t, ThreadPool&);

}  // namespace boostkmeans
