// Totals of clusters, which both methods of recomputing a partition use.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernel/kernel.hpp"
#include "partition/partition.hpp"

namespace boostkmeans {

// Totals of a cluster, or of some of its members.
struct ClusterTotals {
  double weight = 0.0, inertia = 0.0;
  double change = 0.0;  // largest absolute change of a value of the composite
  std::int64_t count = 0;

  void operator+=(const ClusterTotals& other) {
    weight += other.weight;
    inertia += other.inertia;
    change = std::max(change, other.change);
    count += other.count;
  }
};

// Stores the sum of a cluster as its composite, and records the change. An empty cluster keeps its
// composite.
inline void put_in_place(const Partition& partition, std::int64_t cluster, const double* sum,
                         ClusterTotals& totals) {
  double* composite = partition.composite(cluster);
  if (totals.count > 0)
    for (std::int64_t j = 0; j < partition.n_features; ++j) {
      totals.change = std::max(totals.change, std::abs(composite[j] - sum[j]));
      composite[j] = sum[j];
    }
  partition.weights[cluster] = totals.count > 0 ? totals.weight : 0.0;
  partition.counts[cluster] = totals.count;
}

// Adds up the inertia, and computes the drift. The drift of a cluster is the change of its composite,
// divided by W times the root mean square norm of its members. The divisor is the length that the
// composite could have, even if the centre is near the origin.
inline RecomputeResult report_of(const Kernel& kernel, const Partition& partition,
                                 const std::vector<ClusterTotals>& clusters, double* inertias) {
  RecomputeResult result;
  for (std::int64_t c = 0; c < partition.n_clusters; ++c) {
    const ClusterTotals& cluster = clusters[static_cast<std::size_t>(c)];
    result.inertia += cluster.inertia;
    if (inertias != nullptr) inertias[c] = cluster.inertia;
    if (cluster.count == 0) continue;
    const double* composite = partition.composite(c);
    const double square =
        kernel.dot(composite, composite, partition.n_features) + partition.weights[c] * cluster.inertia;
    if (square > 0.0) result.drift = std::max(result.drift, cluster.change / std::sqrt(square));
  }
  return result;
}

}  // namespace boostkmeans
