// Lloyd's iterations over the rows of a set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tree/section_sums.hpp"
#include "tree/set_rows.hpp"
#include "tree/workers.hpp"

namespace boostkmeans {

// An iteration assigns all rows to the nearest centre, and then computes the centres. Rows are assigned in
// parallel. The sums are added up in a fixed order.
template <class Rows>
class LloydPasses {
 public:
  using Row = typename Rows::Row;

  LloydPasses(SetRows<Rows>& set, SectionSums<Rows>& sums, Workers& workers)
      : set_(set),
        sums_(sums),
        workers_(workers),
        ranges_(set.count(), 1),
        moves_(static_cast<std::size_t>(ranges_.size())) {}

  // Makes one iteration. Returns the number of rows that changed their section, or 0 if a stop was
  // requested.
  std::int64_t pass() {
    next_ = sums_.sections();
    const bool assigned = workers_.for_each(ranges_.size(), [&](std::int64_t r, int worker) {
      std::int64_t& moves = moves_[static_cast<std::size_t>(r)] = 0;
      set_.for_range(ranges_.begin(r), ranges_.end(r), worker, [&](std::int64_t i, const Row& x) {
        const std::int32_t nearest = nearest_section(i, x);
        moves += nearest != sums_.section(i);
        next_[static_cast<std::size_t>(i)] = nearest;
      });
    });
    if (!assigned) return 0;
    sums_.sections().swap(next_);
    if (!fill_empty_sections() || !sums_.sum_up(set_, workers_)) return 0;
    std::int64_t moves = 0;
    for (const std::int64_t n : moves_) moves += n;
    return moves;
  }

 private:
  // Ties go to the section of the row, then to the section with the lower number.
  std::int32_t nearest_section(std::int64_t i, const Row& x) const {
    std::int32_t best = sums_.section(i);
    double closest = sums_.distance(x, best);
    for (std::int32_t s = 0; s < static_cast<std::int32_t>(sums_.n_sections()); ++s) {
      if (s == sums_.section(i)) continue;
      const double squared = sums_.distance(x, s);
      if (squared < closest) closest = squared, best = s;
    }
    return best;
  }

  // Moves the row that is farthest from its centre to each section that became empty. This row is not the
  // only one of its section.
  bool fill_empty_sections() {
    std::vector<std::int32_t>& sections = sums_.sections();
    std::vector<std::int64_t> members(static_cast<std::size_t>(sums_.n_sections()), 0);
    for (const std::int32_t s : sections) ++members[static_cast<std::size_t>(s)];
    for (std::int64_t s = 0; s < sums_.n_sections(); ++s) {
      if (members[static_cast<std::size_t>(s)] > 0) continue;
      const std::int64_t row = farthest_row(members);
      if (row < 0) return false;
      --members[static_cast<std::size_t>(sections[static_cast<std::size_t>(row)])];
      ++members[static_cast<std::size_t>(s)];
      sections[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(s);
    }
    return true;
  }

  // Returns -1 if a stop was requested. Of equal distances, the first counts.
  std::int64_t farthest_row(const std::vector<std::int64_t>& members) {
    struct Candidate {
      double distance = -1.0;
      std::int64_t row = -1;
    };
    std::vector<Candidate> found(static_cast<std::size_t>(ranges_.size()));
    const bool done = workers_.for_each(ranges_.size(), [&](std::int64_t r, int worker) {
      Candidate& best = found[static_cast<std::size_t>(r)];
      set_.for_range(ranges_.begin(r), ranges_.end(r), worker, [&](std::int64_t i, const Row& x) {
        const std::int32_t s = sums_.section(i);
        if (members[static_cast<std::size_t>(s)] < 2) return;
        const double distance = sums_.distance(x, s);
        if (distance > best.distance) best = {distance, i};
      });
    });
    if (!done) return -1;
    Candidate best;
    for (const Candidate& candidate : found)
      if (candidate.distance > best.distance) best = candidate;
    return best.row;
  }

  SetRows<Rows>& set_;
  SectionSums<Rows>& sums_;
  Workers& workers_;
  SumRanges ranges_;
  std::vector<std::int64_t> moves_;  // by range
  std::vector<std::int32_t> next_;   // by row
};

}  // namespace boostkmeans
