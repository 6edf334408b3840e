// A partition, as plain arrays that the caller owns, and the gain of a move.
#pragma once

#include <cmath>
#include <cstdint>

#include "parallel/thread_pool.hpp"

namespace boostkmeans {

struct Partition {
  std::int32_t* labels;  // n
  double* composites;    // k x d: sums of the members, in the frame of the rows
  double* weights;       // k: sums of the members' weights
  std::int64_t* counts;  // k: number of members with positive weight
  std::int64_t n_clusters;
  std::int64_t n_features;

  double* composite(std::int64_t cluster) const { return composites + cluster * n_features; }
};

// Weights of the rows. All are 1 if `values` is null.
struct RowWeights {
  const double* values;
  double operator[](std::int64_t row) const { return values == nullptr ? 1.0 : values[row]; }
  explicit operator bool() const { return values != nullptr; }
};

// Let C be the centre and W the weight of a cluster, and w the weight of row x. Moving x from cluster u
// to cluster v raises the objective by w * (leaving u - entering v), where
//   leaving u  = W_u / (W_u - w) * |x - C_u|^2
//   entering v = W_v / (W_v + w) * |x - C_v|^2
// (Hartigan 1975; the paper's gain of I1*).
inline double leaving(double cluster_weight, double weight, double distance) {
  return cluster_weight / (cluster_weight - weight) * distance;
}
inline double entering(double cluster_weight, double weight, double distance) {
  return cluster_weight / (cluster_weight + weight) * distance;
}

// Returns false for the last member of a cluster, which would gain nothing by leaving, and for a member
// without which the cluster would have no weight within the precision of float64.
inline bool may_leave(const Partition& partition, std::int64_t cluster, double weight) {
  constexpr double kResolution = 1e-15;
  const double total = partition.weights[cluster];
  return partition.counts[cluster] > 1 && total - weight > kResolution * total;
}

// Returns true if the gain of a move exceeds the rounding errors. The tolerance is relative, so
// that it does not depend on units. Its last term bounds the rounding of x - C for a cluster that
// is small compared to its distance |x| from the origin. `noise` bounds all other rounding errors
// of leave and enter together.
inline bool improves(double leave, double enter, double norm, double noise) {
  constexpr double kRelative = 1e-12;
  constexpr double kRounding = 8 * 0x1p-53;
  return leave - enter > noise + kRelative * (leave + enter) +
                             kRounding * std::sqrt(norm) * (std::sqrt(leave) + std::sqrt(enter));
}

struct RecomputeResult {
  double inertia = 0.0;  // sum of weight * |x - C|^2 in the frame
  double drift = 0.0;    // largest drift of a cluster, see cluster_totals.hpp
};

// Recomputes composites, weights, counts and inertia from the labels, in float64. The order of
// summation does not depend on the number of threads. A cluster without members keeps its composite
// and gets weight 0. `inertias` (k values, or null) receives the inertia of each cluster.
template <class Rows>
RecomputeResult recompute(const Rows& rows, RowWeights row_weights, const Partition& partition,
                          double* inertias, ThreadPool& pool);

}  // namespace boostkmeans
