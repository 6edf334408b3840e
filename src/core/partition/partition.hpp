// A clustering: plain arrays that the caller owns. And what one move does to it.
#pragma once

#include <cmath>
#include <cstdint>

#include "parallel/thread_pool.hpp"

namespace boostkmeans {

struct Partition {
  std::int32_t* labels;  // n
  double* composites;    // k x d: sums of the members, in the frame of the rows
  double* weights;       // k: sums of the members' weights
  std::int64_t* counts;  // k: members of positive weight
  std::int64_t n_clusters;
  std::int64_t n_features;

  double* composite(std::int64_t cluster) const { return composites + cluster * n_features; }
};

// Weights of the rows, or none: then each weighs 1.
struct RowWeights {
  const double* values;
  double operator[](std::int64_t row) const { return values == nullptr ? 1.0 : values[row]; }
  explicit operator bool() const { return values != nullptr; }
};

// With C the centre, W the weight of a cluster and w that of row x, moving x from u to v raises the
// objective by w * (leaving u - entering v), where
//   leaving u  = W_u / (W_u - w) * |x - C_u|^2
//   entering v = W_v / (W_v + w) * |x - C_v|^2        (Hartigan 1975; the paper's gain of I1*)
inline double leaving(double cluster_weight, double weight, double distance) {
  return cluster_weight / (cluster_weight - weight) * distance;
}
inline double entering(double cluster_weight, double weight, double distance) {
  return cluster_weight / (cluster_weight + weight) * distance;
}

// The last member never leaves (it would gain nothing), nor one that holds all of the weight that
// float64 can tell from nothing.
inline bool may_leave(const Partition& partition, std::int64_t cluster, double weight) {
  constexpr double kResolution = 1e-15;
  const double total = partition.weights[cluster];
  return partition.counts[cluster] > 1 && total - weight > kResolution * total;
}

// Whether a move is a gain beyond rounding. Relative, so that units do not matter; the second term is
// the rounding of x - C where the cluster is small against its distance from the origin |x|. `noise` is
// how far leave and enter may be off together, beside that.
inline bool improves(double leave, double enter, double norm, double noise) {
  constexpr double kRelative = 1e-12;
  constexpr double kRounding = 8 * 0x1p-53;
  return leave - enter > noise + kRelative * (leave + enter) +
                             kRounding * std::sqrt(norm) * (std::sqrt(leave) + std::sqrt(enter));
}

struct Recomputed {
  double inertia = 0.0;  // sum of weight * |x - C|^2 in the frame
  double drift = 0.0;    // largest change of a composite, relative to its members: see totals.hpp
};

// Composites, weights, counts and inertia from the labels alone, in float64, in an order that does not
// depend on the threads. A cluster without members keeps its composite and gets weight 0. `inertias` (k,
// or null) gets the inertia of each cluster.
template <class Rows>
Recomputed recompute(const Rows& rows, RowWeights row_weights, const Partition& partition,
                     double* inertias, Team& team);

}  // namespace boostkmeans
