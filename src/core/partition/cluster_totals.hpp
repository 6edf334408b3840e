// What the two ways of recomputing a partition share: sums take their place, and what is reported of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "partition/partition.hpp"

namespace boostkmeans {

// Of a cluster, or of some of its members.
struct Totals {
  double weight = 0.0, inertia = 0.0;
  double change = 0.0;  // the largest change of the composite
  std::int64_t count = 0;

  void operator+=(const Totals& other) {
    weight += other.weight;
    inertia += other.inertia;
    change = std::max(change, other.change);
    count += other.count;
  }
};

// Puts a cluster's sums in place, and remembers by how much they change its composite.
inline void put_in_place(const Partition& partition, std::int64_t cluster, const double* sum,
                         Totals& totals) {
  double* composite = partition.composite(cluster);
  if (totals.count > 0)
    for (std::int64_t j = 0; j < partition.n_features; ++j) {
      totals.change = std::max(totals.change, std::abs(composite[j] - sum[j]));
      composite[j] = sum[j];
    }
  partition.weights[cluster] = totals.count > 0 ? totals.weight : 0.0;
  partition.counts[cluster] = totals.count;
}

// The drift of a cluster is the change of its composite by W times the root of the members' mean
// square: what its members could add up to, however near to the origin its centre is.
inline Recomputed report_of(const Kernel& kernel, const Partition& partition,
                            const std::vector<Totals>& clusters, double* inertias) {
  Recomputed result;
  for (std::int64_t c = 0; c < partition.n_clusters; ++c) {
    const Totals& cluster = clusters[static_cast<std::size_t>(c)];
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
