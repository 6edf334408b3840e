// Part of kernel.cpp: dot products of sparse rows.
#pragma once

#include "kernel/vectors.hpp"

namespace boostkmeans {
namespace {

// Number of vectors of sums that fit into registers.
constexpr int kSparseVectors = BK_VECTOR == 64 ? 16 : 8;

template <int V>
inline void add_term_rows(const float* const* term_rows, const float* values, int64_t count,
                          int64_t begin, float* out) {
  Floats sums[V] = {};
  for (int64_t t = 0; t < count; ++t) {
    const float* term_row = term_rows[t] + begin;
    // Without this, the compiler keeps one address per vector and runs out of registers.
    __asm__("" : "+r"(term_row));
    const Floats x = splat(values[t]);
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v) sums[v] += x * load<Floats>(term_row + v * kLanes);
  }
#pragma GCC unroll 16
  for (int v = 0; v < V; ++v) store(out + begin + v * kLanes, sums[v]);
}

void sparse_dots(const float* const* term_rows, const float* values, int64_t count, int64_t n,
                 float* out) {
  int64_t c = 0;
  for (; c + kSparseVectors * kLanes <= n; c += kSparseVectors * kLanes)
    add_term_rows<kSparseVectors>(term_rows, values, count, c, out);
  for (; c + 4 * kLanes <= n; c += 4 * kLanes) add_term_rows<4>(term_rows, values, count, c, out);
  for (; c + 2 * kLanes <= n; c += 2 * kLanes) add_term_rows<2>(term_rows, values, count, c, out);
  for (; c < n; c += kLanes) add_term_rows<1>(term_rows, values, count, c, out);
}

}  // namespace
}  // namespace boostkmeans
