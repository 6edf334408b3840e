// A set of rows that a thread holds, and boost k-means into a few sections on it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "partition/partition.hpp"
#include "support/random.hpp"
#include "tree/dense_cache.hpp"
#include "tree/sparse_cache.hpp"

namespace boostkmeans {

// Inertia of a set by its definition, in float64; 0 if `stop` said so on the way.
template <class Rows>
double inertia_of(const Rows& rows, RowWeights weights, const std::int64_t* ids, std::int64_t count,
                  const std::function<bool()>& stop);
// Inertia as a difference, sum of weight * |x|^2 - |composite|^2 / weight, of float32 rows; NaN where
// too little would be left of it to be trusted.
double inertia_between(double energy, double square, double weight);

enum class SectionStart : int { random_partition, random, plus_plus };

struct SectionOptions {
  std::int64_t n_sections;
  SectionStart start;
  std::int64_t max_passes;
  double tol;  // passes end once one of them gains less than this share of the set's inertia
};

// How rows are held.
template <class Rows>
struct HeldAs;
template <>
struct HeldAs<DenseRows> {
  using type = DenseHeld;
};
template <>
struct HeldAs<SparseRows> {
  using type = SparseHeld;
};

template <class Rows>
class Sectioning {
 public:
  using Held = typename HeldAs<Rows>::type;
  using Cut = typename Held::Cut;

  Sectioning(const Rows& rows, const SectionOptions& options, std::int64_t capacity);

  // Sections the rows `ids` (at most the capacity); false if all are equal.
  bool run(const std::int64_t* ids, std::int64_t count, RowWeights weights, std::uint64_t seed);

  std::int32_t section(std::int64_t i) const { return sections_[static_cast<std::size_t>(i)]; }
  double weight(std::int64_t section) const { return weight_[static_cast<std::size_t>(section)]; }
  double inertia(std::int64_t section) const;
  Cut cut() const { return held_.cut(inverse_, offset_); }
  Held& held() { return held_; }

 private:
  static constexpr std::int64_t kBlock = 16;  // rows that propose from the same composites

  // Of two sections: a row of this one gains by going over if norm * |x|^2 + dot * (x . D) > least.
  struct Crossing {
    double norm = 0.0, dot = 0.0, least = 0.0;
  };

  void start(Random& random);
  void start_random_partition(Random& random);
  void start_from_rows(Random& random);
  std::int64_t draw_row(Random& random, const std::vector<float>& potential) const;
  void sum_up();
  double pass();
  double pass_halves();
  double decide(std::int64_t i, std::int32_t to);
  double row_weight(std::int64_t i) const { return weights_[ids_[i]]; }
  double dot(std::int64_t i, std::int32_t section) const;
  double distance(double norm, double dot, std::int32_t section) const;
  void refresh(std::int32_t section);
  void refresh_crossings();
  bool may_leave_section(std::int32_t section, double weight) const;

  const Rows& rows_;
  SectionOptions options_;
  Held held_;
  const std::int64_t* ids_ = nullptr;
  std::int64_t count_ = 0;
  RowWeights weights_{nullptr};
  std::vector<float> dots_;  // (s - 1) x kBlock
  std::vector<std::int32_t> sections_;
  std::vector<double> weight_, square_;                   // by section: sum of weights, |composite|^2
  std::vector<double> inverse_, offset_, leave_, enter_;  // see refresh
  Crossing crossing_[2];
  std::vector<std::int64_t> members_;
};

}  // namespace boostkmeans
