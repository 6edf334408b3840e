// The random order in which a pass visits the rows of a set.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sections/workers.hpp"
#include "support/random.hpp"

namespace boostkmeans {

// A pass visits rows in the order of random keys, so that the order of some rows does not depend on
// which other rows are left out.
class VisitOrder {
 public:
  // A place in the order: a key and the position of a row in the set. Equal keys are sorted by position.
  using Place = std::pair<std::uint64_t, std::int64_t>;

  VisitOrder(std::uint64_t seed, std::int64_t pass)
      : seed_(random_at(mix(seed), static_cast<std::uint64_t>(pass))) {}
  Place place(std::int64_t i) const { return {random_at(seed_, static_cast<std::uint64_t>(i)), i}; }

 private:
  std::uint64_t seed_;
};

// The rows that a pass has yet to visit, in buckets of neighbouring places.
class VisitList {
 public:
  // Lists the rows after a place (all rows, if it is null) for which `may_move` returns true. Returns
  // false if a stop was requested.
  template <class MayMove>
  bool collect(const VisitOrder& order, std::int64_t count, const VisitOrder::Place* after,
               Workers& workers, const MayMove& may_move) {
    constexpr std::int64_t kRowsPerTask = 1 << 15;
    const std::int64_t n_tasks = (count + kRowsPerTask - 1) / kRowsPerTask;
    found_.resize(static_cast<std::size_t>(n_tasks));
    const bool done = workers.for_each(n_tasks, [&](std::int64_t task, int) {
      std::vector<std::int64_t>& found = found_[static_cast<std::size_t>(task)];
      found.clear();
      for (std::int64_t i = task * kRowsPerTask; i < std::min(count, (task + 1) * kRowsPerTask); ++i)
        if (may_move(i) && (after == nullptr || order.place(i) > *after)) found.push_back(i);
    });
    if (done) sort(order);
    return done;
  }

  // Takes the next rows, about `n_rows` of them. Returns false if there are none.
  bool take(const VisitOrder& order, std::int64_t n_rows, std::vector<VisitOrder::Place>& out) {
    out.clear();
    while (next_ + 1 < starts_.size() && static_cast<std::int64_t>(out.size()) < n_rows) {
      const auto first = static_cast<std::ptrdiff_t>(out.size());
      for (std::size_t at = starts_[next_]; at < starts_[next_ + 1]; ++at)
        out.push_back(order.place(rows_[at]));
      std::sort(out.begin() + first, out.end());
      ++next_;
    }
    return !out.empty();
  }

 private:
  // Sorts the rows by bucket.
  void sort(const VisitOrder& order) {
    constexpr std::size_t kRowsPerBucket = 16;
    std::size_t n = 0;
    for (const auto& found : found_) n += found.size();
    const std::size_t n_buckets = n / kRowsPerBucket + 1;
    // Keys are uniform, so equal ranges of keys have about the same number of rows.
    const auto bucket = [&](std::int64_t i) {
      return static_cast<std::size_t>((order.place(i).first >> 32) * n_buckets >> 32);
    };
    starts_.assign(n_buckets + 2, 0);
    for (const auto& found : found_)
      for (const std::int64_t i : found) ++starts_[bucket(i) + 2];
    for (std::size_t b = 2; b < starts_.size(); ++b) starts_[b] += starts_[b - 1];
    rows_.resize(n);
    for (const auto& found : found_)
      for (const std::int64_t i : found) rows_[starts_[bucket(i) + 1]++] = i;
    starts_.pop_back();
    next_ = 0;
  }

  std::vector<std::vector<std::int64_t>> found_;  // by task
  std::vector<std::int64_t> rows_;                // sorted by bucket
  std::vector<std::size_t> starts_;               // of each bucket, and the end of the last
  std::size_t next_ = 0;                          // bucket that is taken next
};

}  // namespace boostkmeans
