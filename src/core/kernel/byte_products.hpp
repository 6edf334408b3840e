// Part of kernel.cpp: scores in low precision, for instruction sets that multiply bytes.
#pragma once

#include "kernel/vectors.hpp"

#ifdef BK_VNNI
#include <immintrin.h>  // its functions are always inlined, so the linker cannot share them
#endif

namespace boostkmeans {
namespace {

#ifdef BK_VNNI

constexpr bool kMultipliesBytes = true;

// Computes the same as `distances`, from the bytes of the tile and of the panel that starts with column
// `first`.
[[gnu::noinline]] void byte_distances(const TileView& tile, int64_t row, const PanelView& panels,
                                      int64_t first, float (&out)[kRows][kWidth]) {
  const int32_t* panel = panels.quads + first * ((tile.n_features + 3) / 4);
  __m512i acc[kRows][kVectors] = {};
  for (int64_t begin = 0; begin < tile.n_features; begin += kChunkColumns) {
    const int32_t* a = tile.quads + begin / kChunkColumns * kQuadChunkSize + row * kQuadStride;
    const int64_t left = tile.n_features - begin;
    const int64_t count = ((left < kChunkColumns ? left : kChunkColumns) + 3) / 4;
    for (int64_t j = 0; j < count; ++j, ++a, panel += kWidth) {
      __m512i b[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) b[v] = _mm512_loadu_si512(panel + v * kLanes);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const __m512i x = _mm512_set1_epi32(a[r * kQuadStride]);
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) acc[r][v] = _mm512_dpbusd_epi32(acc[r][v], x, b[v]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const int64_t at = first + v * kLanes;
      const Floats product = __builtin_convertvector(reinterpret_cast<Ints>(acc[r][v]), Floats);
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
