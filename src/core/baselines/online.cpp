#include "baselines/online.hpp"

#include <algorithm>

#include "baselines/moving_centres.hpp"
#include "baselines/online_blocks.hpp"
#include "rows/dense_rows.hpp"
#include "rows/sparse_rows.hpp"

namespace boostkmeans {

namespace {

// Visits one row after the other.
template <class Rows>
std::int64_t visit_singly(const Rows& rows, MovingCentres<Rows>& centres, const std::int64_t* order,
                          std::int64_t n_order, double rate, StopToken& stop_token) {
  typename Rows::Row x(rows);
  for (std::int64_t i = 0; i < n_order; ++i) {
    if (stop_token.poll()) return i;
    rows.fetch(order[i], x);
    centres.move(centres.nearest(x).cluster, x, rate);
  }
  return n_order;
}

}  // namespace

std::int64_t online_pass(const DenseRows& rows, double* centres, std::int64_t n_clusters,
                         const std::int64_t* order, std::int64_t n_order, double rate,
                         std::int64_t block_rows, ThreadPool& pool) {
  MovingCentres<DenseRows> moving(rows, centres, n_clusters);
  if (block_rows == 1) return visit_singly(rows, moving, order, n_order, rate, pool.stop_token());
  OnlineBlocks blocks(rows, moving, block_rows, pool);
  for (std::int64_t i = 0; i < n_order; i += block_rows) {
    const std::int64_t count = std::min(block_rows, n_order - i);
    const std::int64_t visited = blocks.visit(order + i, count, rate);
    if (visited < count) return i + visited;
  }
  return n_order;
}

std::int64_t online_pass(const SparseRows& rows, double* centres, std::int64_t n_clusters,
                         const std::int64_t* order, std::int64_t n_order, double rate,
                         ThreadPool& pool) {
  MovingCentres<SparseRows> moving(rows, centres, n_clusters);
  return visit_singly(rows, moving, order, n_order, rate, pool.stop_token());
}

}  // namespace boostkmeans
