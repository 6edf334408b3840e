// Passes of boost k-means over the rows of a set, one row after the other.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "partition/partition.hpp"
#include "sections/section_sums.hpp"
#include "sections/set_rows.hpp"
#include "sections/visit_bounds.hpp"
#include "sections/visit_order.hpp"
#include "sections/workers.hpp"

namespace boostkmeans {

struct PassResult {
  std::int64_t moves = 0;
  double gain = 0.0;
};

// Every decision uses the composites of its moment, whatever the number of threads. In a large set, all
// threads compute the distances of a block of rows to the centres at the beginning of the block. Then
// one thread goes through the block in order. It skips rows whose distances show that they cannot gain
// by a move even now, and decides all others by their distances to the current centres.
//
// Rows that cannot gain according to bounds from earlier passes (VisitBounds) are not even read.
template <class Rows>
class BoostPasses {
 public:
  using Row = typename Rows::Row;

  // Without `bounded`, every pass reads and decides all rows, with the same result.
  BoostPasses(SetRows<Rows>& set, SectionSums<Rows>& sums, Workers& workers, bool bounded)
      : set_(set),
        sums_(sums),
        workers_(workers),
        bounded_(bounded),
        block_rows_(set.kept() ? kDirectRows : block_rows(set.rows())),
        bounds_(sums) {
    if (!bounded) return;
    double heaviest = 0.0;
    for (std::int64_t i = 0; i < set.count(); ++i) heaviest = std::max(heaviest, set.weight(i));
    bounds_.open(set.count(), set.rows().n_features(), heaviest);
  }

