// Part of kernel.cpp: vector types of BK_VECTOR bytes, and the size of the register block.
#pragma once

#include <cstddef>
#include <utility>  // std::index_sequence, which is a type and contains no code

#include "kernel/kernel.hpp"

namespace boostkmeans {
namespace {

using std::int32_t;
using std::int64_t;

constexpr int kLanes = BK_VECTOR / 4;
constexpr int kWideLanes = BK_VECTOR / 8;
constexpr int kRows = BK_ROWS;
constexpr int kVectors = BK_VECTORS;
constexpr int kWidth = kLanes * kVectors;
static_assert(kBatchRows % kRows == 0 && kChunkColumns % kLanes == 0);

typedef float Floats __attribute__((vector_size(BK_VECTOR)));
typedef int32_t Ints __attribute__((vector_size(BK_VECTOR)));
typedef double Doubles __attribute__((vector_size(BK_VECTOR)));
typedef float HalfFloats __attribute__((vector_size(BK_VECTOR / 2)));  // as many values as Doubles

constexpr float kInfinity = __builtin_inff();

template <class Vector, class T>
inline Vector load(const T* from) {
  Vector v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

template <class Vector, class T>
inline void store(T* to, const Vector& v) {
  __builtin_memcpy(to, &v, sizeof v);
}

// x - 0 equals x even for x = -0, unlike x + 0, so the compiler can remove the subtraction.
inline Floats splat(float x) { return x - Floats{}; }
inline Ints splat(int32_t x) { return x - Ints{}; }
inline Floats smaller(Floats a, Floats b) { return a < b ? a : b; }
inline Floats larger(Floats a, Floats b) { return a > b ? a : b; }

template <int step, class Vector, std::size_t... I>
inline Vector rotate_as(const Vector& v, std::index_sequence<I...>) {
  return __builtin_shufflevector(v, v, ((I + step) % sizeof...(I))...);
}

// Lane i gets the value of lane i + step.
template <int step, class Vector>
inline Vector rotate(const Vector& v) {
  return rotate_as<step>(v, std::make_index_sequence<sizeof(Vector) / sizeof(v[0])>());
}

// Calls fold(step) for step = lanes / 2, ..., 2, 1, each as a compile-time constant.
template <int step, class Fold>
inline void halve(Fold fold) {
  if constexpr (step > 0) {
    fold(std::integral_constant<int, step>());
    halve<step / 2>(fold);
  }
}

template <class Vector>
inline auto sum_lanes(Vector v) {
  halve<sizeof(Vector) / sizeof(v[0]) / 2>([&](auto step) { v += rotate<step.value>(v); });
  return v[0];
}

}  // namespace
}  // namespace boostkmeans
