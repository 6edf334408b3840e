// Part of kernel.cpp: sums of the table entries that codes select, for instruction sets with byte
// lookup.
#pragma once

#include "kernel/vectors.hpp"

#ifdef BK_VBMI
#include <immintrin.h>  // its functions are always inlined, so the linker cannot share them
#endif

namespace boostkmeans {
namespace {

#ifdef BK_VBMI

void sift_codes(const std::uint8_t* tables, int64_t n_subspaces, const std::uint8_t* columns,
                int64_t step, int64_t count, std::uint8_t limit, std::uint64_t* masks) {
  constexpr int kTogether = 8;  // number of vectors of codes per load of a table
  const __m512i most = _mm512_set1_epi8(static_cast<char>(limit));
  for (int64_t begin = 0; begin < count; begin += kTogether * 64) {
    const int64_t left = (count - begin) / 64;
    const int n = static_cast<int>(left < kTogether ? left : kTogether);
    __m512i sums[kTogether] = {};
    for (int64_t j = 0; j < n_subspaces; ++j) {
      const std::uint8_t* table = tables + j * kByteCentroids;
      const __m512i a = _mm512_loadu_si512(table), b = _mm512_loadu_si512(table + 64),
                    c = _mm512_loadu_si512(table + 128), d = _mm512_loadu_si512(table + 192);
      const std::uint8_t* at = columns + j * step + begin;
      const auto look_up = [&](int v) {
        const __m512i code = _mm512_loadu_si512(at + v * 64);
        const __m512i low = _mm512_permutex2var_epi8(a, code, b);
        const __m512i high = _mm512_permutex2var_epi8(c, code, d);
        const __m512i found = _mm512_mask_blend_epi8(_mm512_movepi8_mask(code), low, high);
        sums[v] = _mm512_adds_epu8(sums[v], found);
      };
      if (n == kTogether) {
#pragma GCC unroll 8
        for (int v = 0; v < kTogether; ++v) look_up(v);
      } else {
        for (int v = 0; v < n; ++v) look_up(v);
      }
    }
    for (int v = 0; v < n; ++v) masks[begin / 64 + v] = _mm512_cmple_epu8_mask(sums[v], most);
  }
}

constexpr auto kSiftCodes = &sift_codes;

#else

constexpr decltype(Kernel::sift_codes) kSiftCodes = nullptr;

#endif

}  // namespace
}  // namespace boostkmeans
