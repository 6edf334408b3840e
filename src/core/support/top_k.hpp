// The n smallest distances of a stream.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace boostkmeans {

// Collects distances below a bound. When its buffer is full, it drops all but the n smallest and lowers
// the bound.
class TopK {
 public:
  using Found = std::pair<float, std::int64_t>;  // distance, number

  explicit TopK(std::int64_t n) : n_(static_cast<std::size_t>(n)), capacity_(2 * n_ + kSlack) {}

  // If the collection is full and ids ascend, only distances below the bound have to be pushed.
  float bound() const { return bound_; }
  bool is_full() const { return found_.size() >= n_; }

  void push(float distance, std::int64_t id) {
    found_.emplace_back(distance, id);
    if (found_.size() == capacity_) shrink();
  }
  // Drops all but the n smallest. The bound becomes the largest of these, if there are n.
  void shrink() {
    if (found_.size() < n_) return;
    const auto last = found_.begin() + static_cast<std::ptrdiff_t>(n_ - 1);
    std::nth_element(found_.begin(), last, found_.end());
    found_.resize(n_);
    bound_ = found_.back().first;
  }
  const std::vector<Found>& found() const { return found_; }

 private:
  // Additional capacity, so that the buffer is not shrunk after every few distances if n is small.
  static constexpr std::size_t kSlack = 64;

  std::size_t n_, capacity_;
  std::vector<Found> found_;
  float bound_ = std::numeric_limits<float>::infinity();
};

}  // namespace boostkmeans
