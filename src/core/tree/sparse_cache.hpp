// A set of sparse rows in the cache of a thread: their terms in float64, one row after the other.
//
// SparseCache has the same interface as DenseCache. The mean is not subtracted. Instead, the dot product
// of each row with the sum of all rows is stored, so that s sections need s - 1 dot products per visit,
// too.
#pragma once

#include <cstdint>
#include <vector>

#include "partition/partition.hpp"
#include "rows/sparse_rows.hpp"

namespace boostkmeans {

// Separates s sections by s - 1 dot products. The section of a row x is the one with the largest x
// . direction - threshold, where the last section has the value 0.
struct SparseCut {
  std::vector<double> directions;  // (s - 1) x d
  std::vector<double> thresholds;  // s - 1
};

class SparseCache {
 public:
  using Cut = SparseCut;

  SparseCache(const SparseRows& rows, std::int64_t n_sections, std::int64_t capacity);

  static std::int64_t capacity(const SparseRows& rows, std::int64_t n_sections);
  static std::int64_t range_rows(const SparseRows&) { return 1024; }

  bool load(const std::int64_t* ids, std::int64_t count, RowWeights weights);

  double norm(std::int64_t i) const { return norms_[static_cast<std::size_t>(i)]; }
  double dot_all(std::int64_t i) const { return dots_all_[static_cast<std::size_t>(i)]; }
  // Contribution of the mean to |x|^2, averaged over the rows: x . mean.
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
  void assign(const Cut& cut, const std::int64_t* ids, std::int64_t count, bool with_inertias,
              std::int32_t* sections);

  static constexpr bool kCentred = false;
  // The composite of a range would have all features, so inertias are computed afterwards.
  static constexpr bool kHasAdditiveInertia = false;

 private:
  std::size_t begin(std::int64_t i) const { return starts_[static_cast<std::size_t>(i)]; }
  double dot_with(std::int64_t i, const double* dense) const {
    double sum = 0.0;
    for (std::size_t t = begin(i); t < begin(i + 1); ++t) sum += values_[t] * dense[columns_[t]];
    return sum;
  }
  void reset();
  bool all_equal(const std::int64_t* ids, std::int64_t count);

  const SparseRows& rows_;
  std::int64_t n_features_, last_, count_ = 0;
  SparseRows::Row fetched_;
  std::vector<std::int32_t> columns_;
  std::vector<double> values_;
  std::vector<std::size_t> starts_;
  std::vector<double> norms_, dots_all_;
  double inverse_all_ = 0.0;         // 1 / weight of all rows
  std::vector<std::int32_t> terms_;  // terms that occur in these rows, each once
  // The following arrays have all features. They are 0 except for these terms.
  std::vector<unsigned char> occurs_;
  std::vector<double> sum_;
  std::vector<double> composites_;  // (s - 1) x d
  mutable std::vector<double> scratch_;
};

}  // namespace boostkmeans
