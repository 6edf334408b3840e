// Part of kernel.cpp: packs rows as columns.
#pragma once

#include "kernel/vectors.hpp"

namespace boostkmeans {
namespace {

// Exchanges the upper `half` of each group of 2 * half lanes of `a` with the lower half of the group of
// `b`.
template <int half, std::size_t... I>
inline void exchange_as(Floats& a, Floats& b, std::index_sequence<I...>) {
  const Floats low = __builtin_shufflevector(a, b, ((I & half) ? kLanes + I - half : I)...);
  b = __builtin_shufflevector(a, b, ((I & half) ? kLanes + I : I + half)...);
  a = low;
}

// Transposes a square of kLanes vectors: lane i of vector j becomes lane j of vector i.
inline void transpose(Floats (&square)[kLanes]) {
  halve<kLanes / 2>([&](auto half) {
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i)
      if (!(i & half.value))
        exchange_as<half.value>(square[i], square[i + half.value], std::make_index_sequence<kLanes>());
  });
}

// Packs kLanes columns. Feature j is stored at to + j * kWidth.
void pack_lanes(const float* const (&from)[kLanes], int64_t n_features, float* to) {
  for (int64_t j = 0; j < n_features; j += kLanes) {
    Floats square[kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) square[i] = load<Floats>(from[i] + j);
    transpose(square);
    const int64_t left = n_features - j;
    if (left >= kLanes) {
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) store(to + (j + i) * kWidth, square[i]);
    } else {
      for (int i = 0; i < left; ++i) store(to + (j + i) * kWidth, square[i]);
    }
  }
}

void pack(const float* table, int64_t step, const int32_t* columns, int64_t count, int64_t n_features,
          float* panels) {
  for (int64_t first = 0; first < count; first += kLanes) {
    const int64_t panel = first / kWidth, vector = first % kWidth;
    const float* from[kLanes];
    // Padding repeats the last column. Its infinite norm keeps it from being chosen.
    for (int64_t i = 0; i < kLanes; ++i)
      from[i] = table + columns[first + i < count ? first + i : count - 1] * step;
    pack_lanes(from, n_features, panels + panel * kWidth * n_features + vector);
  }
}

}  // namespace
}  // namespace boostkmeans
