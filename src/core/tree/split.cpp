#include "tree/split.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "support/random.hpp"
#include "tree/large_sets.hpp"
#include "tree/whole_sets.hpp"

namespace boostkmeans {

namespace {

// Number of rows that are compared between two polls of the stop token.
constexpr std::int64_t kRowsBetweenPolls = 1024;

template <class Rows>
class Splitting {
 public:
  Splitting(const Rows& rows, RowWeights row_weights, std::int64_t* members, const std::int64_t* begins,
            const std::int64_t* ends, std::int64_t n_sets, const SplitOptions& options,
            const SplitResult& result, ThreadPool& pool)
      : rows_(rows),
        row_weights_(row_weights),
        members_(members),
        begins_(begins),
        ends_(ends),
        n_sets_(n_sets),
        options_(options),
        result_(result),
        pool_(pool),
        n_sections_(options.sections.n_sections),
        capacity_(Cache::capacity(rows, n_sections_)),
        n_sample_(capacity_ / 2),
        range_rows_(Cache::range_rows(rows)),
        whole_(rows, row_weights, members, options, result, pool) {
    scratches_.reserve(static_cast<std::size_t>(pool.size()));
    for (int t = 0; t < pool.size(); ++t) scratches_.push_back(std::make_unique<ThreadScratch>());
    large_.resize(static_cast<std::size_t>(n_sets));
  }

  void run() {
    // The largest sets come first, so that no thread starts a large set at the end.
    std::vector<std::int64_t> order(static_cast<std::size_t>(n_sets_));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [this](std::int64_t i) { return std::pair(begins_[i] - ends_[i], i); });
    if (!options_.sample) {
      whole_.run(order, begins_, ends_, [this](std::int64_t set) { return seed_of(set); });
      return;
    }
    pool_.for_each(n_sets_, [&](std::int64_t i, int thread) {
      section_set(order[static_cast<std::size_t>(i)], thread);
    });
    if (pool_.stop_token().stopped()) return;
    assign_large_sets();
  }

 private:
  using Cache = typename Sectioning<Rows>::Cache;
  using Large = typename LargeSets<Rows>::Large;

  struct ThreadScratch {
    std::unique_ptr<Sectioning<Rows>> sectioning;
    std::vector<std::int64_t> ids;
  };

  // The scratch memory of a thread. The thread allocates it when it first needs it.
  ThreadScratch& scratch(int thread) {
    ThreadScratch& found = *scratches_[static_cast<std::size_t>(thread)];
    if (!found.sectioning) {
      std::int64_t largest = 0;
      for (std::int64_t i = 0; i < n_sets_; ++i) largest = std::max(largest, ends_[i] - begins_[i]);
      found.sectioning = std::make_unique<Sectioning<Rows>>(
          rows_, options_.sections, std::min(largest, std::max(capacity_, range_rows_)));
    }
    return found;
  }

  // A seed that depends only on the range of the set and the seed of the split.
  std::uint64_t seed_of(std::int64_t set) const {
    return random_at(random_at(options_.seed, static_cast<std::uint64_t>(begins_[set])),
                     static_cast<std::uint64_t>(ends_[set]));
  }

  // Divides a set into sections. For a large set, only a cut is computed, from a sample.
  void section_set(std::int64_t set, int thread) {
    const std::int64_t begin = begins_[set], count = ends_[set] - begin;
    if (count > capacity_) {
      section_sample(set, thread);
      return;
    }
    if (options_.rule != SplitRule::fast) {
      whole_.split_alone(set, begin, ends_[set], seed_of(set), thread);
      return;
    }
    ThreadScratch& here = scratch(thread);
    here.ids.assign(members_ + begin, members_ + begin + count);
    if (!here.sectioning->run(here.ids.data(), count, row_weights_, seed_of(set))) {
      mark_equal(result_, set, n_sections_);
      return;
    }
    result_.passes[set] = here.sectioning->n_passes();
    for (std::int64_t s = 0, at = begin; s < n_sections_; ++s) {
      for (std::int64_t i = 0; i < count; ++i)
        if (here.sectioning->section(i) == s) members_[at++] = here.ids[static_cast<std::size_t>(i)];
      const std::int64_t out = set * n_sections_ + s;
      result_.ends[out] = at;
      result_.weights[out] = here.sectioning->weight(s);
      if (options_.with_inertias) result_.inertias[out] = here.sectioning->inertia(s);
    }
  }

  // Divides some rows of a large set into sections. Returns false if all are equal.
  bool section_rows(ThreadScratch& here, std::uint64_t seed, int thread) {
    const auto count = static_cast<std::int64_t>(here.ids.size());
    const std::int64_t* ids = here.ids.data();
    if (options_.rule == SplitRule::fast) return here.sectioning->run(ids, count, row_weights_, seed);
    WholeSplit<Rows>& split = whole_.split_of(thread);
    return split.run(ids, count, seed, AfterPass()) &&
           here.sectioning->adopt(ids, count, row_weights_, split.sections(), split.n_passes());
  }

