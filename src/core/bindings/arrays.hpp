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
#include <variant>
#include <vector>

#include "rows/dense_rows.hpp"
#include "partition/partition.hpp"
#include "rows/sparse_rows.hpp"
#include "parallel/thread_pool.hpp"

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

using Factors = std::optional<Vector<const double>>;

// Any one-dimensional array of NumPy, whose type is looked at here.
using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline bool is_wide(const AnyVector& array, nb::dlpack::dtype wide, nb::dlpack::dtype narrow,
                    const char* message) {
  if (array.dtype() == wide) return true;
  if (array.dtype() != narrow) throw nb::type_error(message);
  return false;
}

inline std::int64_t number_at(const AnyVector& numbers, bool wide, std::size_t i) {
  return wide ? static_cast<const std::int64_t*>(numbers.data())[i]
              : static_cast<const std::int32_t*>(numbers.data())[i];
}

// Dense rows over an array, or sparse ones over the three arrays of a CSR matrix, which it holds.
class Rows {
 public:
  Rows(nb::handle array, std::vector<double> shift, int scale_exponent, Factors factors,
       const std::string& isa)
      : array_(std::make_unique<ArrayView>(array)), factors_(std::move(factors)),
        rows_(std::in_place_type<DenseRows>, kernel_named(isa), array_->source(), array_->n_rows(),
              std::move(shift), scale_exponent, factors_ ? factors_->data() : nullptr) {
    check_factors(array_->n_rows());
  }
  // With a shift, rows are expanded when they are loaded.
  Rows(nb::handle values, nb::handle columns, nb::handle starts, std::int64_t n_features,
       std::optional<std::vector<double>> shift, int scale_exponent, Factors factors,
       const std::string& isa)
      : arrays_{nb::cast<AnyVector>(values), nb::cast<AnyVector>(columns), nb::cast<AnyVector>(starts)},
        factors_(std::move(factors)), rows_(over_csr(n_features, std::move(shift), scale_exponent, kernel_named(isa))) {
    check_factors(n_csr_rows());
  }
  // body(rows), with rows of the kind that they are.
  template <class Body>
  decltype(auto) visit(Body body) const {
    return std::visit(std::move(body), rows_);
  }
  const DenseRows& dense() const {
    if (!std::holds_alternative<DenseRows>(rows_)) throw nb::type_error("rows must be dense");
    return std::get<DenseRows>(rows_);
  }
  std::int64_t n_rows() const {
    return visit([](const auto& rows) { return rows.n_rows(); });
  }
  std::int64_t n_features() const {
    return visit([](const auto& rows) { return rows.n_features(); });
  }
  std::int64_t n_values() const {
    return visit([](const auto& rows) { return rows.n_values(); });
  }
  const Kernel& kernel() const {
    return visit([](const auto& rows) -> const Kernel& { return rows.kernel(); });
  }

 private:
  void check_factors(std::int64_t n_rows) const {
    require(!factors_ || static_cast<std::int64_t>(factors_->shape(0)) == n_rows,
            "factors must have one value for each row");
  }
  std::int64_t n_csr_rows() const { return static_cast<std::int64_t>(arrays_[2].size()) - 1; }
  std::variant<DenseRows, SparseRows> over_csr(std::int64_t n_features,
                                               std::optional<std::vector<double>> shift,
                                               int scale_exponent, const Kernel& kernel) const {
    const CsrSource source = csr_source(n_features);
    const double* factors = factors_ ? factors_->data() : nullptr;
    if (!shift) return SparseRows(kernel, source, n_csr_rows(), n_features, scale_exponent, factors);
    require(static_cast<std::int64_t>(shift->size()) == n_features, "shift must have a value for each column");
    return DenseRows(kernel, source, n_csr_rows(), std::move(*shift), scale_exponent, factors);
  }
  // Checks all numbers: nothing else stands between a broken matrix and the memory of others.
  CsrSource csr_source(std::int64_t n_features) const {
    const auto &values = arrays_[0], &columns = arrays_[1], &starts = arrays_[2];
    const CsrSource source{
        values.data(),
        columns.data(),
        starts.data(),
        is_wide(values, nb::dtype<double>(), nb::dtype<float>(), "values must be float64 or float32"),
        is_wide(columns, nb::dtype<std::int64_t>(), nb::dtype<std::int32_t>(),
                "columns must be int64 or int32"),
        is_wide(starts, nb::dtype<std::int64_t>(), nb::dtype<std::int32_t>(),
                "starts must be int64 or int32")};
    require(starts.size() > 0 && n_features > 0 && n_features <= std::numeric_limits<std::int32_t>::max(),
            "there must be columns, no more than fit into 32 bits, and one more start than rows");
    const auto n_values = static_cast<std::int64_t>(std::min(values.size(), columns.size()));
    std::int64_t last = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::int64_t start = number_at(starts, source.wide_starts, i);
      require(start >= last && start <= n_values && (i > 0 || start == 0),
              "starts must begin with 0, ascend, and stay within the values");
      last = start;
    }
    check_columns(source, n_csr_rows(), n_features);
    return source;
  }
  static void check_columns(const CsrSource& source, std::int64_t n_rows, std::int64_t n_features) {
    source.as_typed([&](const auto*, const auto* columns) {
      for (std::int64_t row = 0; row < n_rows; ++row) {
        std::int64_t last = -1;
        for (std::int64_t t = source.start(row); t < source.start(row + 1); ++t) {
          require(columns[t] > last && columns[t] < n_features,
                  "columns of a row must ascend within the features");
          last = columns[t];
        }
      }
    });
  }

  std::unique_ptr<ArrayView> array_;
  AnyVector arrays_[3];
  Factors factors_;
  std::variant<DenseRows, SparseRows> rows_;
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

inline double size_of(const Rows& rows) { return static_cast<double>(rows.n_values()); }

template <class T>
void check_numbers(const T* values, std::size_t size, std::int64_t low, std::int64_t high,
                   const char* message) {
  bool good = true;
  for (std::size_t i = 0; i < size; ++i) good &= values[i] >= low && values[i] < high;
  require(good, message);
}

using Weights = std::optional<Vector<const double>>;

inline RowWeights row_weights_of(const Weights& weights, const Rows& rows) {
  require(!weights || static_cast<std::int64_t>(weights->shape(0)) == rows.n_rows(),
          "row_weights must have one value for each row");
  return {weights ? weights->data() : nullptr};
}

inline Partition partition_of(const Rows& rows, const Vector<std::int32_t>& labels,
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
