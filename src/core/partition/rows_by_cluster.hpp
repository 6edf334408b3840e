// Rows sorted by their cluster.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel/thread_pool.hpp"

namespace boostkmeans {

// The rows of cluster c are rows[start[c]] to rows[start[c + 1] - 1].
struct RowsByCluster {
  std::vector<std::int64_t> rows;   // n: row numbers, ascending within each cluster
  std::vector<std::int64_t> start;  // k + 1
};

// Counting sort of the rows by their labels, in slices that are counted and written in parallel.
class ClusterSort {
 public:
  // Labels must lie in [0, n_clusters).
  ClusterSort(const std::int32_t* labels, std::int64_t n_clusters, std::int64_t n_rows, ThreadPool& pool)
      : labels_(labels),
        n_clusters_(n_clusters),
        n_rows_(n_rows),
        n_slices_(n_slices()),
        pool_(pool),
        next_(static_cast<std::size_t>(n_slices_ * n_clusters), 0) {}

  RowsByCluster run() {
    RowsByCluster sorted;
    sorted.start.assign(static_cast<std::size_t>(n_clusters_) + 1, 0);
    sorted.rows.resize(static_cast<std::size_t>(n_rows_));
    pool_.for_each(n_slices_, [&](std::int64_t slice, int) {
      for_each_row(slice, [](std::int64_t& count, std::int64_t) { ++count; });
    });
    for_each_cluster([&](std::int64_t c) { sorted.start[static_cast<std::size_t>(c) + 1] = total(c); });
    for (std::size_t c = 1; c < sorted.start.size(); ++c) sorted.start[c] += sorted.start[c - 1];
    for_each_cluster(
        [&](std::int64_t c) { set_positions(c, sorted.start[static_cast<std::size_t>(c)]); });
    std::int64_t* rows = sorted.rows.data();
    pool_.for_each(n_slices_, [&](std::int64_t slice, int) {
      for_each_row(slice, [=](std::int64_t& next, std::int64_t row) { rows[next++] = row; });
    });
    return sorted;
  }

 private:
  // A slice has more rows than clusters, so that its counts take little time and memory.
  std::int64_t n_slices() const {
    constexpr std::int64_t kMaxSlices = 128;
    constexpr std::int64_t kMinRows = 4096;
    return std::clamp<std::int64_t>(n_rows_ / std::max(kMinRows, 2 * n_clusters_), 1, kMaxSlices);
  }
  std::int64_t& next(std::int64_t slice, std::int64_t cluster) {
    return next_[static_cast<std::size_t>(slice * n_clusters_ + cluster)];
  }
  template <class Use>
  void for_each_row(std::int64_t slice, const Use& use) {
    const std::int64_t end = n_rows_ * (slice + 1) / n_slices_;
    std::int64_t* of_cluster = next_.data() + slice * n_clusters_;
    for (std::int64_t row = n_rows_ * slice / n_slices_; row < end; ++row)
      use(of_cluster[labels_[row]], row);
  }
  template <class Use>
  void for_each_cluster(const Use& use) {
    constexpr std::int64_t kClustersPerTask = 256;
    pool_.for_each((n_clusters_ + kClustersPerTask - 1) / kClustersPerTask, [&](std::int64_t task, int) {
      const std::int64_t end = std::min(n_clusters_, (task + 1) * kClustersPerTask);
      for (std::int64_t c = task * kClustersPerTask; c < end; ++c) use(c);
    });
  }
  std::int64_t total(std::int64_t cluster) {
    std::int64_t sum = 0;
    for (std::int64_t s = 0; s < n_slices_; ++s) sum += next(s, cluster);
    return sum;
  }
  // Replaces the counts of the slices by the positions of their first rows.
  void set_positions(std::int64_t cluster, std::int64_t start) {
    for (std::int64_t s = 0; s < n_slices_; ++s) {
      const std::int64_t count = next(s, cluster);
      next(s, cluster) = start;
      start += count;
    }
  }

  const std::int32_t* labels_;
  std::int64_t n_clusters_, n_rows_, n_slices_;
  ThreadPool& pool_;
  std::vector<std::int64_t>
      next_;  // by slice and cluster: number of rows, then position of the next row
};

// Returns the rows in the order of their clusters. The result is incomplete if a stop was requested.
inline RowsByCluster sort_by_cluster(const std::int32_t* labels, std::int64_t n_clusters,
                                     std::int64_t n_rows, ThreadPool& pool) {
  return ClusterSort(labels, n_clusters, n_rows, pool).run();
}

}  // namespace boostkmeans
