#include "describe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "buffer.hpp"

namespace boostkmeans {

namespace {

constexpr std::int64_t kBatchRows = 1024;

// What one thread has seen.
struct Part {
  explicit Part(std::int64_t n_features) : low(n_features), high(n_features), fetched(n_features) {
    std::fill_n(low.get(), n_features, std::numeric_limits<double>::infinity());
    std::fill_n(high.get(), n_features, -std::numeric_limits<double>::infinity());
  }
  Buffer<double> low, high, fetched;
  double poison = 0.0;
};

bool is_finite(const double* x, std::int64_t n) {
  return std::all_of(x, x + n, [](double value) { return std::isfinite(value); });
}

std::int64_t first_bad_row(const DenseRows& rows, double* x) {
  for (std::int64_t row = 0; row < rows.n_rows(); ++row) {
    rows.fetch(row, x);
    if (!is_finite(x, rows.n_features())) return row;
  }
  return -1;
}

}  // namespace

Description describe(const DenseRows& rows, Team& team) {
  const std::int64_t n = rows.n_rows(), d = rows.n_features();
  std::vector<Part> parts;
  for (int t = 0; t < team.size(); ++t) parts.emplace_back(d);
  team.for_each((n + kBatchRows - 1) / kBatchRows, [&](std::int64_t batch, int thread) {
    Part& part = parts[static_cast<std::size_t>(thread)];
    for (std::int64_t row = batch * kBatchRows; row < std::min(n, (batch + 1) * kBatchRows); ++row) {
      rows.fetch(row, part.fetched.get());
      rows.kernel().describe(part.fetched.get(), d, part.low.get(), part.high.get(), &part.poison);
    }
  });

  Description result;
  result.low.assign(static_cast<std::size_t>(d), std::numeric_limits<double>::infinity());
  result.high.assign(static_cast<std::size_t>(d), -std::numeric_limits<double>::infinity());
  bool finite = true;
  for (const Part& part : parts) {
    finite = finite && std::isfinite(part.poison);
    for (std::size_t j = 0; j < result.low.size(); ++j) {
      result.low[j] = std::min(result.low[j], part.low[static_cast<std::int64_t>(j)]);
      result.high[j] = std::max(result.high[j], part.high[static_cast<std::int64_t>(j)]);
    }
  }
  if (!finite) result.bad_row = first_bad_row(rows, parts[0].fetched.get());
  return result;
}

void row_norms(const DenseRows& rows, double* norms, Team& team) {
  const std::int64_t n = rows.n_rows(), d = rows.n_features();
  Buffer<double> fetched(team.size() * d);
  team.for_each((n + kBatchRows - 1) / kBatchRows, [&](std::int64_t batch, int thread) {
    double* x = fetched.get() + thread * d;
    for (std::int64_t row = batch * kBatchRows; row < std::min(n, (batch + 1) * kBatchRows); ++row) {
      rows.fetch(row, x);
      double largest = 0.0;
      for (std::int64_t j = 0; j < d; ++j) largest = std::max(largest, std::abs(x[j]));
      if (largest > 0.0 && std::isfinite(largest)) {
        // A power of two, so that rows which need no care are not rounded differently.
        const int exponent = std::ilogb(largest);
        for (std::int64_t j = 0; j < d; ++j) x[j] = std::scalbn(x[j], -exponent);
        norms[row] = std::scalbn(std::sqrt(rows.kernel().dot(x, x, d)), exponent);
      } else {
        norms[row] = largest;
      }
    }
  });
}

}  // namespace boostkmeans