  // Visits all rows once. Must not be called again after a stop was requested.
  PassResult pass(const VisitOrder& order) {
    result_ = {};
    double slack = bounded_ ? bounds_.begin_pass() : kInfinity;
    if (first_) slack = kInfinity;  // there are no bounds yet
    first_ = false;
    VisitOrder::Place last{};
    const VisitOrder::Place* after = nullptr;
    for (int round = 1; !visit_round(order, after, slack, last) && !workers_.stopped(); ++round) {
      after = &last;
      slack = round < kMaxRounds ? kSlackGrowth * std::max(slack, bounds_.longest_step()) : kInfinity;
    }
    return result_;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // Number of rows of a small set between two measurements of the paths.
  static constexpr std::int64_t kDirectRows = 64;
  // Number of rows of a large set that a thread takes at a time.
  static constexpr std::int64_t kTaskRows = 16;
  // After this number of rounds, the bounds are not used in the rest of a pass.
  static constexpr int kMaxRounds = 8;
  static constexpr double kSlackGrowth = 4.0;

  // Number of rows of a large set whose distances are computed at a time.
  static std::int64_t block_rows(const Rows& rows) {
    constexpr std::int64_t kBytes = 1 << 22;  // of the rows in memory
    return std::clamp<std::int64_t>(kBytes / SetRows<Rows>::row_bytes(rows), 64, 4096);
  }

  // Visits the rows after a place that may move while no centre moves by more than `slack`. Returns
  // false if a centre moved farther, or a stop was requested. `last` is then the last place visited.
  bool visit_round(const VisitOrder& order, const VisitOrder::Place* after, double slack,
                   VisitOrder::Place& last) {
    const VisitLimits limits = bounds_.with_slack(slack);
    const auto may_move = [&](std::int64_t i) {
      return !bounded_ || !bounds_.rules_out_move(limits, i);
    };
    if (!list_.collect(order, set_.count(), after, workers_, may_move)) return false;
    while (list_.take(order, block_rows_, block_)) {
      if (workers_.stop_requested()) return false;
      if (bounded_) bounds_.measure();
      if (!set_.kept() && !compute_distances()) return false;
      if (!decide_block(limits, last)) return false;
    }
    return true;
  }

  // Computes the distances of the rows of a block to the current centres, and their bounds.
  bool compute_distances() {
    const auto n = static_cast<std::int64_t>(block_.size());
    set_.reserve(n);
    distances_.resize(block_.size());
    return workers_.for_each((n + kTaskRows - 1) / kTaskRows, [&](std::int64_t task, int) {
      const std::int64_t begin = task * kTaskRows, end = std::min(n, begin + kTaskRows);
      for (std::int64_t b = begin; b < end; ++b)
        if (!bounded_ || !bounds_.rules_out_move(bounds_.now(), row(b))) set_.prefetch(row(b));
      for (std::int64_t b = begin; b < end; ++b) {
        Distances& found = distances_[static_cast<std::size_t>(b)];
        found.visited = !bounded_ || !bounds_.rules_out_move(bounds_.now(), row(b));
        if (!found.visited) continue;
        const Row& x = set_.fetch_into(b, row(b));
        if (!bounded_) continue;
        const Costs costs = costs_of(row(b), x);
        found.own = costs.own_root();
        found.other = costs.other_root();
        bounds_.store(row(b), found.own, found.other);
      }
    });
  }

  // Decides the rows of a block, in order. Returns false if a centre left the limits.
  bool decide_block(const VisitLimits& limits, VisitOrder::Place& last) {
    for (std::size_t b = 0; b < block_.size(); ++b) {
      const std::int64_t i = block_[b].second;
      if (stays(b, i)) continue;
      if (!decide(i, row_values(b, i)) || !bounded_ || bounds_.now().within(limits)) continue;
      last = block_[b];
      return false;
    }
    return true;
  }

  // Returns true if it is known that row i, which is row b of the block, cannot gain by a move.
  bool stays(std::size_t b, std::int64_t i) const {
    if (!bounded_) return false;
    if (set_.kept()) return bounds_.rules_out_move(bounds_.now(), i);
    const Distances& found = distances_[b];
    return found.visited ? bounds_.in_block().rules_out_move(sums_.section(i), found.own, found.other)
                         : bounds_.rules_out_move(bounds_.now(), i);
  }

  const Row& row_values(std::size_t b, std::int64_t i) {
    if (set_.kept()) return set_.slot(i);
    const auto slot = static_cast<std::int64_t>(b);
    return distances_[b].visited ? set_.slot(slot) : set_.fetch_into(slot, i);
  }

  struct Distances {
    double own = 0.0, other = 0.0;
    bool visited = false;
  };

  // Costs of leaving the own section and of entering the best other one.
  struct Costs {
    double leave = 0.0, enter = std::numeric_limits<double>::infinity();
    std::int32_t to = -1;
    double own = 0.0, own_noise = 0.0;  // squared distance to the own centre, and its rounding error
    double target = 0.0, target_noise = 0.0;
    double nearest = std::numeric_limits<double>::infinity();  // smallest squared distance to another

    double own_root() const { return std::sqrt(own + own_noise); }
    double other_root() const { return std::sqrt(std::max(0.0, nearest)); }
  };

  std::int64_t row(std::int64_t b) const { return block_[static_cast<std::size_t>(b)].second; }

  Costs costs_of(std::int64_t i, const Row& x) const {
    const Rows& rows = set_.rows();
    const std::int32_t from = sums_.section(i);
    const double w = set_.weight(i);
    Costs costs;
    for (std::int32_t s = 0; s < static_cast<std::int32_t>(sums_.n_sections()); ++s) {
      const double squared = sums_.distance(x, s), noise = rows.noise(x, squared);
      if (s == from) {
        costs.leave = leaving(sums_.weight(s), w, squared);
        costs.own = squared;
        costs.own_noise = noise;
        continue;
      }
      const double enter = entering(sums_.weight(s), w, squared);
      costs.nearest = std::min(costs.nearest, squared - noise);
      if (!(enter < costs.enter)) continue;
      costs.enter = enter;
      costs.to = s;
      costs.target = squared;
      costs.target_noise = noise;
    }
    return costs;
  }

  // Moves a row if this is a gain according to the current composites. Returns true if it moved.
  bool decide(std::int64_t i, const Row& x) {
    const std::int32_t from = sums_.section(i);
    const double w = set_.weight(i);
    if (!sums_.may_leave(from, w)) return false;
    const Costs costs = costs_of(i, x);
    if (!is_gain(costs, from, w, x)) {
      if (bounded_ && set_.kept()) bounds_.store(i, costs.own_root(), costs.other_root());
      return false;
    }
    const double from_weight = sums_.weight(from), to_weight = sums_.weight(costs.to);
    sums_.move(i, x, w, costs.to);
    ++result_.moves;
    result_.gain += w * (costs.leave - costs.enter);
    if (!bounded_) return true;
    bounds_.forget(i);
    bounds_.note_move(from, w / (from_weight - w) * costs.own_root(), costs.to,
                      w / (to_weight + w) * std::sqrt(costs.target + costs.target_noise));
    return true;
  }

  // Bounds the error of a squared distance that follows from the rounding of x - C. A row that holds
  // nearly all the weight of its section multiplies it by a large factor.
  static double rounding(double norm, double squared) {
    const double error = 8 * 0x1p-53 * std::sqrt(norm);
    return error * (2 * std::sqrt(squared) + error);
  }

  bool is_gain(const Costs& costs, std::int32_t from, double w, const Row& x) const {
    if (!(costs.enter < costs.leave)) return false;
    const double norm = set_.rows().norm(x), total = sums_.weight(from);
    const double noise = leaving(total, w, costs.own_noise + rounding(norm, costs.own)) +
                         entering(sums_.weight(costs.to), w, costs.target_noise);
    return improves(costs.leave, costs.enter, norm, noise);
  }

  SetRows<Rows>& set_;
  SectionSums<Rows>& sums_;
  Workers& workers_;
  bool bounded_, first_ = true;
  std::int64_t block_rows_;
  VisitBounds<Rows> bounds_;
  VisitList list_;
  std::vector<VisitOrder::Place> block_;
  std::vector<Distances> distances_;  // of the rows of the block
  PassResult result_;
};

}  // namespace boostkmeans
