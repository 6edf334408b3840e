// Limits on the sizes of clusters.
#pragma once

#include <limits>

namespace boostkmeans {

// Bounds on the weight of every cluster.
struct SizeLimits {
  double min_weight = 0.0;
  double max_weight = std::numeric_limits<double>::infinity();

  // True unless all weights are allowed.
  explicit operator bool() const {
    return min_weight > 0.0 || max_weight < std::numeric_limits<double>::infinity();
  }
  bool at_least_min(double weight) const { return weight >= min_weight * (1.0 - kTolerance); }
  bool at_most_max(double weight) const { return weight <= max_weight * (1.0 + kTolerance); }
  bool allow(double weight) const { return at_least_min(weight) && at_most_max(weight); }
  // Returns true if a cluster of this weight has no room for a row of weight `smallest`.
  bool full(double weight, double smallest) const { return !at_most_max(weight + smallest); }

 private:
  // Relative tolerance for the rounding of cluster weights, which are sums.
  static constexpr double kTolerance = 1e-9;
};

}  // namespace boostkmeans
