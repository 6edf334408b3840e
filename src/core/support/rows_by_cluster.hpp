// The rows of each cluster.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

namespace boostkmeans {

struct Members {
  std::vector<std::int64_t> rows;   // row numbers by cluster, ascending within it
  std::vector<std::int64_t> start;  // k + 1
};

inline Members sort_by_cluster(const std::int32_t* labels, std::int64_t n_clusters,
                               std::int64_t n_rows) {
  Members sorted;
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
