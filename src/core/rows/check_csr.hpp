// Checks of the indices of a CSR matrix.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.hpp"
#include "rows/csr_source.hpp"

namespace boostkmeans {

enum class CsrFault : std::uint8_t { none, starts, columns };

// Checks in parallel that starts begin with 0, ascend and do not exceed n_values, and that the
// columns of each row ascend strictly and lie in [0, n_features). Returns the first kind of index
// that is invalid.
CsrFault find_csr_fault(const CsrSource& source, std::int64_t n_rows, std::int64_t n_features,
                        std::int64_t n_values, ThreadPool& pool);

}  // namespace boostkmeans
