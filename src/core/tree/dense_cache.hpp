// A set of dense rows in the cache of a thread: flat, in float32, relative to the mean of the set.
//
// The composites of all sections add up to 0. Therefore, s sections need only s - 1 dot products
// per visit. SparseCache has the same interface.
#pragma once

#include <cstdint>
#include <vector>

#include "partition/partition.hpp"
#include "rows/dense_rows.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

// The transformation of the rows of a set: x -> (x - mean) * 2^exponent.
struct LocalFrame {
  std::vector<double> mean;
  std::vector<float> mean32;
  // true if the mean is subtracted in float64, because float32 would lose most digits of the difference
  bool wide = false;
  int exponent = 0;
};

// Loads rows, transformed by a local frame, flat and padded with zeros.
class LocalFrameLoader {
 public:
  explicit LocalFrameLoader(const DenseRows& rows)
      : rows_(rows),
        layout_(flat_layout(rows.n_features())),
        fetched_(rows) {}
  // Loads rows without a local frame, and |x|^2 of each.
  void load_plain(const std::int64_t* ids, std::int64_t count, float* out, float* norms) const;
  void load(const LocalFrame& frame, const std::int64_t* ids, std::int64_t count, float* out,
            float* norms) const;
  // Finds the local frame of these rows and loads them. Returns false if all rows are equal.
  bool find(const std::int64_t* ids, std::int64_t count, RowWeights weights, LocalFrame& frame,
            float* values, float* norms) const;
  std::int64_t step() const { return layout_.row_step; }

 private:
  bool find_wide(const std::int64_t* ids, std::int64_t count, RowWeights weights,
                 LocalFrame& frame) const;

  const DenseRows& rows_;
  Layout layout_;
  mutable DenseRows::Row fetched_;
};

// Separates s sections by s - 1 dot products. The section of a row x is the one with the largest x
// . direction - threshold, where the last section has the value 0.
struct DenseCut {
  LocalFrame frame;
  std::vector<float> directions;        // (s - 1) x step
  std::vector<float> thresholds;        // s - 1
  std::vector<float> plain_thresholds;  // the same for rows loaded without the local frame
};

class DenseCache {
 public:
  using Cut = DenseCut;

  DenseCache(const DenseRows& rows, std::int64_t n_sections, std::int64_t capacity);

  // Number of rows that fit into the cache. Larger sets are sectioned by a sample.
  static std::int64_t capacity(const DenseRows& rows, std::int64_t n_sections);
  // Number of rows of a large set that are assigned at a time.
  static std::int64_t range_rows(const DenseRows& rows);

  // Loads rows, at most the capacity. Returns false if all are equal.
  bool load(const std::int64_t* ids, std::int64_t count, RowWeights weights);

  double norm(std::int64_t i) const { return norms_[i]; }
  // x . (weighted sum of all rows), which is the sum of x . composite over all sections.
  double dot_all(std::int64_t) const { return 0.0; }
  // Contribution of the mean to |x|^2, averaged over the rows. It is 0, because the mean is already
  // subtracted.
  double shift(std::int64_t) const { return 0.0; }
  // Distances in the cache are 2^exponent times the distances between rows.
  int exponent() const { return frame_.exponent; }
  // Computes the dot products of all rows with one of them.
  void dots_with(std::int64_t row, float* out) const;

  // Composites of all sections except the last: set to 0, add a row.
  void clear();
  void add(std::int64_t i, std::int64_t section, double weight) {
    kernel_.flat_add(composite(section), copies_.get() + section * step_, row(i), weight, step_);
  }
  // Computes |composite|^2 of all sections.
  void squares(double* out) const;
  // x . composite, for several rows in float32, or for one row in float64.
  void dots(std::int64_t begin, std::int64_t count, std::int64_t section, float* out) const {
    kernel_.flat_dots(row(begin), step_, count, copies_.get() + section * step_, step_, out);
  }
  double dot(std::int64_t i, std::int64_t section) const {
    return kernel_.flat_dot(row(i), composite(section), step_);
  }

  // `inverse` and `offsets` have 1 / W and |C|^2 of each section.
  Cut cut(const std::vector<double>& inverse, const std::vector<double>& offsets) const;
  // Assigns other rows to sections by a cut. With `with_inertias`, the cache then contains these rows in
  // the local frame of the cut.
  void assign(const Cut& cut, const std::int64_t* ids, std::int64_t count, bool with_inertias,
              std::int32_t* sections);

  // True if the composites of all sections add up to 0.
  static constexpr bool kCentred = true;
  // True if the inertia of a large set can be computed as a sum over ranges of its rows.
  static constexpr bool kHasAdditiveInertia = true;
  void add_to(double* composite, std::int64_t i, double weight) {
    kernel_.flat_add(composite, scratch_.get(), row(i), weight, step_);
  }
  std::int64_t width() const { return step_; }

 private:
  static constexpr std::int64_t kBlock = 16;

  const float* row(std::int64_t i) const { return values_.get() + i * step_; }
  double* composite(std::int64_t section) { return composites_.get() + section * step_; }
  const double* composite(std::int64_t section) const { return composites_.get() + section * step_; }

  const Kernel& kernel_;
  LocalFrameLoader loader_;
  std::int64_t step_, last_;
  std::int64_t count_ = 0;
  LocalFrame frame_;
  Buffer<float> values_, norms_;
  Buffer<double> composites_;  // (s - 1) x step
  Buffer<float> copies_;       // the same in float32
  Buffer<float> scratch_;
};

}  // namespace boostkmeans
