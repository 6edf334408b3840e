// Sparse rows (CSR) in the memory of the caller, read through a frame without shift.
//
// SparseRows has the same interface as DenseRows. A row is a list of terms: the columns and values that
// are not zero. Its distance to a centre is |x|^2 - 2 x . C + |C|^2, so callers must know |C|^2.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernel/kernel.hpp"
#include "rows/centre.hpp"
#include "rows/csr_source.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

class SparseRows {
 public:
  static constexpr bool kSparse = true;

  // One row in the frame, in float64.
  class Row {
   public:
    // A row with room for every row.
    explicit Row(const SparseRows& rows) : Row(rows.longest()) {}
    // A row with room for some terms.
    explicit Row(std::int64_t n_terms) : columns(n_terms), values(n_terms), room_(n_terms) {}

    // Makes room for a row with this number of terms, and frees memory if there is much more. The
    // terms are lost.
    void make_room(std::int64_t n_terms) {
      // Below this number of terms, or this multiple of the needed ones, memory is not freed.
      constexpr std::int64_t kFew = 256, kMultiple = 8;
      if (room_ < n_terms || room_ > std::max(kFew, kMultiple * n_terms)) *this = Row(n_terms);
    }

    Buffer<std::int32_t> columns;
    Buffer<double> values;
    std::int64_t count = 0;
    double norm = 0.0;  // |x|^2

   private:
    std::int64_t room_;
  };

  // `factors` has one factor per row (1 / |x| for the cosine metric), or is null.
  SparseRows(const Kernel& kernel, const CsrSource& source, std::int64_t n_rows, std::int64_t n_features,
             int scale_exponent, const double* factors);

  const Kernel& kernel() const { return kernel_; }
  std::int64_t n_rows() const { return n_rows_; }
  std::int64_t n_features() const { return n_features_; }
  std::int64_t n_values() const { return source_.start(n_rows_); }
  // Number of rows that have a value in this column.
  std::int64_t frequency(std::int64_t column) const {
    return frequencies_[static_cast<std::size_t>(column)];
  }
  // Number of terms of the longest row.
  std::int64_t longest() const { return longest_; }
  std::int64_t length(std::int64_t row) const { return source_.length(row); }

  void fetch(std::int64_t row, Row& out) const;
  // Loads a row in float32 and returns |x|^2. There must be room for `length(row)` terms.
  float load(std::int64_t row, std::int32_t* columns, float* values) const;
  // Prefetches a row that will be fetched soon.
  void prefetch(std::int64_t row) const;

  Centre centre(const double* composite, double inverse) const {
    return {composite, inverse, kernel_.dot(composite, composite, n_features_)};
  }
  double distance(const Row& x, const Centre& centre) const {
    const double dot = this->dot(x, centre.composite) * centre.inverse;
    const double squared = x.norm - 2.0 * dot + centre.square * centre.inverse * centre.inverse;
    return squared < kTrusted * x.norm ? small_distance(x, centre) : squared;
  }
  // Bound on the rounding error of a distance that is computed as a difference of larger numbers.
  double noise(const Row& x, double distance) const {
    constexpr double kRounding = 32 * 0x1p-53;
    return distance < kTrusted * x.norm ? 0.0 : kRounding * x.norm;
  }
  double dot(const Row& x, const double* composite) const {
    double sum = 0.0;
    for (std::int64_t t = 0; t < x.count; ++t) sum += x.values[t] * composite[x.columns[t]];
    return sum;
  }
  // composite += weight * x. Returns the change of |composite|^2.
  double add(const Row& x, double weight, double* composite) const {
    double change = 0.0;
    for (std::int64_t t = 0; t < x.count; ++t) {
      const double step = weight * x.values[t];
      double& at = composite[x.columns[t]];
      change += step * (2.0 * at + step);
      at += step;
    }
    return change;
  }
  double norm(const Row& x) const { return x.norm; }
  // Number of products in x . C, which determines its rounding error.
  std::int64_t n_products(std::int64_t row) const { return length(row); }
  // |x - y|^2, which is 0 if and only if the rows are equal.
  double distance_between(const Row& x, const Row& y) const;

  // Save and exactly restore the values of a composite that `add` changes.
  std::int64_t saved_size() const { return longest_; }
  void save(const Row& x, const double* composite, double* cells) const {
    for (std::int64_t t = 0; t < x.count; ++t) cells[t] = composite[x.columns[t]];
  }
  void restore(const Row& x, const double* cells, double* composite) const {
    for (std::int64_t t = 0; t < x.count; ++t) composite[x.columns[t]] = cells[t];
  }

 private:
  // A distance below this fraction of |x|^2 is computed from all features instead of as a difference.
  static constexpr double kTrusted = 1e-9;

  double small_distance(const Row& x, const Centre& centre) const;

  const Kernel& kernel_;
  CsrSource source_;
  std::int64_t n_rows_, n_features_, longest_ = 0;
  template <class Value>
  void load_terms(std::int64_t row, std::int32_t* columns, Value* values) const;

  std::vector<std::int32_t> frequencies_;
  std::vector<double> norms_;
  double scale_[2] = {1.0, 1.0};
  const double* factors_;
};

}  // namespace boostkmeans
