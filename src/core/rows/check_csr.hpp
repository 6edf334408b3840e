// Checks of the indices of a CSR matrix.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.hpp"
#include "rows/csr_source.hpp"

namespace boostkmeans {

enum class CsrFault : int { none, starts, columns };

// Which indices could lead to memory outside of the matrix or break the order of columns, in parallel:
// starts must begin with 0, ascend and not exceed n_values; the columns of each row must ascend strictly
// and lie in [0, n_features).
CsrFault find_csr_fault(const CsrSource& source, std::int64_t n_rows, std::int64_t n_features,
                        std::int64_t n_values, Team& team);

}  // namespace boostkmeans
