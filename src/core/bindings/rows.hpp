// The bound classes CsrMatrix and Rows: views of the user's data that keep its arrays alive.
#pragma once

#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/run.hpp"
#include "partition/partition.hpp"
#include "rows/check_csr.hpp"
#include "rows/dense_rows.hpp"
#include "rows/sparse_rows.hpp"

namespace boostkmeans {

// A two-dimensional array of any layout, accessed through Python's buffer protocol.
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
  ArrayView(ArrayView&&) = delete;
  ArrayView& operator=(const ArrayView&) = delete;
  ArrayView& operator=(ArrayView&&) = delete;

  std::int64_t n_rows() const { return view_.shape[0]; }
  StridedArray source() const {
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
  Py_buffer view_{};
};

inline const Kernel& kernel_named(const std::string& name) {
  const Kernel* kernel = find_kernel(name.c_str());
  if (kernel == nullptr)
    throw nb::value_error(("this machine does not support the instruction set " + name).c_str());
  return *kernel;
}

// A one-dimensional array of any dtype. The function that uses it must check the dtype.
using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A CSR matrix whose indices were checked when it was constructed. It has its own copy of the starts: if
// the caller changes them later, the core must not read beyond the values.
class CsrMatrix {
 public:
  CsrMatrix(nb::handle values, nb::handle columns, nb::handle starts, std::int64_t n_features,
            int n_threads)
      : values_(nb::cast<AnyVector>(values)),
        columns_(nb::cast<AnyVector>(columns)),
        starts_(copy_of(nb::cast<AnyVector>(starts))),
        n_features_(n_features),
        source_{values_.data(), columns_.data(), starts_->data(),
                is_wide<double, float>(values_, "values must be float64 or float32"),
                is_wide<std::int64_t, std::int32_t>(columns_, "columns must be int64 or int32")} {
    require(!starts_->empty(), "starts must have one value more than there are rows");
    require(n_features > 0 && n_features <= std::numeric_limits<std::int32_t>::max(),
            "n_features must be positive and fit into 32 bits");
    check_indices(n_threads);
  }

  const CsrSource& source() const { return source_; }
  std::int64_t n_rows() const { return static_cast<std::int64_t>(starts_->size()) - 1; }
  std::int64_t n_features() const { return n_features_; }

 private:
  // True if the array has the dtype Wide, false if it has the dtype Narrow.
  template <class Wide, class Narrow>
  static bool is_wide(const AnyVector& array, const char* message) {
    if (array.dtype() == nb::dtype<Wide>()) return true;
    if (array.dtype() != nb::dtype<Narrow>()) throw nb::type_error(message);
    return false;
  }

  using Starts = std::vector<std::int64_t>;
  static std::shared_ptr<const Starts> copy_of(const AnyVector& array) {
    const auto copied = [&](const auto* from) {
      return std::make_shared<const Starts>(from, from + array.size());
    };
    return is_wide<std::int64_t, std::int32_t>(array, "starts must be int64 or int32")
               ? copied(static_cast<const std::int64_t*>(array.data()))
               : copied(static_cast<const std::int32_t*>(array.data()));
  }

  void check_indices(int n_threads) const {
    const auto n_values = static_cast<std::int64_t>(std::min(values_.size(), columns_.size()));
    CsrFault fault = CsrFault::none;
    run(n_threads, static_cast<double>(n_values + n_rows()), kNoDeadline, [&](ThreadPool& pool) {
      fault = find_csr_fault(source_, n_rows(), n_features_, n_values, pool);
    });
    require(fault != CsrFault::starts, "starts must begin with 0, ascend, and stay within the values");
    require(fault != CsrFault::columns, "the columns of a row must ascend and lie in [0, n_features)");
  }

  AnyVector values_, columns_;
  std::shared_ptr<const Starts> starts_;  // shared by copies of the matrix
  std::int64_t n_features_;
  CsrSource source_;
};

// Dense or sparse rows, together with the arrays that they refer to.
class Rows {
 public:
  using Factors = std::optional<Vector<const double>>;
  using Shift = std::optional<Vector<const double>>;

  // `array` is a CsrMatrix or a two-dimensional array. Only rows of a CsrMatrix may have no shift.
  Rows(nb::handle array, const Shift& shift, int exponent, Factors factors, const std::string& isa)
      : factors_(std::move(factors)),
        rows_(read(array, shift, exponent, kernel_named(isa))) {}

  // Calls body(rows) with the DenseRows or SparseRows.
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
  // Number of stored values, as an estimate of the work that one pass over the rows takes.
  double size() const {
    return static_cast<double>(visit([](const auto& rows) { return rows.n_values(); }));
  }
  const Kernel& kernel() const {
    return visit([](const auto& rows) -> const Kernel& { return rows.kernel(); });
  }

 private:
  // Stores the array in `array_` or `matrix_`, and returns a view of it.
  std::variant<DenseRows, SparseRows> read(nb::handle array, const Shift& shift, int exponent,
                                           const Kernel& kernel) {
    if (!nb::isinstance<CsrMatrix>(array)) {
      array_ = std::make_unique<ArrayView>(array);
      const StridedArray source = array_->source();
      const std::int64_t n = array_->n_rows();
      return DenseRows(kernel, source, n, values_of(shift, source.n_features), exponent, factors_of(n));
    }
    matrix_ = nb::cast<CsrMatrix>(array);
    const std::int64_t n = matrix_->n_rows(), d = matrix_->n_features();
    if (!shift) return SparseRows(kernel, matrix_->source(), n, d, exponent, factors_of(n));
    return DenseRows(kernel, matrix_->source(), n, values_of(shift, d), exponent, factors_of(n));
  }
  // The constructors of rows read all factors, so their number is checked before.
  const double* factors_of(std::int64_t n_rows) const {
    require(!factors_ || length_of(*factors_) == n_rows, "factors must have one value per row");
    return data_or_null(factors_);
  }
  static std::vector<double> values_of(const Shift& shift, std::int64_t n_features) {
    if (!shift || length_of(*shift) != n_features)
      throw nb::value_error("shift must have one value per feature");
    return {shift->data(), shift->data() + shift->size()};
  }

  std::unique_ptr<ArrayView> array_;
  std::optional<CsrMatrix> matrix_;
  Factors factors_;
  std::variant<DenseRows, SparseRows> rows_;
};

using Weights = std::optional<Vector<const double>>;

inline RowWeights row_weights_of(const Weights& weights, const Rows& rows) {
  require(!weights || length_of(*weights) == rows.n_rows(), "row_weights must have one value per row");
  return {data_or_null(weights)};
}

}  // namespace boostkmeans
