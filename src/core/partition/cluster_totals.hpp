// Totals of clusters, which both methods of recomputing a partition use.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernel/kernel.hpp"
#include "parallel/thread_pool.hpp"
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

// Calls use(cluster) for all clusters in parallel.
template <class Use>
void for_each_cluster(const Partition& partition, ThreadPool& pool, const Use& use) {
  // Minimum number of values of the composites that a task handles, which takes some microseconds.
  constexpr std::int64_t kValuesPerTask = 8192;
  const std::int64_t step = std::max<std::int64_t>(1, kValuesPerTask / partition.n_features);
  const std::int64_t n = partition.n_clusters;
  pool.for_each((n + step - 1) / step, [&](std::int64_t task, int) {
    for (std::int64_t c = task * step; c < std::min(n, (task + 1) * step); ++c) use(c);
  });
}

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
                                 std::vector<ClusterTotals>& clusters, double* inertias,
                                 ThreadPool& pool) {
  for_each_cluster(partition, pool, [&](std::int64_t c) {
    ClusterTotals& cluster = clusters[static_cast<std::size_t>(c)];
    if (inertias != nullptr) inertias[c] = cluster.inertia;
    const double* composite = partition.composite(c);
    const double square =
        kernel.dot(composite, composite, partition.n_features) + partition.weights[c] * cluster.inertia;
    cluster.change = cluster.count > 0 && square > 0.0 ? cluster.change / std::sqrt(square) : 0.0;
  });
  RecomputeResult result;
  for (const ClusterTotals& cluster : clusters) {
    result.inertia += cluster.inertia;
    result.drift = std::max(result.drift, cluster.change);
  }
  return result;
}

}  // namespace boostkmeans
