// What is known about the pairs of near rows that were found so far. Its size does not depend on the
// number of pairs, and threads add pairs at the same time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace boostkmeans {

// Arrays of the caller, with one value per row.
struct PairResults {
  std::int64_t*
      parents;  // a row of the same group with a lower or the same number (a union-find forest)
  std::int64_t* degrees;  // number of rows that the row forms a pair with, each as often as it counts
  double* nearest;        // squared distance to the nearest of them
};

class PairTally {
 public:
  // `counts` has the number of equal rows that each row stands for.
  PairTally(const PairResults& results, const std::int64_t* counts, std::int64_t n)
      : results_(results),
        counts_(counts),
        n_(n),
        parents_(new std::atomic<std::int64_t>[static_cast<std::size_t>(n)]),
        degrees_(new std::atomic<std::int64_t>[static_cast<std::size_t>(n)]),
        nearest_(new std::atomic<double>[static_cast<std::size_t>(n)]) {
    for (std::int64_t i = 0; i < n; ++i) {
      parents_[at(i)].store(results.parents[i], std::memory_order_relaxed);
      degrees_[at(i)].store(results.degrees[i], std::memory_order_relaxed);
      nearest_[at(i)].store(results.nearest[i], std::memory_order_relaxed);
    }
  }

  void add(std::int64_t a, std::int64_t b, double distance) const {
    degrees_[at(a)].fetch_add(counts_[b], std::memory_order_relaxed);
    degrees_[at(b)].fetch_add(counts_[a], std::memory_order_relaxed);
    lower(nearest_[at(a)], distance);
    lower(nearest_[at(b)], distance);
    unite(a, b);
  }

  // Writes the arrays of the caller. The parent of each row is then the first row of its group, whatever
  // the order in which pairs were added.
  void write() const {
    for (std::int64_t i = 0; i < n_; ++i) {
      results_.parents[i] = find(i);
      results_.degrees[i] = degrees_[at(i)].load(std::memory_order_relaxed);
      results_.nearest[i] = nearest_[at(i)].load(std::memory_order_relaxed);
    }
  }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  static void lower(std::atomic<double>& to, double value) {
    double old = to.load(std::memory_order_relaxed);
    while (value < old && !to.compare_exchange_weak(old, value, std::memory_order_relaxed)) {
    }
  }

  std::int64_t find(std::int64_t i) const {
    for (;;) {
      std::int64_t parent = parents_[at(i)].load(std::memory_order_relaxed);
      if (parent == i) return i;
      const std::int64_t above = parents_[at(parent)].load(std::memory_order_relaxed);
      // A failure means that another thread has shortened the path.
      parents_[at(i)].compare_exchange_weak(parent, above, std::memory_order_relaxed);
      i = above;
    }
  }

  // A root is only ever replaced by a lower one, so that there are no cycles.
  void unite(std::int64_t a, std::int64_t b) const {
    for (;;) {
      a = find(a);
      b = find(b);
      if (a == b) return;
      if (a < b) std::swap(a, b);
      std::int64_t root = a;
      if (parents_[at(a)].compare_exchange_strong(root, b, std::memory_order_relaxed)) return;
    }
  }

  const PairResults results_;
  const std::int64_t* counts_;
  const std::int64_t n_;
  const std::unique_ptr<std::atomic<std::int64_t>[]> parents_, degrees_;
  const std::unique_ptr<std::atomic<double>[]> nearest_;
};

}  // namespace boostkmeans
