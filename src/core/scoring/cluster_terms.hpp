// What the kernel needs of each cluster beside its centre: one value a cluster, in float32.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "support/aligned_buffer.hpp"

namespace boostkmeans {

class ClusterVectors {
 public:
  explicit ClusterVectors(std::int64_t n) : norms(n), factors(n), inverse_weights(n) {}

  // `norm` is |C|^2. A weight of 0 makes an empty cluster, which attracts any row.
  void set(std::int64_t cluster, float norm, double weight) {
    norms[cluster] = norm;
    factors[cluster] = static_cast<float>(weight / (weight + 1.0));
    inverse_weights[cluster] = weight > 0.0 ? std::min(static_cast<float>(1.0 / weight), kHuge) : kHuge;
  }
  // A cluster that is never chosen, whatever finite values its centre has.
  void set_never(std::int64_t cluster) {
    norms[cluster] = std::numeric_limits<float>::infinity();
    factors[cluster] = 1.0f;
    inverse_weights[cluster] = 0.0f;
  }
  // Makes a cluster that was set look farther away by about that (a squared distance).
  void add_penalty(std::int64_t cluster, double penalty) {
    norms[cluster] += static_cast<float>(penalty);
  }
  void copy(std::int64_t to, const ClusterVectors& other, std::int64_t from) {
    norms[to] = other.norms[from];
    factors[to] = other.factors[from];
    inverse_weights[to] = other.inverse_weights[from];
  }

  Buffer<float> norms, factors, inverse_weights;

 private:
  // Stands for 1 / 0: large enough to make an empty cluster free, and finite so that no NaN arises.
  static constexpr float kHuge = 1e30f;
};

inline double inverse_of(double weight) { return weight > 0.0 ? 1.0 / weight : 0.0; }

}  // namespace boostkmeans
