// Sets that are too large to be cached: a sample of each was sectioned, and the other rows are
// assigned to its sections.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"
#include "tree/sectioning.hpp"
#include "tree/split.hpp"

namespace boostkmeans {

template <class Cut>
struct LargeSet {
  std::int64_t set = 0, begin = 0, end = 0;  // index of the set, and its range of `members`
  std::vector<std::int64_t> sample;          // positions in `members`, ascending
  std::vector<std::int32_t> sections;        // section of each row of the sample
  Cut cut;
};

// Assigns the rows of large sets to the section of the nearest centre, reorders the sets by section, and
// writes the results. Works on ranges of rows in parallel.
template <class Rows>
class LargeSets {
 public:
  using Cache = typename CacheFor<Rows>::type;
  using Large = LargeSet<typename Cache::Cut>;

  // `cache_of` returns the cache of a thread, which has room for range_rows rows.
  LargeSets(const Rows& rows, RowWeights row_weights, std::int64_t* members, const SplitOptions& options,
            const SplitResult& result, ThreadPool& pool, std::function<Cache&(int)> cache_of,
            std::int64_t range_rows, std::vector<const Large*> sets)
      : rows_(rows),
        row_weights_(row_weights),
        members_(members),
        options_(options),
        result_(result),
        pool_(pool),
        cache_of_(std::move(cache_of)),
        sets_(std::move(sets)),
        n_sections_(options.sections.n_sections) {
    offsets_.push_back(0);
    for (const Large* large : sets_) {
      const auto number = static_cast<std::int64_t>(offsets_.size()) - 1;
      for (std::int64_t at = large->begin; at < large->end; at += range_rows)
        ranges_.push_back({number, at, std::min(large->end, at + range_rows)});
      offsets_.push_back(offsets_.back() + large->end - large->begin);
    }
    chosen_.resize(static_cast<std::size_t>(offsets_.back()));
  }

  void run() {
    partials_.resize(ranges_.size());
    pool_.for_each(n_ranges(), [this](std::int64_t i, int thread) {
      partials_[static_cast<std::size_t>(i)] = assign(ranges_[static_cast<std::size_t>(i)], thread);
    });
    if (pool_.stop_token().stopped()) return;
    if (!reorder(add_up())) return;
    if (options_.with_inertias) measure_unknown();
  }

 private:
  struct RowRange {
    std::int64_t large, begin, end;
  };

  // Totals of the sections over a range.
  struct PartialSums {
    std::vector<std::int64_t> counts;
    std::vector<double> weights, sums_of_squares, composites;
  };

  std::int64_t n_ranges() const { return static_cast<std::int64_t>(ranges_.size()); }
  const Large& set_of(const RowRange& range) const {
    return *sets_[static_cast<std::size_t>(range.large)];
  }
  // Position of a range in `chosen_`.
  std::int64_t position(const RowRange& range) const {
    return offsets_[static_cast<std::size_t>(range.large)] + range.begin - set_of(range).begin;
  }

  // Assigns the rows of a range to sections. Rows of the sample stay in their section, so that no
  // section becomes empty.
  PartialSums assign(const RowRange& range, int thread) {
    const Large& large = set_of(range);
    Cache& cache = cache_of_(thread);
    std::int32_t* chosen = chosen_.data() + position(range);
    const std::int64_t count = range.end - range.begin;
    cache.assign(large.cut, members_ + range.begin, count, options_.with_inertias, chosen);
    for (auto at = std::ranges::lower_bound(large.sample, range.begin);
         at != large.sample.end() && *at < range.end; ++at)
      chosen[*at - range.begin] = large.sections[static_cast<std::size_t>(at - large.sample.begin())];
    const auto s = static_cast<std::size_t>(n_sections_);
    PartialSums partial{std::vector<std::int64_t>(s, 0), std::vector<double>(s, 0.0), {}, {}};
    for (std::int64_t r = 0; r < count; ++r) {
      const auto c = static_cast<std::size_t>(chosen[r]);
      ++partial.counts[c];
      partial.weights[c] += row_weights_[members_[range.begin + r]];
    }
    if constexpr (Cache::kHasAdditiveInertia)
      if (options_.with_inertias) add_squares(cache, range, chosen, partial);
    return partial;
  }

  void add_squares(Cache& cache, const RowRange& range, const std::int32_t* chosen,
                   PartialSums& partial) const {
    const std::int64_t step = cache.width();
    partial.sums_of_squares.assign(static_cast<std::size_t>(n_sections_), 0.0);
    partial.composites.assign(static_cast<std::size_t>(n_sections_ * step), 0.0);
    for (std::int64_t r = 0; r < range.end - range.begin; ++r) {
      const double w = row_weights_[members_[range.begin + r]];
      partial.sums_of_squares[static_cast<std::size_t>(chosen[r])] += w * cache.norm(r);
      cache.add_to(partial.composites.data() + chosen[r] * step, r, w);
    }
  }

