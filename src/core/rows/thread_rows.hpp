// One fetched row per thread.
#pragma once

#include <cstddef>
#include <vector>

#include "parallel/thread_pool.hpp"

namespace boostkmeans {

// Returns memory for one float64 row per thread of the pool.
template <class Rows>
std::vector<typename Rows::Row> row_for_each_thread(const Rows& rows, const ThreadPool& pool) {
  std::vector<typename Rows::Row> fetched;
  fetched.reserve(static_cast<std::size_t>(pool.size()));
  for (int t = 0; t < pool.size(); ++t) fetched.emplace_back(rows);
  return fetched;
}

}  // namespace boostkmeans
