// A set of dense rows in a thread's cache: flat, in float32, with the mean of the set taken off.
//
// So the composites of all sections add up to 0: s sections need s - 1 dot products a visit, two
// sections just one. What it holds is the seam that sparse sets share (see sparse_held.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "partition/partition.hpp"
#include "rows/dense_rows.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

// Where a set lies: its rows are held as (x - mean) * 2^exponent.
struct Place {
  std::vector<double> mean;
  std::vector<float> mean32;
  bool wide = false;  // the mean is taken off in float64: float32 would keep little of the difference
  int exponent = 0;
};

// Loads rows into a place: flat, zero-padded.
class PlaceLoader {
 public:
  explicit PlaceLoader(const DenseRows& rows)
      : rows_(rows),
        layout_(flat_layout(rows.n_features())),
        fetched_(rows) {}
  // Rows as they are in their frame, and |x|^2.
  void load_plain(const std::int64_t* ids, std::int64_t count, float* out, float* norms) const;
  void load(const Place& place, const std::int64_t* ids, std::int64_t count, float* out,
            float* norms) const;
  // The place of these rows (which `values` and `norms` then hold), or false if all rows are equal.
  bool find(const std::int64_t* ids, std::int64_t count, RowWeights weights, Place& place, float* values,
            float* norms) const;
  std::int64_t step() const { return layout_.row_step; }

 private:
  bool find_wide(const std::int64_t* ids, std::int64_t count, RowWeights weights, Place& place) const;

  const DenseRows& rows_;
  Layout layout_;
  mutable DenseRows::Row fetched_;
};

// Tells the section of a row by s - 1 dot products: the section with the largest x . h - t, where the
// last section counts 0.
struct DenseCut {
  Place place;
  std::vector<float> directions;        // (s - 1) x step
  std::vector<float> thresholds;        // s - 1
  std::vector<float> plain_thresholds;  // the same for rows whose mean was not taken off
};

class DenseHeld {
 public:
  using Cut = DenseCut;

  DenseHeld(const DenseRows& rows, std::int64_t n_sections, std::int64_t capacity);

  // Rows that can be held while they are sectioned. More are sectioned by a sample.
  static std::int64_t capacity(const DenseRows& rows, std::int64_t n_sections);
  // Rows that are held at once otherwise.
  static std::int64_t span_rows(const DenseRows& rows);

  // Holds the rows `ids` (at most the capacity); false if all are equal.
  bool hold(const std::int64_t* ids, std::int64_t count, RowWeights weights);

  double norm(std::int64_t i) const { return norms_[i]; }
  // x . (sum of all rows, by their weights): the composites of all sections add up to that.
  double dot_all(std::int64_t) const { return 0.0; }
  // What the mean takes off |x|^2, on the average: nothing, as it is off already.
  double shift(std::int64_t) const { return 0.0; }
  // Distances here are 2^exponent times those of the rows.
  int exponent() const { return place_.exponent; }
  // x . y of all rows and one of them.
  void dots_with(std::int64_t row, float* out) const;

  // Composites, of all sections but the last.
  void clear();
  void add(std::int64_t i, std::int64_t section, double weight) {
    kernel_.flat_add(composite(section), copies_.get() + section * step_, held(i), weight, step_);
  }
  // |D|^2 of all sections.
  void squares(double* out) const;
  // x . D of some rows, in float32, and of one in float64.
  void dots(std::int64_t begin, std::int64_t count, std::int64_t section, float* out) const {
    kernel_.flat_dots(held(begin), step_, count, copies_.get() + section * step_, step_, out);
  }
  double dot(std::int64_t i, std::int64_t section) const {
    return kernel_.flat_dot(held(i), composite(section), step_);
  }

  // `inverse` and `offsets` by section: 1 / W and |C|^2.
  Cut cut(const std::vector<double>& inverse, const std::vector<double>& offsets) const;
  // Sections of other rows by a cut. If `measured`, these rows are held in the place of the cut
  // afterwards.
  void follow(const Cut& cut, const std::int64_t* ids, std::int64_t count, bool measured,
              std::int32_t* sections);

  // Whether the composites of all sections add up to 0.
  static constexpr bool kCentred = true;
  // Whether inertias of large sets can be had as sums over spans of the rows that followed.
  static constexpr bool kAddsUp = true;
  void add_to(double* composite, std::int64_t i, double weight) {
    kernel_.flat_add(composite, scratch_.get(), held(i), weight, step_);
  }
  std::int64_t width() const { return step_; }

 private:
  static constexpr std::int64_t kBlock = 16;

  const float* held(std::int64_t i) const { return values_.get() + i * step_; }
  double* composite(std::int64_t section) { return composites_.get() + section * step_; }
  const double* composite(std::int64_t section) const { return composites_.get() + section * step_; }

  const Kernel& kernel_;
  PlaceLoader loader_;
  std::int64_t step_, last_;
  std::int64_t count_ = 0;
  Place place_;
  Buffer<float> values_, norms_;
  Buffer<double> composites_;  // (s - 1) x step
  Buffer<float> copies_;       // the same in float32
  Buffer<float> scratch_;
};

}  // namespace boostkmeans
