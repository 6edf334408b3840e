// Part of kernel.cpp: scores in low precision, for instruction sets that multiply bytes.
#pragma once

#include "kernel/vectors.hpp"

// The functions of these headers are always inlined, so the linker cannot share them.
#if defined(BK_VNNI)
#include <immintrin.h>
#elif defined(BK_DOTPROD)
#include <arm_neon.h>
#endif

namespace boostkmeans {
namespace {

#if defined(BK_VNNI) || defined(BK_DOTPROD)

constexpr bool kMultipliesBytes = true;

#ifdef BK_VNNI

// VPDPBUSD multiplies unsigned by signed bytes.
inline Ints first_sum(const PanelView&, int64_t) { return Ints{}; }

// Adds the products of `count` quads of kRows rows, kQuadStride apart, and of a panel.
inline void add_byte_products(const int32_t* a, const int32_t* panel, int64_t count,
                              Ints (&acc)[kRows][kVectors]) {
  for (int64_t j = 0; j < count; ++j, ++a, panel += kWidth) {
    __m512i b[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) b[v] = _mm512_loadu_si512(panel + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const __m512i x = _mm512_set1_epi32(a[r * kQuadStride]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        acc[r][v] =
            reinterpret_cast<Ints>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(acc[r][v]), x, b[v]));
    }
  }
}

#else

// SDOT multiplies signed bytes. The bytes of the rows are unsigned: 128 is subtracted from them, and the
// sums begin with 128 times the sum of the bytes of a centre, which is exact.
inline Ints first_sum(const PanelView& panels, int64_t column) {
  return load<Ints>(panels.byte_sums + column);
}

inline int8x16_t minus_128(Ints bytes) {
  return reinterpret_cast<int8x16_t>(bytes ^ static_cast<int32_t>(0x80808080u));
}

// One quad of each row is a lane of a vector, by which SDOT can multiply.
template <int lane>
inline void add_quad(const int8x16_t (&x)[kRows], const int32_t* panel, Ints (&acc)[kRows][kVectors]) {
  int8x16_t b[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) b[v] = load<int8x16_t>(panel + v * kLanes);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      acc[r][v] = reinterpret_cast<Ints>(
          vdotq_laneq_s32(reinterpret_cast<int32x4_t>(acc[r][v]), b[v], x[r], lane));
}

inline void add_byte_products(const int32_t* a, const int32_t* panel, int64_t count,
                              Ints (&acc)[kRows][kVectors]) {
  int64_t j = 0;
  for (; j + kLanes <= count; j += kLanes, panel += kLanes * kWidth) {
    int8x16_t x[kRows];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) x[r] = minus_128(load<Ints>(a + j + r * kQuadStride));
    add_quad<0>(x, panel, acc);
    add_quad<1>(x, panel + kWidth, acc);
    add_quad<2>(x, panel + 2 * kWidth, acc);
    add_quad<3>(x, panel + 3 * kWidth, acc);
  }
  for (; j < count; ++j, panel += kWidth) {
    int8x16_t x[kRows];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) x[r] = minus_128(splat(a[j + r * kQuadStride]));
    add_quad<0>(x, panel, acc);
  }
}

#endif

// Computes the same as `distances`, from the bytes of the tile and of the panel that starts with column
// `first`.
[[gnu::noinline]] void byte_distances(const TileView& tile, int64_t row, const PanelView& panels,
                                      int64_t first, float (&out)[kRows][kWidth]) {
  const int32_t* panel = panels.quads + first * ((tile.n_features + 3) / 4);
  Ints acc[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) acc[r][v] = first_sum(panels, first + v * kLanes);
  for (int64_t begin = 0; begin < tile.n_features; begin += kChunkColumns) {
    const int32_t* a = tile.quads + begin / kChunkColumns * kQuadChunkSize + row * kQuadStride;
    const int64_t left = tile.n_features - begin;
    const int64_t count = ((left < kChunkColumns ? left : kChunkColumns) + 3) / 4;
    add_byte_products(a, panel, count, acc);
    panel += count * kWidth;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const int64_t at = first + v * kLanes;
      const Floats product = __builtin_convertvector(acc[r][v], Floats);
      store(out[r] + v * kLanes, load<Floats>(panels.norms + at) + tile.norms[row + r] +
                                     load<Floats>(panels.byte_scales + at) *
                                         (product - load<Floats>(panels.byte_offsets + at)));
    }
}

#else

constexpr bool kMultipliesBytes = false;
inline void byte_distances(const TileView&, int64_t, const PanelView&, int64_t,
                           float (&)[kRows][kWidth]) {}

#endif

}  // namespace
}  // namespace boostkmeans
