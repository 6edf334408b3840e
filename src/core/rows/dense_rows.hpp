// Dense rows of any supported type, in the user's own memory, seen through a frame.
//
// This is the seam that other kinds of rows share (see sparse_rows.hpp). The algorithms ask for two
// things only: a piece of rows in float32, to be scored (see piece.hpp), and one row in float64, to be
// moved: `fetch` it, then measure its `distance` to a centre or `add` it to a composite.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "kernel/kernel.hpp"
#include "rows/centre.hpp"
#include "rows/csr_source.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

class DenseRows {
 public:
  static constexpr bool kSparse = false;

  // One row, in float64, in the frame.
  class Row {
   public:
    explicit Row(const DenseRows& rows) : values(rows.n_features()) {}
    Buffer<double> values;
  };

  // `factors` has a factor for each row (cosine: 1 / |x|), or is null.
  DenseRows(const Kernel& kernel, const RowSource& source, std::int64_t n_rows,
            std::vector<double> shift, int scale_exponent, const double* factors);
  // Rows of a CSR matrix that are expanded when they are loaded: for a matrix that is small, or hardly
  // sparse. What is computed is the same as for a dense array, to the last bit.
  DenseRows(const Kernel& kernel, const CsrSource& source, std::int64_t n_rows,
            std::vector<double> shift, int scale_exponent, const double* factors);

  const Kernel& kernel() const { return kernel_; }
  std::int64_t n_rows() const { return n_rows_; }
  std::int64_t n_features() const { return source_.n_features; }
  std::int64_t n_values() const { return n_rows_ * n_features(); }

  void load(const std::int64_t* rows, std::int64_t count, Layout layout, float* out,
            float* norms) const {
    if (csr_) return load_expanded(rows, count, layout, out, norms);
    kernel_.load_rows(source_, frame(), rows, count, factors_, layout, out, norms);
  }
  // Whether rows can be scored in low precision: they are bytes, of which the kernel takes products.
  bool are_bytes() const {
    constexpr std::int64_t kMostColumns = 1 << 16;  // 255 * 127 for each still fits into 32 bits
    return (source_.scalar == Scalar::uint8 || source_.scalar == Scalar::int8) && narrow_ &&
           source_.column_stride == 1 && source_.n_features <= kMostColumns && kernel_.multiplies_bytes;
  }
  // The bytes of some rows, as 0 to 255, four columns in each value; zeros fill up the last one. In the
  // frame, x = (byte - byte_shift()[j]) * byte_scale().
  void load_bytes(const std::int64_t* rows, std::int64_t count, std::int32_t* quads) const;
  double byte_shift(std::int64_t column) const {
    return shift_[static_cast<std::size_t>(column)] + (source_.scalar == Scalar::int8 ? 128.0 : 0.0);
  }
  double byte_scale() const { return scale_[0]; }
  void fetch(std::int64_t row, Row& out) const {
    if (csr_) return fetch_expanded(row, out.values.get());
    kernel_.load_row(source_, frame(), row, factor(row), out.values.get());
  }
  // The values of rows from this one on, if they are float32, side by side in whole vectors, and the
  // frame leaves them as they are; else null.
  const char* plain_floats(std::int64_t row) const {
    return plain_ ? source_.data + row * source_.row_stride : nullptr;
  }
  std::int64_t row_stride() const { return source_.row_stride; }
  // Asks for a row that will be loaded soon, so that memory works while the processor computes. Rows
  // that lie scattered (Fortran order) share their cache lines with neighbours: nothing to ask for.
  void prefetch(std::int64_t row) const {
    if (csr_ || source_.column_stride < 0 || source_.column_stride > kWidestScalar) return;
    const std::int64_t bytes = source_.n_features * source_.column_stride;
    const auto begin = reinterpret_cast<std::uintptr_t>(source_.data + row * source_.row_stride);
    const auto end = begin + static_cast<std::uintptr_t>(bytes);
    // From the beginning of a line on: a row seldom begins with one, and then it ends in one more.
    for (std::uintptr_t at = begin / kCacheLine * kCacheLine; at < end; at += kCacheLine)
      __builtin_prefetch(reinterpret_cast<const char*>(at), 0, 2);
  }
  // The same for rows that lie one after the other, as a piece of memory: where it begins and its bytes.
  std::pair<const char*, std::int64_t> extent(std::int64_t first, std::int64_t count) const {
    const bool together = source_.row_stride > 0 && source_.column_stride > 0 &&
                          source_.row_stride < 2 * source_.n_features * source_.column_stride;
    if (csr_ || count <= 0 || !together || source_.column_stride > kWidestScalar)
      return {source_.data, 0};
    return {source_.data + first * source_.row_stride, count * source_.row_stride};
  }
  Centre centre(const double* composite, double inverse) const { return {composite, inverse}; }
  double distance(const Row& x, const Centre& centre) const {
    return kernel_.distance(x.values.get(), centre.composite, centre.inverse, source_.n_features);
  }
  // How far such a distance may be off, as a difference of larger numbers: here it is none.
  double noise(const Row&, double) const { return 0.0; }
  // Returns by how much |composite|^2 changes; here, where nobody needs it, 0.
  double add(const Row& x, double weight, double* composite) const {
    kernel_.add(composite, x.values.get(), weight, source_.n_features);
    return 0.0;
  }
  double norm(const Row& x) const {
    return kernel_.dot(x.values.get(), x.values.get(), source_.n_features);
  }
  // Products in x . C: what its rounding depends on.
  std::int64_t n_products(std::int64_t) const { return source_.n_features; }
  // |x - y|^2: 0 if and only if they are equal.
  double gap(const Row& x, const Row& y) const { return distance(x, {y.values.get(), 1.0}); }

  // What `add` changes of a composite, to be put back later, to the last bit.
  std::int64_t most_cells() const { return source_.n_features; }
  void save(const Row&, const double* composite, double* cells) const {
    std::copy_n(composite, source_.n_features, cells);
  }
  void restore(const Row&, const double* cells, double* composite) const {
    std::copy_n(cells, source_.n_features, composite);
  }

 private:
  static constexpr std::uintptr_t kCacheLine = 64;
  static constexpr std::int64_t kWidestScalar = 8;

  void load_expanded(const std::int64_t* rows, std::int64_t count, Layout layout, float* out,
                     float* norms) const;
  void fetch_expanded(std::int64_t row, double* out) const;
  double factor(std::int64_t row) const { return factors_ == nullptr ? 1.0 : factors_[row]; }
  Frame frame() const { return {shift_.data(), shift32_.data(), {scale_[0], scale_[1]}, narrow_}; }

  const Kernel& kernel_;
  RowSource source_;  // without data, if rows are expanded
  std::optional<CsrSource> csr_;
  std::int64_t n_rows_;
  std::vector<double> shift_;
  std::vector<float> shift32_;
  double scale_[2];
  bool narrow_;
  bool plain_ = false;
  const double* factors_;
};

}  // namespace boostkmeans
