// The split of a set that uses all of its rows, by boost k-means (the paper's Algorithm 2) or by Lloyd's
// iterations.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "partition/partition.hpp"
#include "sections/boost_passes.hpp"
#include "sections/lloyd_passes.hpp"
#include "sections/section_start.hpp"
#include "sections/section_sums.hpp"
#include "sections/set_rows.hpp"
#include "sections/visit_order.hpp"
#include "sections/workers.hpp"
#include "support/random.hpp"
#include "tree/split.hpp"

namespace boostkmeans {

template <class Rows>
class WholeSplit {
 public:
  using Row = typename Rows::Row;

  WholeSplit(const Rows& rows, RowWeights weights, const SplitOptions& options, Workers workers)
      : options_(options),
        workers_(workers),
        set_(rows, weights, workers.size()),
        sums_(rows, options.sections.n_sections) {}

  // Sets with more rows are split by all threads together, one after the other.
  static std::int64_t max_rows_of_one_thread(const Rows& rows) {
    constexpr std::int64_t kBytes = 1 << 23;  // of the rows in memory
    return std::clamp<std::int64_t>(kBytes / SetRows<Rows>::row_bytes(rows), 1024, 16384);
  }

  // Splits a set. Returns false if all rows are equal, or if a stop was requested.
  bool run(const std::int64_t* ids, std::int64_t count, std::uint64_t seed,
           const AfterPass& after_pass) {
    n_passes_ = 0;
    set_.open(ids, count, workers_.alone());
    if (all_equal()) return false;
    Random random(seed);
    const SectionOptions& sections = options_.sections;
    if (!start_sections(sections.start, sections.n_sections, set_, workers_, random, sums_.sections()))
      return false;
    if (!sums_.sum_up(set_, workers_)) return false;
    if (options_.rule == SplitRule::lloyd)
      make_lloyd_passes(after_pass);
    else
      make_boost_passes(seed, after_pass);
    return !workers_.stopped();
  }

  std::int32_t section(std::int64_t i) const { return sums_.section(i); }
  const std::vector<std::int32_t>& sections() const { return sums_.sections(); }
  double weight(std::int64_t section) const { return sums_.weight(section); }
  std::int64_t n_passes() const { return n_passes_; }

  // Computes the inertia of each section from its definition.
  std::vector<double> inertias() {
    const auto s = static_cast<std::size_t>(sums_.n_sections());
    const SumRanges ranges(set_.count(), sums_.n_sections());
    std::vector<std::vector<double>> partials(static_cast<std::size_t>(ranges.size()),
                                              std::vector<double>(s, 0.0));
    workers_.for_each(ranges.size(), [&](std::int64_t r, int worker) {
      std::vector<double>& sums = partials[static_cast<std::size_t>(r)];
      set_.for_range(ranges.begin(r), ranges.end(r), worker, [&](std::int64_t i, const Row& x) {
        sums[static_cast<std::size_t>(section(i))] += set_.weight(i) * sums_.distance(x, section(i));
      });
    });
    std::vector<double> inertias(s, 0.0);
    for (const auto& partial : partials)
      for (std::size_t i = 0; i < s; ++i) inertias[i] += partial[i];
    return inertias;
  }

 private:
  bool all_equal() {
    constexpr std::int64_t kRowsBetweenPolls = 1024;
    Row first(set_.rows());
    set_.rows().fetch(set_.id(0), first);
    for (std::int64_t i = 1; i < set_.count(); ++i) {
      if (i % kRowsBetweenPolls == 0 && workers_.stop_requested()) return true;
      if (set_.rows().distance_between(first, set_.at(i, 0)) > 0.0) return false;
    }
    return true;
  }

  // Makes passes until one moves nothing, or gains too little.
  void make_boost_passes(std::uint64_t seed, const AfterPass& after_pass) {
    const SectionOptions& sections = options_.sections;
    BoostPasses<Rows> passes(set_, sums_, workers_, use_bounds());
    const double least = sections.tol > 0.0 ? sections.tol * inertia_of_set() : 0.0;
    moves_since_sum_ = 0;
    while (n_passes_ < sections.max_passes && !workers_.stopped()) {
      const PassResult result = passes.pass(VisitOrder(seed, n_passes_));
      if (!end_pass(result.moves, after_pass) || result.gain <= least || returned()) return;
    }
  }

