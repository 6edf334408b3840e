// Checksum of the values of all rows, which identifies a data set.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.hpp"

namespace boostkmeans {

// Returns the sum of a checksum per row, modulo 2^64. A row's checksum depends on its values in float64
// and on its number, which is counted from `first_row`. The sums of blocks of rows can therefore be
// added in any order. A change of a single value always changes the sum.
template <class Rows>
std::uint64_t row_checksum(const Rows& rows, std::int64_t first_row, ThreadPool& pool);

}  // namespace boostkmeans
