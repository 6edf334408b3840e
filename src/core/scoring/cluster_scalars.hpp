// Scalars of each cluster that the kernel needs besides its centre, in float32.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "support/aligned_buffer.hpp"

namespace boostkmeans {

class ClusterScalars {
 public:
  explicit ClusterScalars(std::int64_t n) : norms(n), factors(n), inverse_weights(n) {}

  // `norm` is |C|^2. A cluster of weight 0 is empty, and entering it costs nothing.
  void set(std::int64_t cluster, float norm, double weight) const {
    norms[cluster] = norm;
    factors[cluster] = static_cast<float>(weight / (weight + 1.0));
    inverse_weights[cluster] = weight > 0.0 ? std::min(static_cast<float>(1.0 / weight), kHuge) : kHuge;
  }
  // Marks a cluster so that it is never chosen, whatever finite values its centre has.
  void set_never(std::int64_t cluster) const {
    norms[cluster] = std::numeric_limits<float>::infinity();
    factors[cluster] = 1.0f;
    inverse_weights[cluster] = 0.0f;
  }
  // Adds a penalty to the squared distance of all rows to a cluster.
  void add_penalty(std::int64_t cluster, double penalty) const {
    norms[cluster] += static_cast<float>(penalty);
  }
  void copy(std::int64_t to, const ClusterScalars& other, std::int64_t from) const {
    norms[to] = other.norms[from];
    factors[to] = other.factors[from];
    inverse_weights[to] = other.inverse_weights[from];
  }

  Buffer<float> norms, factors, inverse_weights;

 private:
  // Replaces 1 / 0. It is large enough to make the cost of empty clusters 0, and finite to avoid
  // NaN.
  static constexpr float kHuge = 1e30f;
};

inline double inverse_of(double weight) { return weight > 0.0 ? 1.0 / weight : 0.0; }

}  // namespace boostkmeans
