// The threads that work on one set of rows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "parallel/thread_pool.hpp"

namespace boostkmeans {

// All threads of a pool, or one of them.
class Workers {
 public:
  explicit Workers(ThreadPool& pool) : pool_(pool) {}
  Workers(ThreadPool& pool, int thread) : pool_(pool), thread_(thread), alone_(true) {}

  int size() const { return alone_ ? 1 : pool_.size(); }
  bool alone() const { return alone_; }

  // Calls body(item, worker) for all items. Returns false if a stop was requested.
  template <class Body>
  bool for_each(std::int64_t n_items, const Body& body) {
    if (!alone_) {
      pool_.for_each(n_items, body);
      return !stopped();
    }
    for (std::int64_t i = 0; i < n_items; ++i) {
      if (stop_requested()) return false;
      body(i, 0);
    }
    return true;
  }
  // Called by the thread that made this object: polls.
  bool stop_requested() { return pool_.stop_token().stop_requested(thread_); }
  bool stopped() const { return pool_.stop_token().stopped(); }

 private:
  ThreadPool& pool_;
  int thread_ = 0;
  bool alone_ = false;
};

// Divides rows into ranges whose sums are added in order. They do not depend on the number of threads,
// and neither do the sums.
class SumRanges {
 public:
  // `width` is the number of values of a sum.
  SumRanges(std::int64_t count, std::int64_t width) {
    // Minimum number of rows in a range, and maximum number of ranges and of values of all sums.
    constexpr std::int64_t kMinRows = 1024;
    constexpr std::int64_t kMaxRanges = 256;
    constexpr std::int64_t kMaxValues = 1 << 22;
    const std::int64_t affordable =
        std::max<std::int64_t>(1, kMaxValues / std::max<std::int64_t>(1, width));
    n_ = std::clamp<std::int64_t>(count / kMinRows, 1, std::min(kMaxRanges, affordable));
    count_ = count;
  }
  std::int64_t size() const { return n_; }
  std::int64_t begin(std::int64_t i) const { return i * (count_ / n_) + std::min(i, count_ % n_); }
  std::int64_t end(std::int64_t i) const { return begin(i + 1); }

 private:
  std::int64_t count_, n_;
};

}  // namespace boostkmeans
