// Part of kernel.cpp: loads rows of any scalar type, as float32 into a tile or as float64.
#pragma once

#include "kernel/vectors.hpp"

namespace boostkmeans {
namespace {

struct Half {
  std::uint16_t bits;
};

inline float to_float(float x) { return x; }
inline float to_float(double x) { return static_cast<float>(x); }
inline float to_float(std::uint8_t x) { return x; }
inline float to_float(std::int8_t x) { return x; }
// Moves the exponent to its position in float32 and corrects it by an exact multiplication, which also
// handles denormals. Only infinities and NaN need a separate exponent.
inline float to_float(Half h) {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(h.bits & 0x7fffu) << 13;
  const std::uint32_t special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u;
  float x;
  __builtin_memcpy(&x, &magnitude, 4);
  x *= 0x1p112f;
  std::uint32_t bits;
  __builtin_memcpy(&bits, &x, 4);
  bits |= special | static_cast<std::uint32_t>(h.bits & 0x8000u) << 16;
  __builtin_memcpy(&x, &bits, 4);
  return x;
}
inline double to_double(double x) { return x; }
template <class T>
inline double to_double(T x) {
  return to_float(x);
}

// Calls body(j, value) for columns [begin, end) of a row. There is one loop for all rows: a compiler may
// fuse multiplications and additions in one loop and not in another, which rounds differently.
template <class T, class Body>
inline void each_value(const StridedArray& source, int64_t row, int64_t begin, int64_t end, Body body) {
  const auto size = static_cast<int64_t>(sizeof(T));
  const char* at = source.data + row * source.row_stride + begin * size;
  const int64_t count = end - begin;
  T value{};
  for (int64_t j = 0; j < count; ++j) {
    __builtin_memcpy(&value, at + j * size, sizeof(T));
    body(begin + j, value);
  }
}

// Loads contiguous float32 rows of whole vectors. This common case is optimised, because loading
// takes most of the time if there is little to compute.
inline float load_vectors(const char* from, const float* shift, float scale, int64_t n,
                          int64_t chunk_step, float* out) {
  Floats total{};
  for (int64_t begin = 0; begin < n; begin += kChunkColumns, out += chunk_step) {
    const int64_t count = n - begin < kChunkColumns ? n - begin : kChunkColumns;
    for (int64_t j = 0; j < count; j += kLanes) {
      const Floats x = (load<Floats>(from + (begin + j) * static_cast<int64_t>(sizeof(float))) -
                        load<Floats>(shift + begin + j)) *
                       scale;
      store(out + j, x);
      total += x * x;
    }
  }
  return sum_lanes(total);
}

// Loads a row that is shorter than a vector. Reading back a vector that was just written value by value
// would stall, so the norm is computed value by value, too.
template <class T>
inline float load_short_row(const StridedArray& source, const Frame& frame, int64_t row, float* out) {
  const float scale = static_cast<float>(frame.scale[0]);
  const float* shift = frame.shift32;
  float total = 0.0f;
  store(out, Floats{});
  each_value<T>(source, row, 0, source.n_features, [&](int64_t j, T value) {
    const float x = (to_float(value) - shift[j]) * scale;
    out[j] = x;
    total += x * x;
  });
  return total;
}

// The first `count` lanes, fewer than a whole vector, starting at `from`. The other lanes are 0. The
// vector is built in registers, because a vector that was just written value by value cannot be read
// back without a stall.
inline Doubles load_part(const char* from, int64_t count) {
  Doubles part{};
  double value = 0.0;
#pragma GCC unroll 8
  for (int lane = 0; lane < kWideLanes; ++lane) {
    if (lane >= count) break;
    __builtin_memcpy(&value, from + lane * 8, 8);
    part[lane] = value;
  }
  return part;
}
// Lanes j, j + 1, ... of n float64 values, which need not be aligned; 0 beyond the end.
inline Doubles load_up_to(const char* from, int64_t j, int64_t n) {
  return n - j < kWideLanes ? load_part(from + j * 8, n - j) : load<Doubles>(from + j * 8);
}

template <std::size_t... I>
inline Floats join_as(const HalfFloats& low, const HalfFloats& high, std::index_sequence<I...>) {
  return __builtin_shufflevector(low, high, I...);
}
inline Floats join(const HalfFloats& low, const HalfFloats& high) {
  return join_as(low, high, std::make_index_sequence<kLanes>());
}

// Loads contiguous float64 rows, the usual type of NumPy arrays, like load_vectors. The rounding is that
// of load_narrow_row.
inline float load_doubles(const char* from, const Frame& frame, double factor, int64_t n,
                          int64_t chunk_step, float* out) {
  const double scale = frame.scale[0], rest = frame.scale[1];
  const auto* shift = reinterpret_cast<const char*>(frame.shift);
  const auto half = [=](int64_t j) __attribute__((always_inline)) {
    if (j >= n) return HalfFloats{};
    const Doubles x = load_up_to(from, j, n) * factor - load_up_to(shift, j, n);
    return __builtin_convertvector(x * scale * rest, HalfFloats);
  };
  Floats total{};
  for (int64_t begin = 0; begin < n; begin += kChunkColumns, out += chunk_step) {
    const int64_t end = n - begin < kChunkColumns ? n : begin + kChunkColumns;
    for (int64_t j = begin; j < end; j += kLanes) {
      const Floats x = join(half(j), half(j + kWideLanes));
      store(out + j - begin, x);
      total += x * x;
    }
  }
  return sum_lanes(total);
}

template <class T>
inline float load_narrow_row(const StridedArray& source, const Frame& frame, int64_t row, double factor,
                             int64_t chunk_step, float* out) {
  // float32 arithmetic rounds the difference in the same way as float64 arithmetic rounded to float32,
  // provided that nothing was rounded before: row and shift are float32, and the row factor is 1.
  const bool narrow = sizeof(T) < 8 && frame.narrow;  // not compiled for float64 rows
  if constexpr (sizeof(T) == 4)
    if (narrow && source.n_features % kLanes == 0)
      return load_vectors(source.data + row * source.row_stride, frame.shift32,
                          static_cast<float>(frame.scale[0]), source.n_features, chunk_step, out);
  if constexpr (sizeof(T) == 8)
    return load_doubles(source.data + row * source.row_stride, frame, factor, source.n_features,
                        chunk_step, out);
  if (narrow && source.n_features < kLanes) return load_short_row<T>(source, frame, row, out);
  Floats total{};
  for (int64_t begin = 0; begin < source.n_features; begin += kChunkColumns) {
    const int64_t left = source.n_features - begin;
    const int64_t count = left < kChunkColumns ? left : kChunkColumns;
    float* __restrict to = out + begin / kChunkColumns * chunk_step - begin;
    if (narrow) {
      const float scale = static_cast<float>(frame.scale[0]);
      const float* __restrict shift = frame.shift32;
      each_value<T>(source, row, begin, begin + count,
                    [=](int64_t j, T x) { to[j] = (to_float(x) - shift[j]) * scale; });
    } else {
      const double scale = frame.scale[0], rest = frame.scale[1];
      const double* __restrict shift = frame.shift;
      each_value<T>(source, row, begin, begin + count, [=](int64_t j, T x) {
        to[j] = static_cast<float>((to_double(x) * factor - shift[j]) * scale * rest);
      });
    }
    const int64_t padded = (count + kLanes - 1) / kLanes * kLanes;
    for (int64_t j = count; j < padded; ++j) to[begin + j] = 0.0f;
    for (int64_t j = 0; j < padded; j += kLanes) {
      const Floats x = load<Floats>(to + begin + j);
      total += x * x;
    }
  }
  return sum_lanes(total);
}

template <class T>
void load_row_of(const StridedArray& source, const Frame& frame, int64_t row, double factor,
                 double* __restrict out) {
  const double scale = frame.scale[0], rest = frame.scale[1];
  const double* __restrict shift = frame.shift;
  each_value<T>(source, row, 0, source.n_features,
                [=](int64_t j, T x) { out[j] = (to_double(x) * factor - shift[j]) * scale * rest; });
}

template <class Call>
inline auto dispatch(Scalar scalar, Call call) {
  switch (scalar) {
    case Scalar::float64: return call(double{});
    case Scalar::float32: return call(float{});
    case Scalar::float16: return call(Half{});
    case Scalar::uint8: return call(std::uint8_t{});
    case Scalar::int8: break;
  }
  return call(std::int8_t{});
}

void load_rows(const StridedArray& s, const Frame& f, const int64_t* rows, int64_t count,
               const double* factors, Layout layout, float* out, float* norms) {
  dispatch(s.scalar, [&]<class T>(T) {
    for (int64_t r = 0; r < count; ++r)
      norms[r] = load_narrow_row<T>(s, f, rows[r], factors == nullptr ? 1.0 : factors[rows[r]],
                                    layout.chunk_step, out + r * layout.row_step);
  });
}

void load_row(const StridedArray& s, const Frame& f, int64_t row, double factor, double* out) {
  dispatch(s.scalar, [&]<class T>(T) { load_row_of<T>(s, f, row, factor, out); });
}

}  // namespace
}  // namespace boostkmeans
