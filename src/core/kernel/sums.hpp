// Part of kernel.cpp: float64 arithmetic for decisions and composites.
#pragma once

#include "kernel/vectors.hpp"

namespace boostkmeans {
namespace {

// Sums term(j) over whole vectors with four accumulators, then last(j) over the remaining columns.
template <class Term, class Last>
inline double sum_terms(int64_t n, Term term, Last last) {
  Doubles a{}, b{}, c{}, d{};
  int64_t j = 0;
  for (; j + 4 * kWideLanes <= n; j += 4 * kWideLanes) {
    a += term(j);
    b += term(j + kWideLanes);
    c += term(j + 2 * kWideLanes);
    d += term(j + 3 * kWideLanes);
  }
  for (; j + kWideLanes <= n; j += kWideLanes) a += term(j);
  double sum = sum_lanes((a + b) + (c + d));
  for (; j < n; ++j) sum += last(j);
  return sum;
}

double distance(const double* x, const double* composite, double inverse, int64_t n) {
  return sum_terms(
      n,
      [=](int64_t j) {
        const Doubles difference = load<Doubles>(x + j) - load<Doubles>(composite + j) * inverse;
        return difference * difference;
      },
      [=](int64_t j) {
        const double difference = x[j] - composite[j] * inverse;
        return difference * difference;
      });
}

double tile_distance(const float* tile_row, const double* composite, double inverse, int64_t n) {
  double sum = 0.0;
  for (int64_t begin = 0; begin < n; begin += kChunkColumns) {
    const float* x = tile_row + begin / kChunkColumns * kChunkSize;
    const double* c = composite + begin;
    sum += sum_terms(
        n - begin < kChunkColumns ? n - begin : kChunkColumns,
        [=](int64_t j) {
          const Doubles difference =
              __builtin_convertvector(load<HalfFloats>(x + j), Doubles) - load<Doubles>(c + j) * inverse;
          return difference * difference;
        },
        [=](int64_t j) {
          const double difference = static_cast<double>(x[j]) - c[j] * inverse;
          return difference * difference;
        });
  }
  return sum;
}

double dot(const double* x, const double* y, int64_t n) {
  return sum_terms(
      n, [=](int64_t j) { return load<Doubles>(x + j) * load<Doubles>(y + j); },
      [=](int64_t j) { return x[j] * y[j]; });
}

void add(double* __restrict composite, const double* __restrict x, double weight, int64_t n) {
  for (int64_t j = 0; j < n; ++j) composite[j] += weight * x[j];
}

// Handles all rows of one vector of columns, then the next vector.
void describe_floats(const char* rows, int64_t row_stride, int64_t count, int64_t n, float* low,
                     float* high, float* poison) {
  Floats trouble{};
  for (int64_t j = 0; j < n; j += kLanes) {
    Floats least = load<Floats>(low + j), most = load<Floats>(high + j);
    const char* at = rows + j * static_cast<int64_t>(sizeof(float));
    for (int64_t r = 0; r < count; ++r, at += row_stride) {
      const Floats x = load<Floats>(at);
      trouble += x * 0.0f;
      least = smaller(x, least);
      most = larger(x, most);
    }
    store(low + j, least);
    store(high + j, most);
  }
  *poison += sum_lanes(trouble);
}

void describe(const double* __restrict x, int64_t n, double* __restrict low, double* __restrict high,
              double* __restrict poison) {
  Doubles trouble{};
  int64_t j = 0;
  for (; j + kWideLanes <= n; j += kWideLanes) trouble += load<Doubles>(x + j) * 0.0;
  double last = sum_lanes(trouble);
  for (; j < n; ++j) last += x[j] * 0.0;
  *poison += last;
  for (j = 0; j < n; ++j) {
    low[j] = x[j] < low[j] ? x[j] : low[j];
    high[j] = x[j] > high[j] ? x[j] : high[j];
  }
}

}  // namespace
}  // namespace boostkmeans
