// What all bindings need: arrays of Python, rows over them, and work without Python's lock.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dense_rows.hpp"
#include "partition.hpp"
#include "team.hpp"

namespace boostkmeans {
namespace nb = nanobind;

template <class T, class... Shape>
using Array = nb::ndarray<T, Shape..., nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = Array<T, nb::ndim<1>>;
template <class T>
using Matrix = Array<T, nb::ndim<2>>;
using NumpyDoubles = nb::ndarray<nb::numpy, double, nb::ndim<1>>;

inline void require(bool condition, const char* message) {
  if (!condition) throw nb::value_error(message);
}

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::int64_t size, auto fill) {
  auto data = std::make_unique<T[]>(static_cast<std::size_t>(size));
  fill(data.get());
  nb::capsule owner(data.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return {data.release(), {static_cast<std::size_t>(size)}, owner};
}

// Holds the user's array for as long as its memory is read.
class ArrayView {
 public:
  explicit ArrayView(nb::handle array) {
    if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_STRIDES | PyBUF_FORMAT) != 0)
      throw nb::python_error();
    if (view_.ndim != 2) {
      PyBuffer_Release(&view_);
      throw nb::value_error("rows must be a 2-D array");
    }
  }
  ~ArrayView() { PyBuffer_Release(&view_); }
  ArrayView(const ArrayView&) = delete;
  ArrayView& operator=(const ArrayView&) = delete;

  std::int64_t n_rows() const { return view_.shape[0]; }
  RowSource source() const {
    return {static_cast<const char*>(view_.buf), view_.strides[0], view_.strides[1], view_.shape[1],
            scalar()};
  }

 private:
  Scalar scalar() const {
    const char* format = view_.format + std::strspn(view_.format, "@=<^");
    switch (format[0]) {
      case 'd': return Scalar::float64;
      case 'f': return Scalar::float32;
      case 'e': return Scalar::float16;
      case 'B': return Scalar::uint8;
      case 'b': return Scalar::int8;
      default: throw nb::type_error("rows must be float64, float32, float16, uint8 or int8");
    }
  }
  Py_buffer view_;
};

inline const Kernel& kernel_named(const std::string& name) {
  const Kernel* kernel = find_kernel(name.c_str());
  if (kernel == nullptr)
    throw nb::value_error(("no such instruction set on this machine: " + name).c_str());
  return *kernel;
}

class Rows {
 public:
  Rows(nb::handle array, std::vector<double> shift, int scale_exponent,
       std::optional<Vector<const double>> factors, const std::string& isa)
      : array_(array), factors_(std::move(factors)),
        rows_(kernel_named(isa), array_.source(), array_.n_rows(), std::move(shift), scale_exponent,
              factors_ ? factors_->data() : nullptr) {
    require(!factors_ || static_cast<std::int64_t>(factors_->shape(0)) == array_.n_rows(),
            "factors must have one value for each row");
  }
  const DenseRows& get() const { return rows_; }

 private:
  ArrayView array_;
  std::optional<Vector<const double>> factors_;
  DenseRows rows_;
};

// Python runs signal handlers in its main thread alone. Elsewhere there is nothing to ask for, and asking
// would take the lock: fatal to a thread that is still at work when the interpreter ends.
inline bool in_main_thread() {
  const auto main = nb::module_::import_("threading").attr("main_thread")().attr("ident");
  return nb::cast<unsigned long>(main) == PyThread_get_thread_ident();
}

// Gives up Python's lock and takes it back. A daemon thread that asks for it while the interpreter ends is
// unwound by force (before Python 3.14), which would abort the process at the first destructor: it waits
// for the end here instead.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
    }
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

// Runs `work(team)` without Python's lock. Raises KeyboardInterrupt (or whatever a signal handler
// raised) once the work has come to a consistent end; returns whether the deadline ended it.
inline bool run(int n_threads, double operations, double seconds_left, auto work) {
  Watch watch(
      [asks = in_main_thread()] {
        if (!asks) return false;
        nb::gil_scoped_acquire lock;
        return PyErr_CheckSignals() != 0;
      },
      seconds_left);
  {
    const Unlocked unlocked;
    Team team(threads_for(operations, n_threads), watch);
    work(team);
  }
  if (watch.reason() == Watch::Reason::interrupted) throw nb::python_error();
  return watch.reason() == Watch::Reason::deadline;
}

constexpr double kNoDeadline = std::numeric_limits<double>::infinity();

inline double size_of(const DenseRows& rows) {
  return static_cast<double>(rows.n_rows()) * static_cast<double>(rows.n_features());
}

template <class T>
void check_numbers(const T* values, std::size_t size, std::int64_t low, std::int64_t high,
                   const char* message) {
  for (std::size_t i = 0; i < size; ++i) require(values[i] >= low && values[i] < high, message);
}

using Weights = std::optional<Vector<const double>>;

inline RowWeights row_weights_of(const Weights& weights, const DenseRows& rows) {
  require(!weights || static_cast<std::int64_t>(weights->shape(0)) == rows.n_rows(),
          "row_weights must have one value for each row");
  return {weights ? weights->data() : nullptr};
}

inline Partition partition_of(const DenseRows& rows, const Vector<std::int32_t>& labels,
                       const Matrix<double>& composites, const Vector<double>& weights,
                       const Vector<std::int64_t>& counts) {
  const auto k = composites.shape(0);
  require(static_cast<std::int64_t>(labels.shape(0)) == rows.n_rows() &&
              static_cast<std::int64_t>(composites.shape(1)) == rows.n_features() &&
              weights.shape(0) == k && counts.shape(0) == k,
          "the shapes of rows and partition do not agree");
  for (std::size_t i = 0; i < labels.shape(0); ++i)
    require(labels.data()[i] >= 0 && static_cast<std::size_t>(labels.data()[i]) < k,
            "labels must lie in [0, n_clusters)");
  return {labels.data(), composites.data(), weights.data(), counts.data(),
          static_cast<std::int64_t>(k), rows.n_features()};
}

}  // namespace boostkmeans