  // Writes the results, adding up the ranges in order. Returns the position in `members` at which the
  // rows of each range and section start.
  std::vector<std::vector<std::int64_t>> add_up() {
    const auto n_sections = static_cast<std::size_t>(n_sections_);
    std::vector<std::vector<std::int64_t>> starts(ranges_.size(), std::vector<std::int64_t>(n_sections));
    std::size_t first = 0;
    for (std::size_t l = 0; l < sets_.size(); ++l) {
      std::size_t last = first;
      while (last < ranges_.size() && ranges_[last].large == static_cast<std::int64_t>(l)) ++last;
      std::int64_t at = sets_[l]->begin;
      for (std::size_t s = 0; s < n_sections; ++s) {
        double weight = 0.0;
        for (std::size_t i = first; i < last; ++i) {
          starts[i][s] = at;
          at += partials_[i].counts[s];
          weight += partials_[i].weights[s];
        }
        const auto out = sets_[l]->set * n_sections_ + static_cast<std::int64_t>(s);
        result_.ends[out] = at;
        result_.weights[out] = weight;
        if (options_.with_inertias) result_.inertias[out] = inertia(*sets_[l], first, last, s, weight);
      }
      first = last;
    }
    return starts;
  }

  // Inertia of a section of weight `weight` from ranges [first, last), or NaN if it must be measured.
  double inertia(const Large& large, std::size_t first, std::size_t last, std::size_t section,
                 double weight) const {
    if constexpr (Cache::kHasAdditiveInertia) {
      const std::size_t width =
          partials_[first].composites.size() / static_cast<std::size_t>(n_sections_);
      std::vector<double> sum(width, 0.0);
      double sum_of_squares = 0.0;
      for (std::size_t i = first; i < last; ++i) {
        sum_of_squares += partials_[i].sums_of_squares[section];
        for (std::size_t j = 0; j < width; ++j) sum[j] += partials_[i].composites[section * width + j];
      }
      const double square = std::inner_product(sum.begin(), sum.end(), sum.begin(), 0.0);
      return std::ldexp(inertia_between(sum_of_squares, square, weight), -2 * large.cut.frame.exponent);
    } else {
      return std::numeric_limits<double>::quiet_NaN();
    }
  }

  // Sorts the members of each set by section. Returns false, with members unchanged, if a stop was
  // requested.
  bool reorder(const std::vector<std::vector<std::int64_t>>& starts) {
    std::vector<std::int64_t> moved(chosen_.size());
    pool_.for_each(n_ranges(), [&](std::int64_t i, int) {
      const RowRange& range = ranges_[static_cast<std::size_t>(i)];
      std::vector<std::int64_t> next(starts[static_cast<std::size_t>(i)]);
      const std::int64_t shift = offsets_[static_cast<std::size_t>(range.large)] - set_of(range).begin;
      const std::int64_t from = position(range);
      for (std::int64_t r = 0; r < range.end - range.begin; ++r) {
        const auto s = static_cast<std::size_t>(chosen_[static_cast<std::size_t>(from + r)]);
        moved[static_cast<std::size_t>(next[s]++ + shift)] = members_[range.begin + r];
      }
    });
    if (pool_.stop_token().stopped()) return false;
    for (std::size_t l = 0; l < sets_.size(); ++l)
      std::copy(moved.begin() + offsets_[l], moved.begin() + offsets_[l + 1],
                members_ + sets_[l]->begin);
    return true;
  }

  // Computes the inertias that are NaN from the rows, in float64.
  void measure_unknown() {
    std::vector<std::pair<const Large*, std::int64_t>> unknown;  // set, position in the results
    for (const Large* large : sets_)
      for (std::int64_t out = large->set * n_sections_; out < (large->set + 1) * n_sections_; ++out)
        if (std::isnan(result_.inertias[out])) unknown.emplace_back(large, out);
    pool_.for_each(static_cast<std::int64_t>(unknown.size()), [&](std::int64_t i, int thread) {
      const auto [large, out] = unknown[static_cast<std::size_t>(i)];
      const std::int64_t begin = out % n_sections_ == 0 ? large->begin : result_.ends[out - 1];
      result_.inertias[out] =
          inertia_of(rows_, row_weights_, members_ + begin, result_.ends[out] - begin,
                     [&] { return pool_.stop_token().stop_requested(thread); });
    });
  }

  const Rows& rows_;
  RowWeights row_weights_;
  std::int64_t* members_;
  const SplitOptions& options_;
  const SplitResult& result_;
  ThreadPool& pool_;
  std::function<Cache&(int)> cache_of_;
  std::vector<const Large*> sets_;
  std::int64_t n_sections_;
  std::vector<RowRange> ranges_;       // of all sets
  std::vector<std::int64_t> offsets_;  // of each set in `chosen_`
  std::vector<std::int32_t> chosen_;   // section of each row of all sets
  std::vector<PartialSums> partials_;  // by range
};

}  // namespace boostkmeans
