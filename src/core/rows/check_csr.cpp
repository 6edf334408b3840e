#include "rows/check_csr.hpp"

#include <algorithm>
#include <atomic>

namespace boostkmeans {

namespace {

// Number of rows per task.
constexpr std::int64_t kBatch = 4096;

// Returns true if body(begin, end), which checks rows [begin, end), returns true for all tasks.
template <class Body>
bool all_valid(std::int64_t n_rows, ThreadPool& pool, Body body) {
  std::atomic<bool> valid{true};
  pool.for_each((n_rows + kBatch - 1) / kBatch, [&](std::int64_t batch, int) {
    if (!body(batch * kBatch, std::min(n_rows, (batch + 1) * kBatch)))
      valid.store(false, std::memory_order_relaxed);
  });
  return valid;
}

}  // namespace

CsrFault find_csr_fault(const CsrSource& source, std::int64_t n_rows, std::int64_t n_features,
                        std::int64_t n_values, ThreadPool& pool) {
  const bool starts =
      source.start(0) == 0 && all_valid(n_rows, pool, [&](std::int64_t begin, std::int64_t end) {
        bool valid = true;
        for (std::int64_t row = begin; row < end; ++row)
          valid &= source.start(row) <= source.start(row + 1) && source.start(row + 1) <= n_values;
        return valid;
      });
  if (!starts) return CsrFault::starts;
  bool columns_are_valid = true;
  source.as_typed([&](const auto*, const auto* columns) {
    columns_are_valid = all_valid(n_rows, pool, [&](std::int64_t begin, std::int64_t end) {
      bool valid = true;
      for (std::int64_t row = begin; row < end; ++row) {
        std::int64_t last = -1;
        for (std::int64_t t = source.start(row); t < source.start(row + 1); ++t) {
          valid &= columns[t] > last && columns[t] < n_features;
          last = columns[t];
        }
      }
      return valid;
    });
  });
  return columns_are_valid ? CsrFault::none : CsrFault::columns;
}

}  // namespace boostkmeans
