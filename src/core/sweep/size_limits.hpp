// Limits on the sizes of clusters.
#pragma once

#include <cstdint>

namespace boostkmeans {

// Bounds on the weights of the clusters, one per cluster, or null for no limits.
struct SizeLimits {
  const double* min_weights = nullptr;
  const double* max_weights = nullptr;

  // True unless all weights are allowed.
  explicit operator bool() const { return min_weights != nullptr; }
  bool at_least_min(std::int64_t cluster, double weight) const {
    return min_weights == nullptr || weight >= min_weights[cluster] * (1.0 - kTolerance);
  }
  bool at_most_max(std::int64_t cluster, double weight) const {
    return max_weights == nullptr || weight <= max_weights[cluster] * (1.0 + kTolerance);
  }
  bool allow(std::int64_t cluster, double weight) const {
    return at_least_min(cluster, weight) && at_most_max(cluster, weight);
  }
  // Returns true if a cluster of this weight has no room for a row of weight `smallest`.
  bool full(std::int64_t cluster, double weight, double smallest) const {
    return !at_most_max(cluster, weight + smallest);
  }

 private:
  // Relative tolerance for the rounding of cluster weights, which are sums.
  static constexpr double kTolerance = 1e-9;
};

}  // namespace boostkmeans
