// The n nearest points of a row so far, by float64 distances.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace boostkmeans {

// A heap with the farthest point first. Of two points at the same distance, the one with the lower
// number is nearer, so the result does not depend on the order in which points are inserted.
class NearestFound {
 public:
  explicit NearestFound(std::int64_t n) : n_(static_cast<std::size_t>(n)) {}

  void clear() { heap_.clear(); }
  // Distance of the farthest point, or infinity if there are fewer than n points. A point beyond it
  // need not be inserted.
  double bound() const { return heap_.size() < n_ ? kInfinity : heap_.front().first; }
  // Returns false if the point is not among the n nearest. NaN counts as infinity.
  bool insert(double distance, std::int64_t number) {
    const Found found{distance < kInfinity ? distance : kInfinity, number};
    if (heap_.size() == n_) {
      if (!(found < heap_.front())) return false;
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.back() = found;
    } else {
      heap_.push_back(found);
    }
    std::push_heap(heap_.begin(), heap_.end());
    return true;
  }
  // Starts from the result of an earlier `write`.
  template <class Number>
  void read(const Number* numbers, const double* distances) {
    clear();
    for (std::size_t i = 0; i < n_ && numbers[i] >= 0; ++i) insert(distances[i], numbers[i]);
  }
  // Writes the points, nearest first, padded with -1 and infinity. Destroys the heap.
  template <class Number>
  void write(Number* numbers, double* distances) {
    std::sort_heap(heap_.begin(), heap_.end());
    for (std::size_t i = 0; i < n_; ++i) {
      const bool exists = i < heap_.size();
      numbers[i] = exists ? static_cast<Number>(heap_[i].second) : Number{-1};
      distances[i] = exists ? heap_[i].first : kInfinity;
    }
    heap_.clear();
  }

 private:
  using Found = std::pair<double, std::int64_t>;  // distance, number
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  std::size_t n_;
  std::vector<Found> heap_;
};

}  // namespace boostkmeans
