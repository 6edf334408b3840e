// Splits of many sets that use all rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"
#include "sections/workers.hpp"
#include "tree/split.hpp"
#include "tree/whole_split.hpp"

namespace boostkmeans {

// Splits small sets in parallel, one thread per set, and large sets one after the other, with all
// threads. The path does not affect the result.
template <class Rows>
class WholeSets {
 public:
  WholeSets(const Rows& rows, RowWeights row_weights, std::int64_t* members, const SplitOptions& options,
            const SplitResult& result, ThreadPool& pool)
      : rows_(rows),
        row_weights_(row_weights),
        members_(members),
        options_(options),
        result_(result),
        pool_(pool),
        n_sections_(options.sections.n_sections),
        max_rows_(options.max_rows_of_one_thread > 0 ? options.max_rows_of_one_thread
                                                     : WholeSplit<Rows>::max_rows_of_one_thread(rows)),
        splits_(static_cast<std::size_t>(pool.size())) {}

  // Splits sets, which are sorted by size, the largest first. `seed_of` returns the seed of a set.
  template <class SeedOf>
  void run(const std::vector<std::int64_t>& sets, const std::int64_t* begins, const std::int64_t* ends,
           const SeedOf& seed_of) {
    const auto size = [&](std::int64_t set) { return ends[set] - begins[set]; };
    std::size_t n_large = 0;
    while (n_large < sets.size() && size(sets[n_large]) > max_rows_) ++n_large;
    if (n_large > 0) {
      WholeSplit<Rows> split(rows_, row_weights_, options_, Workers(pool_));
      for (std::size_t i = 0; i < n_large && !pool_.stop_token().stopped(); ++i)
        split_set(split, sets[i], begins[sets[i]], ends[sets[i]], seed_of(sets[i]), options_.after_pass);
    }
    if (pool_.stop_token().stopped()) return;
    pool_.for_each(static_cast<std::int64_t>(sets.size() - n_large), [&](std::int64_t i, int thread) {
      const std::int64_t set = sets[n_large + static_cast<std::size_t>(i)];
      split_alone(set, begins[set], ends[set], seed_of(set), thread);
    });
  }

  // Splits a set in a single thread.
  void split_alone(std::int64_t set, std::int64_t begin, std::int64_t end, std::uint64_t seed,
                   int thread) {
    split_set(split_of(thread), set, begin, end, seed, AfterPass());
  }

  // The split that a single thread uses. The thread creates it when it first needs it.
  WholeSplit<Rows>& split_of(int thread) {
    auto& split = splits_[static_cast<std::size_t>(thread)];
    if (!split)
      split = std::make_unique<WholeSplit<Rows>>(rows_, row_weights_, options_, Workers(pool_, thread));
    return *split;
  }

 private:
  void split_set(WholeSplit<Rows>& split, std::int64_t set, std::int64_t begin, std::int64_t end,
                 std::uint64_t seed, const AfterPass& after_pass) {
    const std::int64_t count = end - begin;
    const std::vector<std::int64_t> ids(members_ + begin, members_ + end);
    const bool done = split.run(ids.data(), count, seed, after_pass);
    if (pool_.stop_token().stopped()) return;
    result_.passes[set] = split.n_passes();
    if (!done) {
      mark_equal(result_, set, n_sections_);
      return;
    }
    std::vector<double> inertias(static_cast<std::size_t>(n_sections_), 0.0);
    if (options_.with_inertias) inertias = split.inertias();
    if (pool_.stop_token().stopped()) return;
    std::vector<std::int64_t> next(static_cast<std::size_t>(n_sections_) + 1, 0);
    for (std::int64_t i = 0; i < count; ++i) ++next[static_cast<std::size_t>(split.section(i)) + 1];
    next[0] = begin;
    for (std::int64_t s = 0; s < n_sections_; ++s) {
      const std::int64_t out = set * n_sections_ + s;
      next[static_cast<std::size_t>(s) + 1] += next[static_cast<std::size_t>(s)];
      result_.ends[out] = next[static_cast<std::size_t>(s) + 1];
      result_.weights[out] = split.weight(s);
      result_.inertias[out] = inertias[static_cast<std::size_t>(s)];
    }
    for (std::int64_t i = 0; i < count; ++i)
      members_[next[static_cast<std::size_t>(split.section(i))]++] = ids[static_cast<std::size_t>(i)];
  }

  const Rows& rows_;
  RowWeights row_weights_;
  std::int64_t* members_;
  const SplitOptions& options_;
  const SplitResult& result_;
  ThreadPool& pool_;
  std::int64_t n_sections_, max_rows_;
  std::vector<std::unique_ptr<WholeSplit<Rows>>> splits_;  // by thread
};

}  // namespace boostkmeans