  // Divides a sample of a large set into sections: one row from each of n_sample_ stretches of the set.
  void section_sample(std::int64_t set, int thread) {
    ThreadScratch& here = scratch(thread);
    auto large = std::make_unique<Large>();
    large->set = set;
    large->begin = begins_[set];
    large->end = ends_[set];
    const std::int64_t count = large->end - large->begin;
    Random random(seed_of(set));
    here.ids.clear();
    for (std::int64_t i = 0; i < n_sample_; ++i) {
      const auto stretch = [&](std::int64_t n) {
        return large->begin + n * (count / n_sample_) + std::min(n, count % n_sample_);
      };
      const std::int64_t at = stretch(i) + random_below(random.bits(), stretch(i + 1) - stretch(i));
      large->sample.push_back(at);
      here.ids.push_back(members_[at]);
    }
    if (section_rows(here, random.bits(), thread)) {
      large->cut = here.sectioning->cut();
      for (std::int64_t i = 0; i < n_sample_; ++i)
        large->sections.push_back(here.sectioning->section(i));
    } else if (!section_distinct(*large, here, thread)) {
      mark_equal(result_, set, n_sections_);
      return;
    }
    result_.passes[set] = here.sectioning->n_passes();
    large_[static_cast<std::size_t>(set)] = std::move(large);
  }

  // Called if all rows of a sample are equal. Searches the set for other rows and divides these
  // into sections. Returns false if there are none.
  bool section_distinct(Large& large, ThreadScratch& here, int thread) {
    typename Rows::Row first(rows_), other(rows_);
    rows_.fetch(members_[large.begin], first);
    large.sample.assign(1, large.begin);
    std::vector<std::int64_t> copies;  // copies of the first row, for at least one row per section
    for (std::int64_t at = large.begin + 1; at < large.end; ++at) {
      if (at % kRowsBetweenPolls == 0 && pool_.stop_token().stop_requested(thread)) return false;
      rows_.fetch(members_[at], other);
      if (rows_.distance_between(first, other) > 0.0)
        large.sample.push_back(at);
      else if (static_cast<std::int64_t>(copies.size()) < n_sections_)
        copies.push_back(at);
      if (static_cast<std::int64_t>(large.sample.size()) == n_sample_) break;
    }
    if (large.sample.size() == 1) return false;
    const auto missing =
        std::max<std::int64_t>(0, n_sections_ - static_cast<std::int64_t>(large.sample.size()));
    large.sample.insert(large.sample.end(), copies.begin(), copies.begin() + missing);
    std::ranges::sort(large.sample);
    here.ids.clear();
    for (const std::int64_t at : large.sample) here.ids.push_back(members_[at]);
    const auto count = static_cast<std::int64_t>(here.ids.size());
    if (!section_rows(here, seed_of(large.set), thread)) return false;
    large.cut = here.sectioning->cut();
    large.sections.clear();
    for (std::int64_t i = 0; i < count; ++i) large.sections.push_back(here.sectioning->section(i));
    return true;
  }

  void assign_large_sets() {
    std::vector<const Large*> sets;
    for (const auto& large : large_)
      if (large) sets.push_back(large.get());
    if (sets.empty()) return;
    LargeSets<Rows>(
        rows_, row_weights_, members_, options_, result_, pool_,
        [this](int thread) -> Cache& { return scratch(thread).sectioning->cache(); }, range_rows_,
        std::move(sets))
        .run();
  }

  const Rows& rows_;
  RowWeights row_weights_;
  std::int64_t* members_;
  const std::int64_t *begins_, *ends_;
  std::int64_t n_sets_;
  const SplitOptions& options_;
  const SplitResult& result_;
  ThreadPool& pool_;
  std::int64_t n_sections_, capacity_, n_sample_, range_rows_;
  WholeSets<Rows> whole_;
  std::vector<std::unique_ptr<ThreadScratch>> scratches_;
  std::vector<std::unique_ptr<Large>> large_;  // by set; null for sets that fit into the cache
};

}  // namespace

template <class Rows>
void split(const Rows& rows, RowWeights row_weights, std::int64_t* members, const std::int64_t* begins,
           const std::int64_t* ends, std::int64_t n_sets, const SplitOptions& options,
           const SplitResult& result, ThreadPool& pool) {
  Splitting<Rows>(rows, row_weights, members, begins, ends, n_sets, options, result, pool).run();
}

#define BK_INSTANTIATE(Rows)                                                                            \
  template void split(const Rows&, RowWeights, std::int64_t*, const std::int64_t*, const std::int64_t*, \
                      std::int64_t, const SplitOptions&, const SplitResult&, ThreadPool&)
BK_INSTANTIATE(DenseRows);
BK_INSTANTIATE(SparseRows);
#undef BK_INSTANTIATE

}  // namespace boostkmeans
