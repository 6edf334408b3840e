// Part of kernel.cpp: distances of pairs of rows in float64.
#pragma once

#include "kernel/vectors.hpp"

namespace boostkmeans {
namespace {

// The register block: eight independent sums hide the latency of the arithmetic.
constexpr int kPairVectors = 2;
constexpr int kPairWidth = kPairVectors * kWideLanes;

// Sums squared differences, which are accurate for rows that are near each other. |x|^2 - 2 x.y + |y|^2
// would not be.
void pair_squares(const double* rows, int64_t n_rows, const double* panels, int64_t n_panels,
                  int64_t n_features, double* out, int64_t stride) {
  for (int64_t p = 0; p < n_panels; ++p) {
    for (int64_t row = 0; row < n_rows; row += kPairRows) {
      const double* x = rows + row * n_features;
      const double* panel = panels + p * kPairWidth * n_features;
      Doubles acc[kPairRows][kPairVectors] = {};
      for (int64_t j = 0; j < n_features; ++j, ++x, panel += kPairWidth) {
#pragma GCC unroll 4
        for (int r = 0; r < kPairRows; ++r)
#pragma GCC unroll 2
          for (int v = 0; v < kPairVectors; ++v) {
            const Doubles difference = load<Doubles>(panel + v * kWideLanes) - x[r * n_features];
            acc[r][v] += difference * difference;
          }
      }
      for (int r = 0; r < kPairRows; ++r)
        for (int v = 0; v < kPairVectors; ++v)
          store(out + (row + r) * stride + p * kPairWidth + v * kWideLanes, acc[r][v]);
    }
  }
}

void take_roots(double* values, int64_t n) {
  for (int64_t i = 0; i < n; ++i) values[i] = __builtin_sqrt(values[i]);
}

}  // namespace
}  // namespace boostkmeans
