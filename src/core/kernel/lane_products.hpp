// Part of kernel.cpp: products of several columns at a time, for instruction sets that multiply by a
// lane.
#pragma once

#include "kernel/vectors.hpp"

#ifdef __aarch64__
#include <arm_neon.h>  // its functions are always inlined, so the linker cannot share them
#endif

namespace boostkmeans {
namespace {

#ifdef __aarch64__

constexpr bool kMultipliesLanes = true;

template <int lane, int V>
inline void add_lane(const float32x4_t (&x)[kRows], const float* panel, Floats (&acc)[kRows][V]) {
  float32x4_t b[V];
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) b[v] = vld1q_f32(panel + v * kLanes);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) acc[r][v] = vfmaq_laneq_f32(acc[r][v], b[v], x[r], lane);
}

// Adds the products of kLanes columns of kRows rows and of a panel, in the order of the columns. FMLA
// multiplies a vector by one lane of another. Four columns of a row are one vector, so that no
// instruction is needed to repeat a value in all lanes.
template <int V, int width>
inline void add_lanes(const float* a, const float* panel, Floats (&acc)[kRows][V]) {
  static_assert(kLanes == 4);
  float32x4_t x[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) x[r] = vld1q_f32(a + r * kTileStride);
  add_lane<0>(x, panel, acc);
  add_lane<1>(x, panel + width, acc);
  add_lane<2>(x, panel + 2 * width, acc);
  add_lane<3>(x, panel + 3 * width, acc);
}

#else

constexpr bool kMultipliesLanes = false;
template <int V, int width>
inline void add_lanes(const float*, const float*, Floats (&)[kRows][V]) {}

#endif

}  // namespace
}  // namespace boostkmeans
