#include "describe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "buffer.hpp"

namespace boostkmeans {

namespace {

// Few enough that their results are small, enough to share out evenly.
constexpr std::int64_t kParts = 64;

struct Part {
  explicit Part(std::int64_t n_features)
      : low(static_cast<std::size_t>(n_features), std::numeric_limits<double>::infinity()),
        high(static_cast<std::size_t>(n_features), -std::numeric_limits<double>::infinity()) {}
  std::vector<double> low, high;
  double poison = 0.0;
};

bool is_finite(const double* x, std::int64_t n) {
  return std::all_of(x, x + n, [](double value) { return std::isfinite(value); });
}

std::int64_t first_bad_row(const DenseRows& rows, std::int64_t begin, std::int64_t end, double* x) {
  for (std::int64_t row = begin; row < end; ++row) {
    rows.fetch(row, x);
    if (!is_finite(x, rows.n_features())) return row;
  }
  return -1;
}

}  // namespace

Description describe(const DenseRows& rows, Team& team) {
  const std::int64_t n = rows.n_rows(), d = rows.n_features();
  const std::int64_t per_part = (n + kParts - 1) / kParts;
  std::vector<Part> parts(static_cast<std::size_t>(kParts), Part(d));
  Buffer<double> fetched(team.size() * d);
  team.for_each(kParts, [&](std::int64_t p, int thread) {
    Part part(d);  // its own memory: neighbours in `parts` would share cache lines
    double* x = fetched.get() + thread * d;
    constexpr std::int64_t kRowsBetweenLooks = 4096;
    for (std::int64_t row = p * per_part; row < std::min(n, (p + 1) * per_part); ++row) {
      if (row % kRowsBetweenLooks == 0 &&
          (thread == 0 ? team.watch().check() : team.watch().stopped()))
        return;
      rows.fetch(row, x);
      rows.kernel().describe(x, d, part.low.data(), part.high.data(), &part.poison);
    }
    parts[static_cast<std::size_t>(p)] = std::move(part);
  });

  Part whole(d);
  Description result;
  for (std::int64_t p = 0; p < kParts; ++p) {
    const Part& part = parts[static_cast<std::size_t>(p)];
    if (!std::isfinite(part.poison) && result.bad_row < 0)
      result.bad_row =
          first_bad_row(rows, p * per_part, std::min(n, (p + 1) * per_part), fetched.get());
    for (std::size_t j = 0; j < whole.low.size(); ++j) {
      whole.low[j] = std::min(whole.low[j], part.low[j]);
      whole.high[j] = std::max(whole.high[j], part.high[j]);
    }
  }
  result.low = std::move(whole.low);
  result.high = std::move(whole.high);
  return result;
}

void row_norms(const DenseRows& rows, double* norms, Team& team) {
  const std::int64_t n = rows.n_rows(), d = rows.n_features();
  constexpr std::int64_t kBatch = 1024;
  Buffer<double> fetched(team.size() * d);
  team.for_each((n + kBatch - 1) / kBatch, [&](std::int64_t batch, int thread) {
    double* x = fetched.get() + thread * d;
    for (std::int64_t row = batch * kBatch; row < std::min(n, (batch + 1) * kBatch); ++row) {
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
