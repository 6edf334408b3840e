#include "assign/bounded_nearest.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "projection/bounded_search.hpp"
#include "rows/thread_rows.hpp"

namespace boostkmeans {

namespace {

// The rule "best" with weights of 1 costs W / (W + 1) = 1/2 of the squared distance for all clusters, so
// that the cheapest cluster is the nearest one.
constexpr double kFactor = 0.5;

}  // namespace

void bounded_nearest(const DenseRows& rows, const double* centres, std::int64_t n_clusters,
                     const ProjectedRows& projected, std::int32_t* labels, double* distances,
                     ThreadPool& pool) {
  const std::int64_t n = rows.n_rows(), d = rows.n_features();
  std::vector<double> weights(static_cast<std::size_t>(n_clusters), 1.0);
  // LowerBounds only reads the partition.
  const Partition partition{labels, const_cast<double*>(centres), weights.data(), nullptr, n_clusters,
                            d};
  LowerBounds bounds(projected, partition, 0, pool);
  std::vector<std::int64_t> all(static_cast<std::size_t>(n_clusters));
  std::iota(all.begin(), all.end(), 0);
  bounds.update(all, pool);
  BoundedSearch search(bounds, projected.values, pool);
  auto fetched = row_for_each_thread(rows, pool);
  const BoundedScan scan{nullptr, n_clusters, false, true};
  pool.for_each((n + kBatchRows - 1) / kBatchRows, [&](std::int64_t batch, int thread) {
    const std::int64_t first = batch * kBatchRows, count = std::min(kBatchRows, n - first);
    const auto row_of = [=](std::int64_t r) { return first + r; };
    DenseRows::Row& x = fetched[static_cast<std::size_t>(thread)];
    std::int64_t in_x = -1;
    const auto cost_of = [&](std::int64_t r, std::int32_t cluster) {
      if (in_x != r) rows.fetch(row_of(r), x), in_x = r;
      return kFactor * rows.distance(x, {centres + cluster * d, 1.0, 0.0});
    };
    double guesses[kBatchRows];
    BoundedSearch::Found found[kBatchRows];
    for (std::int64_t r = 0; r < count; ++r) {
      guesses[r] = cost_of(r, labels[row_of(r)]);
      found[r] = {guesses[r], labels[row_of(r)]};
    }
    search.begin(scan, thread);
    search.load(
        count, row_of, [](std::int64_t) { return -1; }, [](std::int64_t) { return 1.0f; }, thread);
    if (!search.search(scan, count, row_of, guesses, cost_of, found, thread)) return;
    for (std::int64_t r = 0; r < count; ++r) {
      labels[row_of(r)] = found[r].cluster;
      if (distances != nullptr) distances[row_of(r)] = found[r].cost / kFactor;
    }
  });
}

}  // namespace boostkmeans
