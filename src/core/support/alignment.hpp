// Alignment of memory.
#pragma once

#include <cstddef>

namespace boostkmeans {

// In bytes: a cache line, and the longest vector of any supported instruction set.
constexpr std::size_t kAlignment = 64;

}  // namespace boostkmeans
