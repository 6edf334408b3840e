// Boost k-means of a cached set of rows into a few sections.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "partition/partition.hpp"
#include "sections/section_start.hpp"
#include "support/random.hpp"
#include "tree/dense_cache.hpp"
#include "tree/sparse_cache.hpp"

namespace boostkmeans {

// Computes the inertia of a set in float64 from its definition. Returns 0 if `stop` returned true.
template <class Rows>
double inertia_of(const Rows& rows, RowWeights weights, const std::int64_t* ids, std::int64_t count,
                  const std::function<bool()>& stop);
// Computes the inertia of float32 rows as the difference sum of weight * |x|^2 - |composite|^2 / weight.
// Returns NaN if rounding errors would dominate.
double inertia_between(double sum_of_squares, double square, double weight);

struct SectionOptions {
  std::int64_t n_sections;
  SectionStart start;
  std::int64_t max_passes;
  double tol;  // stop after a pass that gains less than this fraction of the inertia of the set
};

// The cache for each kind of rows.
template <class Rows>
struct CacheFor;
template <>
struct CacheFor<DenseRows> {
  using type = DenseCache;
};
template <>
struct CacheFor<SparseRows> {
  using type = SparseCache;
};

template <class Rows>
class Sectioning {
 public:
  using Cache = typename CacheFor<Rows>::type;
  using Cut = typename Cache::Cut;

  Sectioning(const Rows& rows, const SectionOptions& options, std::int64_t capacity);

  // Divides rows, at most the capacity, into sections. Returns false if all rows are equal.
  bool run(const std::int64_t* ids, std::int64_t count, RowWeights weights, std::uint64_t seed);

  // Takes over sections that were found elsewhere. Returns false if all rows are equal.
  bool adopt(const std::int64_t* ids, std::int64_t count, RowWeights weights,
             const std::vector<std::int32_t>& sections, std::int64_t n_passes);

  std::int32_t section(std::int64_t i) const { return sections_[static_cast<std::size_t>(i)]; }
  double weight(std::int64_t section) const { return weight_[static_cast<std::size_t>(section)]; }
  double inertia(std::int64_t section) const;
  // Number of passes of the last run.
  std::int64_t n_passes() const { return n_passes_; }
  Cut cut() const { return cache_.cut(inverse_, offset_); }
  Cache& cache() { return cache_; }

 private:
  static constexpr std::int64_t kBlock = 16;  // number of rows that propose from the same composites

  // For two sections: a row gains by leaving its section if norm * |x|^2 + dot * (x . composite) >
  // least.
  struct Crossing {
    double norm = 0.0, dot = 0.0, least = 0.0;
  };

  bool load(const std::int64_t* ids, std::int64_t count, RowWeights weights);
  void start(Random& random);
  void start_random_partition(Random& random);
  void start_from_rows(Random& random);
  std::int64_t draw_row(Random& random, const std::vector<float>& potential) const;
  void sum_up();
  double pass();
  template <bool weighted>
  double pass_sections();
  template <bool weighted>
  std::int32_t better_section(std::int64_t i, std::int64_t r) const;
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
  Cache cache_;
  const std::int64_t* ids_ = nullptr;
  std::int64_t count_ = 0, n_passes_ = 0;
  RowWeights weights_{nullptr};
  std::vector<float> dots_;  // (s - 1) x kBlock
  std::vector<std::int32_t> sections_;
  std::vector<double> weight_, square_;                   // by section: sum of weights, |composite|^2
  std::vector<double> inverse_, offset_, leave_, enter_;  // see refresh
  Crossing crossing_[2];
  std::vector<std::int64_t> members_;
};

}  // namespace boostkmeans
