// Sections of a set of rows: the section of each row, and the composites of the sections in float64.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "partition/partition.hpp"
#include "rows/centre.hpp"
#include "sections/set_rows.hpp"
#include "sections/workers.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

template <class Rows>
class SectionSums {
 public:
  using Row = typename Rows::Row;

  SectionSums(const Rows& rows, std::int64_t n_sections)
      : rows_(rows),
        n_sections_(n_sections),
        n_features_(rows.n_features()),
        composites_(n_sections * rows.n_features()),
        weight_(static_cast<std::size_t>(n_sections)),
        inverse_(weight_),
        square_(weight_),
        largest_(weight_),
        members_(static_cast<std::size_t>(n_sections)) {}

  std::int64_t n_sections() const { return n_sections_; }
  std::vector<std::int32_t>& sections() { return sections_; }
  const std::vector<std::int32_t>& sections() const { return sections_; }
  std::int32_t section(std::int64_t i) const { return sections_[static_cast<std::size_t>(i)]; }
  double weight(std::int64_t s) const { return weight_[static_cast<std::size_t>(s)]; }
  std::int64_t members(std::int64_t s) const { return members_[static_cast<std::size_t>(s)]; }
  const double* composite(std::int64_t s) const { return composites_.get() + s * n_features_; }
  double inverse(std::int64_t s) const { return inverse_[static_cast<std::size_t>(s)]; }
  Centre centre(std::int64_t s) const {
    const auto at = static_cast<std::size_t>(s);
    return {composite(s), inverse_[at], square_[at]};
  }
  double distance(const Row& x, std::int64_t s) const { return rows_.distance(x, centre(s)); }

  // As `may_leave` of a partition.
  bool may_leave(std::int64_t s, double row_weight) const {
    constexpr double kResolution = 1e-15;
    const auto at = static_cast<std::size_t>(s);
    return members_[at] > 1 && weight_[at] - row_weight > kResolution * weight_[at];
  }

  // Computes all sums from the sections of the rows. Returns false if a stop was requested.
  bool sum_up(SetRows<Rows>& set, Workers& workers) {
    const std::int64_t width = n_sections_ * n_features_;
    const SumRanges ranges(set.count(), width);
    std::vector<Buffer<double>> partials;
    for (std::int64_t r = 1; r < ranges.size(); ++r) partials.emplace_back(width);
    const bool done = workers.for_each(ranges.size(), [&](std::int64_t r, int worker) {
      double* sums = r == 0 ? composites_.get() : partials[static_cast<std::size_t>(r - 1)].get();
      std::fill_n(sums, width, 0.0);
      set.for_range(ranges.begin(r), ranges.end(r), worker, [&](std::int64_t i, const Row& x) {
        rows_.add(x, set.weight(i), sums + section(i) * n_features_);
      });
    });
    if (!done) return false;
    for (const Buffer<double>& partial : partials)
      for (std::int64_t j = 0; j < width; ++j) composites_[j] += partial[j];
    std::ranges::fill(weight_, 0.0);
    std::ranges::fill(members_, 0);
    for (std::int64_t i = 0; i < set.count(); ++i) {
      weight_[static_cast<std::size_t>(section(i))] += set.weight(i);
      ++members_[static_cast<std::size_t>(section(i))];
    }
    for (std::int64_t s = 0; s < n_sections_; ++s) {
      renew_square(s);
      renew_inverse(s);
    }
    return true;
  }

  // Adds changes of all sums. A section that becomes empty gets the composite 0.
  void add(const Buffer<double>& composites, const std::vector<double>& weights,
           const std::vector<std::int64_t>& members) {
    for (std::int64_t j = 0; j < n_sections_ * n_features_; ++j) composites_[j] += composites[j];
    for (std::int64_t s = 0; s < n_sections_; ++s) {
      const auto at = static_cast<std::size_t>(s);
      weight_[at] += weights[at];
      members_[at] += members[at];
      if (members_[at] == 0) {
        weight_[at] = 0.0;
        std::fill_n(composites_.get() + s * n_features_, n_features_, 0.0);
      }
      renew_square(s);
      renew_inverse(s);
    }
  }

  // Moves row i, whose values are x, to another section.
  void move(std::int64_t i, const Row& x, double row_weight, std::int32_t to) {
    const std::int32_t from = section(i);
    change(from, x, -row_weight);
    change(to, x, row_weight);
    --members_[static_cast<std::size_t>(from)];
    ++members_[static_cast<std::size_t>(to)];
    sections_[static_cast<std::size_t>(i)] = to;
  }

 private:
  void change(std::int64_t s, const Row& x, double row_weight) {
    const auto at = static_cast<std::size_t>(s);
    const double step = rows_.add(x, row_weight, composites_.get() + s * n_features_);
    weight_[at] += row_weight;
    renew_inverse(s);
    if constexpr (Rows::kSparse) {
      // Rounding errors of the previous, larger values would dominate a small value.
      constexpr double kSmall = 1.0 / 16.0;
      square_[at] = std::max(0.0, square_[at] + step);
      largest_[at] = std::max(largest_[at], square_[at]);
      if (square_[at] < kSmall * largest_[at]) renew_square(s);
    }
  }
  void renew_square(std::int64_t s) {
    if constexpr (Rows::kSparse)
      square_[static_cast<std::size_t>(s)] = largest_[static_cast<std::size_t>(s)] =
          rows_.centre(composite(s), 1.0).square;
  }
  void renew_inverse(std::int64_t s) {
    const auto at = static_cast<std::size_t>(s);
    inverse_[at] = weight_[at] > 0.0 ? 1.0 / weight_[at] : 0.0;
  }

  const Rows& rows_;
  std::int64_t n_sections_, n_features_;
  std::vector<std::int32_t> sections_;  // by row
  Buffer<double> composites_;           // s x d
  // By section: sum of weights, its inverse, |composite|^2 (only for sparse rows) and its largest value.
  std::vector<double> weight_, inverse_, square_, largest_;
  std::vector<std::int64_t> members_;
};

}  // namespace boostkmeans
