// Dense rows of any supported scalar type in the memory of the caller, read through a frame.
//
// SparseRows has the same interface. Algorithms use rows in two ways. They load batches in float32
// to score them (see row_batch.hpp), and they `fetch` single rows in float64, to compute a
// `distance` to a centre or to `add` them to a composite.
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
#include "support/alignment.hpp"

namespace boostkmeans {

static_assert(static_cast<std::int64_t>(kAlignment) >= kMaxVectorBytes,
              "buffers must be aligned to whole vectors");

class DenseRows {
 public:
  static constexpr bool kSparse = false;

  // One row in the frame, in float64.
  class Row {
   public:
    explicit Row(const DenseRows& rows) : values(rows.n_features()), copy(rows.copied_size()) {}
    Buffer<double> values;
    Buffer<char> copy;  // the row before the frame, if its columns are not contiguous in memory
  };

  // `factors` has one factor per row (1 / |x| for the cosine metric), or is null.
  DenseRows(const Kernel& kernel, const StridedArray& source, std::int64_t n_rows,
            std::vector<double> shift, int scale_exponent, const double* factors);
  // Rows of a CSR matrix that are expanded when they are loaded, for matrices that are small or not
  // very sparse. Results are bit-for-bit the same as for a dense array.
  DenseRows(const Kernel& kernel, const CsrSource& source, std::int64_t n_rows,
            const std::vector<double>& shift, int scale_exponent, const double* factors);

  const Kernel& kernel() const { return kernel_; }
  std::int64_t n_rows() const { return n_rows_; }
  std::int64_t n_features() const { return source_.n_features; }
  std::int64_t n_values() const { return n_rows_ * n_features(); }

  // Loads rows in float32, and |x|^2 of each.
  void load(const std::int64_t* rows, std::int64_t count, Layout layout, float* out,
            float* norms) const {
    if (copied_)
      load_copied(rows, count, layout, out, norms);
    else
      kernel_.load_rows(source_, frame(), rows, count, factors_, layout, out, norms);
  }
  // Returns true if rows can be scored in low precision: they are bytes, and the kernel multiplies
  // bytes.
  bool are_bytes() const {
    constexpr std::int64_t kMaxColumns = 1 << 16;  // sums of 255 * 127 per column fit into 32 bits
    return (source_.scalar == Scalar::uint8 || source_.scalar == Scalar::int8) && narrow_ &&
           source_.n_features <= kMaxColumns && kernel_.multiplies_bytes;
  }
  // Loads the bytes of rows, as 0 to 255, four columns in each value, padded with zeros. In the frame, x
  // = (byte - byte_shift(j)) * byte_scale().
  void load_bytes(const std::int64_t* rows, std::int64_t count, std::int32_t* quads) const;
  double byte_shift(std::int64_t column) const {
    return shift_[static_cast<std::size_t>(column)] + (source_.scalar == Scalar::int8 ? 128.0 : 0.0);
  }
  double byte_scale() const { return scale_[0]; }
  void fetch(std::int64_t row, Row& out) const {
    if (copied_)
      fetch_copied(row, out);
    else
      kernel_.load_row(source_, frame(), row, factor(row), out.values.get());
  }
  // Returns a pointer to the values from this row on if they are contiguous float32 values, a row is a
  // whole number of vectors, and the frame does not change them. Otherwise returns null.
  const char* plain_floats(std::int64_t row) const {
    return plain_ ? source_.data + row * source_.row_stride : nullptr;
  }
  std::int64_t row_stride() const { return source_.row_stride; }
  // Prefetches a row that will be loaded soon. Does nothing if the columns of a row are scattered
  // (Fortran order): its cache lines are shared with neighbouring rows.
  void prefetch(std::int64_t row) const {
    if (csr_ || source_.column_stride < 0 || source_.column_stride > kWidestScalar) return;
    const std::int64_t bytes = source_.n_features * source_.column_stride;
    const char* begin = source_.data + row * source_.row_stride;
    // Most rows start within a cache line, not at its beginning.
    const auto skip = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(begin) %
                                                static_cast<std::uintptr_t>(kCacheLine));
    __builtin_prefetch(begin, 0, 2);
    for (std::int64_t at = kCacheLine - skip; at < bytes; at += kCacheLine)
      __builtin_prefetch(begin + at, 0, 2);
  }
  // Memory of consecutive rows, for prefetching: its start and its number of bytes.
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
  // Bound on the rounding error of a distance that is computed as a difference of larger numbers.
  // For dense rows it is 0, because their distances are computed directly.
  double noise(const Row&, double) const { return 0.0; }
  // composite += weight * x. Returns 0 instead of the change of |composite|^2, which dense rows do
  // not need.
  double add(const Row& x, double weight, double* composite) const {
    kernel_.add(composite, x.values.get(), weight, source_.n_features);
    return 0.0;
  }
  double norm(const Row& x) const {
    return kernel_.dot(x.values.get(), x.values.get(), source_.n_features);
  }
  // Number of products in x . C, which determines its rounding error.
  std::int64_t n_products(std::int64_t) const { return source_.n_features; }
  // |x - y|^2, which is 0 if and only if the rows are equal.
  double distance_between(const Row& x, const Row& y) const {
    return distance(x, {y.values.get(), 1.0});
  }

  // Save and exactly restore the values of a composite that `add` changes.
  std::int64_t saved_size() const { return source_.n_features; }
  void save(const Row&, const double* composite, double* cells) const {
    std::copy_n(composite, source_.n_features, cells);
  }
  void restore(const Row&, const double* cells, double* composite) const {
    std::copy_n(cells, source_.n_features, composite);
  }

 private:
  static constexpr std::int64_t kCacheLine = 64;
  static constexpr std::int64_t kWidestScalar = 8;

  // Number of bytes of the copy of a row, 0 if rows are not copied.
  std::int64_t copied_size() const;
  // Writes the values of a row one after the other, in their scalar type.
  void copy(std::int64_t row, char* out) const;
  void load_copied(const std::int64_t* rows, std::int64_t count, Layout layout, float* out,
                   float* norms) const;
  void fetch_copied(std::int64_t row, Row& out) const;
  double factor(std::int64_t row) const { return factors_ == nullptr ? 1.0 : factors_[row]; }
  Frame frame() const { return {shift_.data(), shift32_.data(), {scale_[0], scale_[1]}, narrow_}; }

  const Kernel& kernel_;
  StridedArray source_;  // without data if rows are expanded
  std::optional<CsrSource> csr_;
  std::int64_t n_rows_;
  std::vector<double> shift_;
  std::vector<float> shift32_;
  double scale_[2] = {1.0, 1.0};
  bool narrow_;
  bool plain_ = false;
  // True if the columns of a row are not contiguous in memory. The kernel gets copies of such rows, so
  // that the same loops read all rows: results do not depend on the memory layout.
  bool copied_ = false;
  const double* factors_;
};

}  // namespace boostkmeans
