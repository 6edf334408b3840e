// Sparse rows (CSR) in the user's own memory, seen through a frame that has no shift.
//
// The same seam as DenseRows. A row is its terms: column and value of what is not zero. It is measured
// against a composite by |x|^2 - 2 x.C + |C|^2, so that whoever measures has to know |C|^2.
#pragma once

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

  // One row, in float64, in the frame.
  class Row {
   public:
    explicit Row(const SparseRows& rows) : columns(rows.longest()), values(rows.longest()) {}
    Buffer<std::int32_t> columns;
    Buffer<double> values;
    std::int64_t count = 0;
    double norm = 0.0;  // |x|^2
  };

  // `factors` has a factor for each row (cosine: 1 / |x|), or is null.
  SparseRows(const Kernel& kernel, const CsrSource& source, std::int64_t n_rows, std::int64_t n_features,
             int scale_exponent, const double* factors);

  const Kernel& kernel() const { return kernel_; }
  std::int64_t n_rows() const { return n_rows_; }
  std::int64_t n_features() const { return n_features_; }
  std::int64_t n_values() const { return source_.start(n_rows_); }
  // Rows that have a value in a column.
  std::int64_t frequency(std::int64_t column) const {
    return frequencies_[static_cast<std::size_t>(column)];
  }
  // Terms of the row that has the most of them.
  std::int64_t longest() const { return longest_; }
  std::int64_t length(std::int64_t row) const { return source_.length(row); }

  void fetch(std::int64_t row, Row& out) const;
  // The same in float32, and |x|^2. Room for `length(row)` terms is needed.
  float load(std::int64_t row, std::int32_t* columns, float* values) const;
  // Asks for a row that will be fetched soon.
  void prefetch(std::int64_t row) const;

  Centre centre(const double* composite, double inverse) const {
    return {composite, inverse, kernel_.dot(composite, composite, n_features_)};
  }
  double distance(const Row& x, const Centre& centre) const {
    const double dot = this->dot(x, centre.composite) * centre.inverse;
    const double gap = x.norm - 2.0 * dot + centre.square * centre.inverse * centre.inverse;
    return gap < kTrusted * x.norm ? small_distance(x, centre) : gap;
  }
  // How far such a distance may be off, as a difference of larger numbers.
  double noise(const Row& x, double distance) const {
    constexpr double kRounding = 32 * 0x1p-53;
    return distance < kTrusted * x.norm ? 0.0 : kRounding * x.norm;
  }
  double dot(const Row& x, const double* composite) const {
    double sum = 0.0;
    for (std::int64_t t = 0; t < x.count; ++t) sum += x.values[t] * composite[x.columns[t]];
    return sum;
  }
  // Returns by how much |composite|^2 changes.
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
  // Products in x . C: what its rounding depends on.
  std::int64_t n_products(std::int64_t row) const { return length(row); }
  // |x - y|^2: 0 if and only if they are equal.
  double gap(const Row& x, const Row& y) const;

  // What `add` changes of a composite, to be put back later, to the last bit.
  std::int64_t most_cells() const { return longest_; }
  void save(const Row& x, const double* composite, double* cells) const {
    for (std::int64_t t = 0; t < x.count; ++t) cells[t] = composite[x.columns[t]];
  }
  void restore(const Row& x, const double* cells, double* composite) const {
    for (std::int64_t t = 0; t < x.count; ++t) composite[x.columns[t]] = cells[t];
  }

 private:
  // A distance below this share of |x|^2 is computed from all features, without differences of large
  // numbers.
  static constexpr double kTrusted = 1e-9;

  double small_distance(const Row& x, const Centre& centre) const;

  const Kernel& kernel_;
  CsrSource source_;
  std::int64_t n_rows_, n_features_, longest_ = 0;
  template <class Value>
  void load_terms(std::int64_t row, std::int32_t* columns, Value* values) const;

  std::vector<std::int32_t> frequencies_;
  std::vector<double> norms_;
  double scale_[2];
  const double* factors_;
};

}  // namespace boostkmeans