  // Returns true if the set has the same sections as after an earlier pass. Every move raises the
  // objective, so this happens only if moves gain no more than rounding errors. Such moves would go on
  // forever. The sections after pass 64, 128, 256, ... are remembered (Brent's method).
  bool returned() {
    constexpr std::int64_t kFirst = 64;
    if (n_passes_ < kFirst) return false;
    std::uint64_t now = 0;
    for (std::int64_t i = 0; i < set_.count(); ++i)
      now ^= random_at(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(section(i)));
    if (n_passes_ > kFirst && now == remembered_) return true;
    if (std::has_single_bit(static_cast<std::uint64_t>(n_passes_))) remembered_ = now;
    return false;
  }

  // Makes iterations until one moves nothing, or gains too little.
  void make_lloyd_passes(const AfterPass& after_pass) {
    const SectionOptions& sections = options_.sections;
    LloydPasses<Rows> passes(set_, sums_, workers_, use_bounds());
    const double least = sections.tol > 0.0 ? sections.tol * inertia_of_set() : 0.0;
    double before = objective();
    moves_since_sum_ = 0;
    while (n_passes_ < sections.max_passes && !workers_.stopped()) {
      if (!end_pass(passes.pass(), after_pass)) return;
      const double after = objective();
      if (least > 0.0 && after - before <= least) return;
      before = after;
    }
  }

  // Returns the sum of |D|^2 / W over the sections. It grows by as much as the inertia falls.
  double objective() const {
    double total = 0.0;
    for (std::int64_t s = 0; s < sums_.n_sections(); ++s) {
      if (sums_.weight(s) <= 0.0) continue;
      double squares = 0.0;
      for (std::int64_t j = 0; j < set_.rows().n_features(); ++j)
        squares += sums_.composite(s)[j] * sums_.composite(s)[j];
      total += squares / sums_.weight(s);
    }
    return total;
  }

  // Counts and reports a pass. Returns false if it was the last.
  bool end_pass(std::int64_t moves, const AfterPass& after_pass) {
    if (workers_.stopped()) return false;
    ++n_passes_;
    if (after_pass) after_pass(set_.count(), n_passes_, moves);
    // Rounding errors of the composites accumulate with the moves.
    moves_since_sum_ += moves;
    if (moves_since_sum_ > set_.count()) {
      moves_since_sum_ = 0;
      if (!sums_.sum_up(set_, workers_)) return false;
    }
    return moves > 0;
  }

  // Bounds cost more than they save if the centres have more values than the rows, as those of a small
  // set of sparse rows.
  bool use_bounds() const {
    constexpr double kMinRatio = 4.0;
    const Rows& rows = set_.rows();
    const double values = static_cast<double>(rows.n_values()) / static_cast<double>(rows.n_rows());
    return options_.bounded && values * static_cast<double>(set_.count()) >=
                                   kMinRatio * static_cast<double>(sums_.n_sections()) *
                                       static_cast<double>(rows.n_features());
  }

  double inertia_of_set() {
    const std::int64_t d = set_.rows().n_features();
    std::vector<double> sum(static_cast<std::size_t>(d), 0.0);
    double total = 0.0, inertia = 0.0;
    for (std::int64_t s = 0; s < sums_.n_sections(); ++s) {
      total += sums_.weight(s);
      for (std::int64_t j = 0; j < d; ++j) sum[static_cast<std::size_t>(j)] += sums_.composite(s)[j];
    }
    const Centre centre = set_.rows().centre(sum.data(), 1.0 / total);
    const SumRanges ranges(set_.count(), 1);
    std::vector<double> partials(static_cast<std::size_t>(ranges.size()), 0.0);
    workers_.for_each(ranges.size(), [&](std::int64_t r, int worker) {
      double& partial = partials[static_cast<std::size_t>(r)];
      set_.for_range(ranges.begin(r), ranges.end(r), worker, [&](std::int64_t i, const Row& x) {
        partial += set_.weight(i) * set_.rows().distance(x, centre);
      });
    });
    for (const double partial : partials) inertia += partial;
    return inertia;
  }

  SplitOptions options_;
  Workers workers_;
  SetRows<Rows> set_;
  SectionSums<Rows> sums_;
  std::int64_t n_passes_ = 0, moves_since_sum_ = 0;
  std::uint64_t remembered_ = 0;  // fingerprint of the sections after an earlier pass
};

}  // namespace boostkmeans
