// Part of kernel.cpp: flat rows, one after the other, each padded with zeros to whole vectors.
#pragma once

#include "kernel/vectors.hpp"

namespace boostkmeans {
namespace {

float flat_shift(float* x, const float* shift, int64_t n) {
  Floats total{};
  for (int64_t j = 0; j < n; j += kLanes) {
    const Floats moved = load<Floats>(x + j) - load<Floats>(shift + j);
    store(x + j, moved);
    total += moved * moved;
  }
  return sum_lanes(total);
}

// Adds some rows in float32 before it adds them to the float64 sums. This is precise enough for a mean.
void flat_sum(const float* rows, int64_t step, int64_t count, const float* weights, int64_t n,
              double* sums) {
  constexpr int64_t kTogether = 16;
  for (int64_t begin = 0; begin < count; begin += kTogether) {
    const int64_t end = begin + kTogether < count ? begin + kTogether : count;
    for (int64_t j = 0; j < n; j += kLanes) {
      Floats sum{};
      for (int64_t r = begin; r < end; ++r) {
        const Floats x = load<Floats>(rows + r * step + j);
        sum += weights == nullptr ? x : x * weights[r];
      }
      alignas(BK_VECTOR) float parts[kLanes];
      store(parts, sum);
      for (int64_t l = 0; l < kLanes; l += kWideLanes)
        store(sums + j + l, load<Doubles>(sums + j + l) +
                                __builtin_convertvector(load<HalfFloats>(parts + l), Doubles));
    }
  }
}

// Computes several dot products at a time, so that their sums do not wait for each other.
template <int count>
inline void dots_of(const float* rows, int64_t step, const float* vector, int64_t n, float* out) {
  Floats sums[count]{};
  for (int64_t j = 0; j < n; j += kLanes) {
    const Floats v = load<Floats>(vector + j);
#pragma GCC unroll 8
    for (int r = 0; r < count; ++r) sums[r] += load<Floats>(rows + r * step + j) * v;
  }
#pragma GCC unroll 8
  for (int r = 0; r < count; ++r) out[r] = sum_lanes(sums[r]);
}

void flat_dots(const float* rows, int64_t step, int64_t count, const float* vector, int64_t n,
               float* out) {
  int64_t r = 0;
  for (; r + 8 <= count; r += 8) dots_of<8>(rows + r * step, step, vector, n, out + r);
  for (; r < count; ++r) dots_of<1>(rows + r * step, step, vector, n, out + r);
}

float flat_centre(const double* composite, double inverse, int64_t n_features, float* out) {
  Doubles total{};
  int64_t j = 0;
  for (; j + kWideLanes <= n_features; j += kWideLanes) {
    const HalfFloats centre =
        __builtin_convertvector(load<Doubles>(composite + j) * inverse, HalfFloats);
    const Doubles rounded = __builtin_convertvector(centre, Doubles);
    store(out + j, -2.0f * centre);
    total += rounded * rounded;
  }
  double sum = sum_lanes(total);
  for (; j < n_features; ++j) {
    const float centre = static_cast<float>(composite[j] * inverse);
    out[j] = -2.0f * centre;
    sum += static_cast<double>(centre) * static_cast<double>(centre);
  }
  return static_cast<float>(sum);
}

double flat_dot(const float* x, const double* composite, int64_t n) {
  Doubles a{}, b{};
  for (int64_t j = 0; j < n; j += kLanes) {
    a += __builtin_convertvector(load<HalfFloats>(x + j), Doubles) * load<Doubles>(composite + j);
    b += __builtin_convertvector(load<HalfFloats>(x + j + kWideLanes), Doubles) *
         load<Doubles>(composite + j + kWideLanes);
  }
  return sum_lanes(a + b);
}

void flat_add(double* composite, float* copy, const float* x, double weight, int64_t n) {
  for (int64_t j = 0; j < n; j += kWideLanes) {
    const Doubles sum = load<Doubles>(composite + j) +
                        weight * __builtin_convertvector(load<HalfFloats>(x + j), Doubles);
    store(composite + j, sum);
    store(copy + j, __builtin_convertvector(sum, HalfFloats));
  }
}

}  // namespace
}  // namespace boostkmeans
