// NumPy arrays as arguments and results of native functions.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace boostkmeans {
namespace nb = nanobind;

template <class T, class... Shape>
using Array = nb::ndarray<T, Shape..., nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = Array<T, nb::ndim<1>>;
template <class T>
using Matrix = Array<T, nb::ndim<2>>;
template <class T>
using Cube = Array<T, nb::ndim<3>>;

// Raises ValueError with this message unless the condition holds.
inline void require(bool condition, const char* message) {
  if (!condition) throw nb::value_error(message);
}

template <class ArrayType>
std::int64_t length_of(const ArrayType& array, std::size_t axis = 0) {
  return static_cast<std::int64_t>(array.shape(axis));
}

template <class ArrayType>
auto* data_or_null(const std::optional<ArrayType>& array) {
  return array ? array->data() : nullptr;
}

// Returns a new NumPy array of this size, filled by `fill`.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::int64_t size, auto fill) {
  auto data = std::make_unique<T[]>(static_cast<std::size_t>(size));
  fill(data.get());
  nb::capsule owner(data.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return {data.release(), {static_cast<std::size_t>(size)}, owner};
}

template <class T>
auto to_numpy(const std::vector<T>& values) {
  return to_numpy<T>(static_cast<std::int64_t>(values.size()),
                     [&](T* to) { std::copy(values.begin(), values.end(), to); });
}

}  // namespace boostkmeans
