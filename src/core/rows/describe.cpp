#include "rows/describe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rows/sparse_rows.hpp"
#include "rows/thread_rows.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

namespace {

constexpr std::int64_t kRowsPerTask = 1024;

// Minimum and maximum of each column, over the rows that one thread has read.
struct ThreadRanges {
  explicit ThreadRanges(const DenseRows& rows)
      : low(rows.n_features()),
        high(rows.n_features()),
        low32(rows.n_features()),
        high32(rows.n_features()),
        fetched(rows) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    std::fill_n(low.get(), rows.n_features(), static_cast<double>(kInfinity));
    std::fill_n(high.get(), rows.n_features(), -static_cast<double>(kInfinity));
    std::fill_n(low32.get(), rows.n_features(), kInfinity);
    std::fill_n(high32.get(), rows.n_features(), -kInfinity);
  }
  Buffer<double> low, high;
  Buffer<float> low32, high32;
  DenseRows::Row fetched;
  double poison = 0.0;
};

bool is_finite(const double* x, std::int64_t n) {
  return std::all_of(x, x + n, [](double value) { return std::isfinite(value); });
}

std::int64_t first_bad_row(const DenseRows& rows, DenseRows::Row& x) {
  for (std::int64_t row = 0; row < rows.n_rows(); ++row) {
    rows.fetch(row, x);
    if (!is_finite(x.values.get(), rows.n_features())) return row;
  }
  return -1;
}

}  // namespace

Description describe(const DenseRows& rows, ThreadPool& pool) {
  const std::int64_t n = rows.n_rows(), d = rows.n_features();
  std::vector<ThreadRanges> by_thread;
  by_thread.reserve(static_cast<std::size_t>(pool.size()));
  for (int t = 0; t < pool.size(); ++t) by_thread.emplace_back(rows);
  pool.for_each((n + kRowsPerTask - 1) / kRowsPerTask, [&](std::int64_t batch, int thread) {
    ThreadRanges& mine = by_thread[static_cast<std::size_t>(thread)];
    if (const char* floats = rows.plain_floats(batch * kRowsPerTask)) {
      float poison = 0.0f;
      rows.kernel().describe_floats(floats, rows.row_stride(),
                                    std::min(kRowsPerTask, n - batch * kRowsPerTask), d,
                                    mine.low32.get(), mine.high32.get(), &poison);
      mine.poison += static_cast<double>(poison);
      return;
    }
    for (std::int64_t row = batch * kRowsPerTask; row < std::min(n, (batch + 1) * kRowsPerTask); ++row) {
      rows.fetch(row, mine.fetched);
      rows.kernel().describe(mine.fetched.values.get(), d, mine.low.get(), mine.high.get(),
                             &mine.poison);
    }
  });

  Description result;
  result.low.assign(static_cast<std::size_t>(d), std::numeric_limits<double>::infinity());
  result.high.assign(static_cast<std::size_t>(d), -std::numeric_limits<double>::infinity());
  bool finite = true;
  for (const ThreadRanges& mine : by_thread) {
    finite = finite && std::isfinite(mine.poison);
    for (std::size_t j = 0; j < result.low.size(); ++j) {
      const auto i = static_cast<std::int64_t>(j);
      result.low[j] = std::min({result.low[j], mine.low[i], static_cast<double>(mine.low32[i])});
      result.high[j] = std::max({result.high[j], mine.high[i], static_cast<double>(mine.high32[i])});
    }
  }
  if (!finite) result.bad_row = first_bad_row(rows, by_thread[0].fetched);
  return result;
}

// Number of stored values of a row.
namespace {
std::int64_t n_values(const DenseRows& rows, const DenseRows::Row&) { return rows.n_features(); }
std::int64_t n_values(const SparseRows&, const SparseRows::Row& x) { return x.count; }

// Adds the squares one after the other. Zeros change nothing.
double square_by_columns(const double* x, std::int64_t n) {
  double sum = 0.0;
  for (std::int64_t j = 0; j < n; ++j) sum += x[j] * x[j];
  return sum;
}
}  // namespace

template <class Rows>
void row_norms(const Rows& rows, NormOrder order, double* norms, ThreadPool& pool) {
  const std::int64_t n = rows.n_rows();
  auto fetched = row_for_each_thread(rows, pool);
  pool.for_each((n + kRowsPerTask - 1) / kRowsPerTask, [&](std::int64_t batch, int thread) {
    typename Rows::Row& row_of = fetched[static_cast<std::size_t>(thread)];
    for (std::int64_t row = batch * kRowsPerTask; row < std::min(n, (batch + 1) * kRowsPerTask); ++row) {
      rows.fetch(row, row_of);
      double* x = row_of.values.get();
      const std::int64_t d = n_values(rows, row_of);
      double largest = 0.0;
      for (std::int64_t j = 0; j < d; ++j) largest = std::max(largest, std::abs(x[j]));
      if (largest > 0.0 && std::isfinite(largest)) {
        // Scaling by a power of two does not change the rounding.
        const int exponent = std::ilogb(largest);
        for (std::int64_t j = 0; j < d; ++j) x[j] = std::scalbn(x[j], -exponent);
        const double square =
            order == NormOrder::by_columns ? square_by_columns(x, d) : rows.kernel().dot(x, x, d);
        norms[row] = std::scalbn(std::sqrt(square), exponent);
      } else {
        norms[row] = largest;
      }
    }
  });
}

template void row_norms(const DenseRows&, NormOrder, double*, ThreadPool&);
template void row_norms(const SparseRows&, NormOrder, double*, ThreadPool&);

}  // namespace boostkmeans
