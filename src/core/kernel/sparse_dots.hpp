// Part of kernel.cpp: dot products of sparse rows.
#pragma once

#include "kernel/vectors.hpp"

namespace boostkmeans {
namespace {

// Columns of which the sums are kept in registers.
constexpr int kSparseVectors = BK_VECTOR == 64 ? 16 : 8;

template <int V>
inline void add_lines(const float* const* lines, const float* values, int64_t count, int64_t begin,
                      float* out) {
  Floats sums[V] = {};
  for (int64_t t = 0; t < count; ++t) {
    const float* line = lines[t] + begin;
    // Else the compiler keeps one address for each vector, and has no registers left for that.
    __asm__("" : "+r"(line));
    const Floats x = splat(values[t]);
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v) sums[v] += x * load<Floats>(line + v * kLanes);
  }
#pragma GCC unroll 16
  for (int v = 0; v < V; ++v) store(out + begin + v * kLanes, sums[v]);
}

void sparse_dots(const float* const* lines, const float* values, int64_t count, int64_t n, float* out) {
  int64_t c = 0;
  for (; c + kSparseVectors * kLanes <= n; c += kSparseVectors * kLanes)
    add_lines<kSparseVectors>(lines, values, count, c, out);
  for (; c + 4 * kLanes <= n; c += 4 * kLanes) add_lines<4>(lines, values, count, c, out);
  for (; c + 2 * kLanes <= n; c += 2 * kLanes) add_lines<2>(lines, values, count, c, out);
  for (; c < n; c += kLanes) add_lines<1>(lines, values, count, c, out);
}

}  // namespace
}  // namespace boostkmeans
