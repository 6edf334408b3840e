// A set of rows in a thread's cache, and boost k-means into a few sections on it.
//
// Rows are held flat, in float32, with the mean of the set taken off. So the composites of all sections
// add up to 0: s sections need s - 1 dot products a visit, two sections just one.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "buffer.hpp"
#include "dense_rows.hpp"
#include "partition.hpp"
#include "random.hpp"

namespace boostkmeans {

// Inertia of a set by its definition, in float64; 0 if `stop` said so on the way.
double inertia_of(const DenseRows& rows, RowWeights weights, const std::int64_t* ids,
                  std::int64_t count, const std::function<bool()>& stop);
// Inertia as a difference, sum of weight * |x|^2 - |composite|^2 / weight, of float32 rows; NaN where too
// little would be left of it to be trusted.
double inertia_between(double energy, double square, double weight);

enum class SectionStart : int { random_partition, random, plus_plus };

struct SectionOptions {
  std::int64_t n_sections;
  SectionStart start;
  std::int64_t max_passes;
  double tol;  // passes end once one of them gains less than this share of the set's inertia
};

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
      : rows_(rows), layout_(flat_layout(rows.n_features())), fetched_(rows.n_features()) {}
  // Rows as they are in their frame, and |x|^2.
  void load_plain(const std::int64_t* ids, std::int64_t count, float* out, float* norms) const;
  void load(const Place& place, const std::int64_t* ids, std::int64_t count, float* out,
            float* norms) const;
  // The place of these rows (which `values` and `norms` then hold), or false if all rows are equal.
  bool find(const std::int64_t* ids, std::int64_t count, RowWeights weights, Place& place,
            float* values, float* norms) const;
  std::int64_t step() const { return layout_.row_step; }

 private:
  bool find_wide(const std::int64_t* ids, std::int64_t count, RowWeights weights, Place& place) const;

  const DenseRows& rows_;
  Layout layout_;
  Buffer<double> fetched_;
};

// Tells the section of a row by s - 1 dot products: the section with the largest x . h - t, where the
// last section counts 0.
struct Cut {
  Place place;
  std::vector<float> directions;  // (s - 1) x step
  std::vector<float> thresholds;  // s - 1
  std::vector<float> plain_thresholds;  // the same for rows whose mean was not taken off
};

class Sectioning {
 public:
  Sectioning(const DenseRows& rows, const SectionOptions& options, std::int64_t capacity);

  // Sections the rows `ids` (at most the capacity); false if all are equal.
  bool run(const std::int64_t* ids, std::int64_t count, RowWeights weights, std::uint64_t seed);

  std::int32_t section(std::int64_t i) const { return sections_[static_cast<std::size_t>(i)]; }
  double weight(std::int64_t section) const { return weight_[static_cast<std::size_t>(section)]; }
  double inertia(std::int64_t section) const;
  Cut cut() const;

  // Sections of other rows by a cut. If `with_norms`, the rows are held in the cut's place afterwards.
  void apply(const Cut& cut, const std::int64_t* ids, std::int64_t count, bool with_norms,
             std::int32_t* sections);
  const float* held(std::int64_t i) const { return values_.get() + i * step_; }
  float norm(std::int64_t i) const { return norms_[i]; }

 private:
  static constexpr std::int64_t kBlock = 16;  // rows that propose from the same composites

  void start(Random& random);
  void start_random_partition(Random& random);
  void start_from_rows(Random& random);
  std::int64_t draw_row(Random& random, const std::vector<float>& potential) const;
  void sum_up();
  double pass();
  double decide(std::int64_t i, std::int32_t to);
  double row_weight(std::int64_t i) const { return weights_[ids_[i]]; }
  double dot(std::int64_t i, std::int32_t section) const;
  double distance(double norm, double dot, std::int32_t section) const;
  void refresh(std::int32_t section);
  bool may_leave_section(std::int32_t section, double weight) const;
  double* composite(std::int64_t section) { return composites_.get() + section * step_; }
  const double* composite(std::int64_t section) const { return composites_.get() + section * step_; }

  const DenseRows& rows_;
  const Kernel& kernel_;
  SectionOptions options_;
  PlaceLoader loader_;
  std::int64_t step_;
  Place place_;
  const std::int64_t* ids_ = nullptr;
  std::int64_t count_ = 0;
  RowWeights weights_{nullptr};
  double energy_ = 0.0;  // sum of weight * |x|^2 in the place
  Buffer<float> values_, norms_;
  Buffer<double> composites_;  // of all sections but the last: (s - 1) x step
  Buffer<float> copies_;       // the same in float32
  Buffer<float> dots_;         // (s - 1) x kBlock
  std::vector<std::int32_t> sections_;
  std::vector<double> weight_, square_;  // by section: sum of weights, |composite|^2
  std::vector<double> inverse_, offset_, leave_, enter_;  // see refresh
  std::vector<std::int64_t> members_;
};

}  // namespace boostkmeans
