// First sections of a set, in float64.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sections/set_rows.hpp"
#include "sections/workers.hpp"
#include "support/random.hpp"

namespace boostkmeans {

enum class SectionStart : std::uint8_t { random_partition, random, plus_plus };

// Assigns rows to sections of equal size at random.
inline void start_random_partition(std::int64_t n_sections, Random& random,
                                   std::vector<std::int32_t>& sections) {
  for (std::size_t i = 0; i < sections.size(); ++i)
    sections[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) % n_sections);
  for (auto i = static_cast<std::int64_t>(sections.size()) - 1; i > 0; --i)
    std::swap(sections[static_cast<std::size_t>(i)],
              sections[static_cast<std::size_t>(random_below(random.bits(), i + 1))]);
}

// Assigns rows to the nearest of s rows, which are drawn uniformly or by k-means++, that is, in
// proportion to weight * squared distance to the nearest row drawn before.
template <class Rows>
class StartFromRows {
 public:
  using Row = typename Rows::Row;

  StartFromRows(SetRows<Rows>& set, Workers& workers, bool by_distance)
      : set_(set),
        workers_(workers),
        by_distance_(by_distance),
        ranges_(set.count(), 1),
        totals_(static_cast<std::size_t>(ranges_.size())),
        closest_(static_cast<std::size_t>(set.count()), std::numeric_limits<double>::infinity()) {}

  // Returns false if a stop was requested.
  bool run(std::int64_t n_sections, Random& random, std::vector<std::int32_t>& sections) {
    for (std::int64_t s = 0; s < n_sections; ++s) {
      const std::int64_t drawn = by_distance_ ? draw_by_distance(s, random) : draw_any(random);
      if (!assign(drawn, static_cast<std::int32_t>(s), sections)) return false;
      // A drawn row stays in its section and is not drawn again.
      closest_[static_cast<std::size_t>(drawn)] = kDrawn;
    }
    return true;
  }

 private:
  static constexpr double kDrawn = -1.0;

  // Draws one of the rows that were not drawn before.
  std::int64_t draw_any(Random& random) const {
    for (;;) {
      const std::int64_t i = random_below(random.bits(), set_.count());
      if (closest_[static_cast<std::size_t>(i)] >= 0.0) return i;
    }
  }

  double potential(std::int64_t i, bool first) const {
    return set_.weight(i) * (first ? 1.0 : std::max(0.0, closest_[static_cast<std::size_t>(i)]));
  }

  // The first row is drawn in proportion to its weight.
  std::int64_t draw_by_distance(std::int64_t n_drawn, Random& random) {
    const bool first = n_drawn == 0;
    double total = 0.0;
    for (std::int64_t r = 0; r < ranges_.size(); ++r) {
      double& sum = totals_[static_cast<std::size_t>(r)] = 0.0;
      for (std::int64_t i = ranges_.begin(r); i < ranges_.end(r); ++i) sum += potential(i, first);
      total += sum;
    }
    if (!(total > 0.0)) return draw_any(random);  // all rows coincide with drawn rows
    double left = random.uniform() * total;
    std::int64_t range = 0, last = 0;
    while (range + 1 < ranges_.size() && left >= totals_[static_cast<std::size_t>(range)])
      left -= totals_[static_cast<std::size_t>(range++)];
    while (range > 0 && !(totals_[static_cast<std::size_t>(range)] > 0.0)) --range;
    for (std::int64_t i = ranges_.begin(range); i < ranges_.end(range); ++i) {
      const double p = potential(i, first);
      if (!(p > 0.0)) continue;
      last = i;
      left -= p;
      if (left < 0.0) break;
    }
    return last;
  }

  // Moves the rows that are closer to the drawn row than to all rows drawn before.
  bool assign(std::int64_t drawn, std::int32_t section, std::vector<std::int32_t>& sections) {
    Row to(set_.rows());
    set_.rows().fetch(set_.id(drawn), to);
    return workers_.for_each(ranges_.size(), [&](std::int64_t r, int worker) {
      set_.for_range(ranges_.begin(r), ranges_.end(r), worker, [&](std::int64_t i, const Row& x) {
        const auto at = static_cast<std::size_t>(i);
        const double squared = set_.rows().distance_between(x, to);
        if (i != drawn && !(squared < closest_[at])) return;
        closest_[at] = squared;
        sections[at] = section;
      });
    });
  }

  SetRows<Rows>& set_;
  Workers& workers_;
  bool by_distance_;
  SumRanges ranges_;
  std::vector<double> totals_;   // by range: sum of the potentials
  std::vector<double> closest_;  // squared distance to the nearest drawn row; kDrawn for drawn rows
};

// Sets the first sections of a set. Returns false if a stop was requested.
template <class Rows>
bool start_sections(SectionStart start, std::int64_t n_sections, SetRows<Rows>& set, Workers& workers,
                    Random& random, std::vector<std::int32_t>& sections) {
  sections.assign(static_cast<std::size_t>(set.count()), 0);
  if (start == SectionStart::random_partition) {
    start_random_partition(n_sections, random, sections);
    return true;
  }
  return StartFromRows<Rows>(set, workers, start == SectionStart::plus_plus)
      .run(n_sections, random, sections);
}

}  // namespace boostkmeans
