// The n closest of a stream. Those below a bound are kept, and the bound falls whenever there are too
// many.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace boostkmeans {

class Closest {
 public:
  using Found = std::pair<float, std::int64_t>;  // distance, number

  explicit Closest(std::int64_t n) : n_(static_cast<std::size_t>(n)), most_(2 * n_ + kSlack) {}

  // What is not below it need not be pushed, if numbers ascend and there are as many as that already.
  float bound() const { return bound_; }
  bool is_full() const { return found_.size() >= n_; }

  void push(float distance, std::int64_t id) {
    found_.emplace_back(distance, id);
    if (found_.size() == most_) shrink();
  }
  // Leaves the n closest; the bound is then the distance of the last, if there are as many.
  void shrink() {
    if (found_.size() < n_) return;
    const auto last = found_.begin() + static_cast<std::ptrdiff_t>(n_ - 1);
    std::nth_element(found_.begin(), last, found_.end());
    found_.resize(n_);
    bound_ = found_.back().first;
  }
  const std::vector<Found>& found() const { return found_; }

 private:
  static constexpr std::size_t kSlack = 64;

  std::size_t n_, most_;
  std::vector<Found> found_;
  float bound_ = std::numeric_limits<float>::infinity();
};

}  // namespace boostkmeans
