// Rows sorted by their cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace boostkmeans {

// The rows of cluster c are rows[start[c]] to rows[start[c + 1] - 1].
struct RowsByCluster {
  std::vector<std::int64_t> rows;   // n: row numbers, ascending within each cluster
  std::vector<std::int64_t> start;  // k + 1
};

// Counting sort of the rows by their labels, which must lie in [0, n_clusters).
inline RowsByCluster sort_by_cluster(const std::int32_t* labels, std::int64_t n_clusters,
                                     std::int64_t n_rows) {
  RowsByCluster sorted;
  sorted.start.assign(static_cast<std::size_t>(n_clusters) + 1, 0);
  auto& start = sorted.start;
  for (std::int64_t i = 0; i < n_rows; ++i) ++start[static_cast<std::size_t>(labels[i]) + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<std::int64_t> next(start.begin(), start.end() - 1);
  sorted.rows.resize(static_cast<std::size_t>(n_rows));
  for (std::int64_t i = 0; i < n_rows; ++i)
    sorted.rows[static_cast<std::size_t>(next[static_cast<std::size_t>(labels[i])]++)] = i;
  return sorted;
}

}  // namespace boostkmeans
