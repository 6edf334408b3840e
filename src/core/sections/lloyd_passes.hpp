// Lloyd's iterations over the rows of a set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sections/section_sums.hpp"
#include "sections/set_rows.hpp"
#include "sections/visit_bounds.hpp"
#include "sections/workers.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

// An iteration assigns all rows to the nearest centre, in parallel, and then updates the composites in a
// fixed order. Rows whose nearest centre is known from bounds of earlier iterations are not read.
template <class Rows>
class LloydPasses {
 public:
  using Row = typename Rows::Row;

  // Without `bounded`, every iteration reads all rows, with the same result.
  LloydPasses(SetRows<Rows>& set, SectionSums<Rows>& sums, Workers& workers, bool bounded)
      : set_(set),
        sums_(sums),
        workers_(workers),
        bounded_(bounded),
        width_(sums.n_sections() * set.rows().n_features()),
        ranges_(set.count(), width_),
        bounds_(sums) {
    for (std::int64_t r = 0; r < ranges_.size(); ++r) changes_.emplace_back(width_, sums.n_sections());
    if (bounded) bounds_.open(set.count(), set.rows().n_features(), 0.0);
  }

  // Makes one iteration. Returns the number of rows that changed their section. The result must not be
  // used if a stop was requested.
  std::int64_t pass() {
    if (bounded_) bounds_.begin_pass();
    const bool assigned =
        workers_.for_each(ranges_.size(), [&](std::int64_t r, int worker) { assign_range(r, worker); });
    if (!assigned) return 0;
    std::int64_t moves = 0;
    for (const Change& change : changes_) {
      moves += change.moves;
      if (change.moves > 0) sums_.add(change.composites, change.weights, change.members);
    }
    for (std::int32_t s = 0; s < static_cast<std::int32_t>(sums_.n_sections()); ++s)
      if (sums_.members(s) == 0 && !fill(s)) break;
    return moves;
  }

 private:
  // Changes of the sums by the rows of a range.
  struct Change {
    Change(std::int64_t width, std::int64_t n_sections)
        : composites(width),
          weights(static_cast<std::size_t>(n_sections)),
          members(static_cast<std::size_t>(n_sections)) {}
    Buffer<double> composites;
    std::vector<double> weights;
    std::vector<std::int64_t> members;
    std::int64_t moves = 0;
  };

  void assign_range(std::int64_t r, int worker) {
    Change& change = changes_[static_cast<std::size_t>(r)];
    std::fill_n(change.composites.get(), width_, 0.0);
    std::ranges::fill(change.weights, 0.0);
    std::ranges::fill(change.members, 0);
    change.moves = 0;
    constexpr std::int64_t kAhead = SetRows<Rows>::kAhead;
    const std::int64_t end = ranges_.end(r);
    for (std::int64_t i = ranges_.begin(r); i < end; ++i) {
      if (i + kAhead < end && may_move(i + kAhead)) set_.prefetch(i + kAhead);
      if (may_move(i)) assign_row(i, set_.at(i, worker), change);
    }
  }

  bool may_move(std::int64_t i) const { return !bounded_ || !bounds_.rules_out_move(bounds_.now(), i); }

  // Ties, up to rounding errors, go to the section of the row, so that iterations come to an end.
  void assign_row(std::int64_t i, const Row& x, Change& change) {
    constexpr double kRelative = 1e-12;
    const std::int32_t from = sums_.section(i);
    const double own = sums_.distance(x, from);
    double closest = own, second = std::numeric_limits<double>::infinity();
    std::int32_t to = from;
    for (std::int32_t s = 0; s < static_cast<std::int32_t>(sums_.n_sections()); ++s) {
      if (s == from) continue;
      const double squared = sums_.distance(x, s);
      if (squared < closest && squared < own - kRelative * own) {
        second = std::min(second, closest);
        closest = squared;
        to = s;
      } else {
        second = std::min(second, squared);
      }
    }
    if (to != from) move(i, x, to, change);
    if (!bounded_) return;
    const double noise = std::max(set_.rows().noise(x, closest), set_.rows().noise(x, second));
    bounds_.store(i, std::sqrt(closest + noise), std::sqrt(std::max(0.0, second - noise)));
  }

  void move(std::int64_t i, const Row& x, std::int32_t to, Change& change) {
    const std::int64_t d = set_.rows().n_features();
    const std::int32_t from = sums_.section(i);
    const double w = set_.weight(i);
    set_.rows().add(x, -w, change.composites.get() + from * d);
    set_.rows().add(x, w, change.composites.get() + to * d);
    change.weights[static_cast<std::size_t>(from)] -= w;
    change.weights[static_cast<std::size_t>(to)] += w;
    --change.members[static_cast<std::size_t>(from)];
    ++change.members[static_cast<std::size_t>(to)];
    ++change.moves;
    sums_.sections()[static_cast<std::size_t>(i)] = to;
  }

  // Moves the row that is farthest from its centre to an empty section. Returns false if a stop was
  // requested.
  bool fill(std::int32_t section) {
    const std::int64_t i = farthest_row();
    if (i < 0) return false;
    Row x(set_.rows());
    set_.rows().fetch(set_.id(i), x);
    sums_.move(i, x, set_.weight(i), section);
    if (bounded_) bounds_.forget(i);
    return true;
  }

  // Returns the row that is farthest from its centre and not the only one of its section, or -1 if a
  // stop was requested. Of equal distances, the first counts.
  std::int64_t farthest_row() {
    struct Candidate {
      double distance = -1.0;
      std::int64_t row = -1;
    };
    std::vector<Candidate> found(static_cast<std::size_t>(ranges_.size()));
    const bool done = workers_.for_each(ranges_.size(), [&](std::int64_t r, int worker) {
      Candidate& best = found[static_cast<std::size_t>(r)];
      set_.for_range(ranges_.begin(r), ranges_.end(r), worker, [&](std::int64_t i, const Row& x) {
        if (sums_.members(sums_.section(i)) < 2) return;
        const double distance = sums_.distance(x, sums_.section(i));
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
  bool bounded_;
  std::int64_t width_;
  SumRanges ranges_;
  VisitBounds<Rows> bounds_;
  std::vector<Change> changes_;  // by range
};

}  // namespace boostkmeans
