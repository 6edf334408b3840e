// A set of sparse rows that a thread holds: their terms, in float64, one row after the other.
//
// The same seam as DenseHeld. No mean is taken off; instead each row knows its dot product with the sum
// of all of them, so that s sections need s - 1 dot products a visit here too.
#pragma once

#include <cstdint>
#include <vector>

#include "partition/partition.hpp"
#include "rows/sparse_rows.hpp"

namespace boostkmeans {

// Tells the section of a row by s - 1 dot products: the section with the largest x . h - t, where the
// last section counts 0.
struct SparseCut {
  std::vector<double> directions;  // (s - 1) x d
  std::vector<double> thresholds;  // s - 1
};

class SparseHeld {
 public:
  using Cut = SparseCut;

  SparseHeld(const SparseRows& rows, std::int64_t n_sections, std::int64_t capacity);

  static std::int64_t capacity(const SparseRows& rows, std::int64_t n_sections);
  static std::int64_t span_rows(const SparseRows&) { return 1024; }

  bool hold(const std::int64_t* ids, std::int64_t count, RowWeights weights);

  double norm(std::int64_t i) const { return norms_[static_cast<std::size_t>(i)]; }
  double dot_all(std::int64_t i) const { return dots_all_[static_cast<std::size_t>(i)]; }
  // What the mean takes off |x|^2, on the average: x . mean.
  double shift(std::int64_t i) const { return dot_all(i) * inverse_all_; }
  int exponent() const { return 0; }
  void dots_with(std::int64_t row, float* out) const;

  void clear();
  void add(std::int64_t i, std::int64_t section, double weight);
  void squares(double* out) const;
  void dots(std::int64_t begin, std::int64_t count, std::int64_t section, float* out) const {
    for (std::int64_t r = 0; r < count; ++r) out[r] = static_cast<float>(dot(begin + r, section));
  }
  double dot(std::int64_t i, std::int64_t section) const {
    return dot_with(i, composites_.data() + section * n_features_);
  }

  Cut cut(const std::vector<double>& inverse, const std::vector<double>& offsets) const;
  void follow(const Cut& cut, const std::int64_t* ids, std::int64_t count, bool measured,
              std::int32_t* sections);

  static constexpr bool kCentred = false;
  // The composite of a span would have all features: inertias are measured afterwards.
  static constexpr bool kAddsUp = false;

 private:
  std::size_t begin(std::int64_t i) const { return starts_[static_cast<std::size_t>(i)]; }
  double dot_with(std::int64_t i, const double* dense) const {
    double sum = 0.0;
    for (std::size_t t = begin(i); t < begin(i + 1); ++t) sum += values_[t] * dense[columns_[t]];
    return sum;
  }
  void forget();
  bool all_equal(const std::int64_t* ids, std::int64_t count);

  const SparseRows& rows_;
  std::int64_t n_features_, last_, count_ = 0;
  SparseRows::Row fetched_;
  std::vector<std::int32_t> columns_;
  std::vector<double> values_;
  std::vector<std::size_t> starts_;
  std::vector<double> norms_, dots_all_;
  double inverse_all_ = 0.0;         // of the weight of all rows
  std::vector<std::int32_t> terms_;  // that occur in these rows, each once
  // These have all features, and are 0 but for those terms.
  std::vector<unsigned char> occurs_;
  std::vector<double> sum_;
  std::vector<double> composites_;  // (s - 1) x d
  mutable std::vector<double> scratch_;
};

}  // namespace boostkmeans
