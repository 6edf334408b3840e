// Recomputes a partition row by row, in the order of memory, if the sums of all clusters fit into a
// cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "parallel/thread_pool.hpp"
#include "partition/cluster_totals.hpp"
#include "rows/dense_rows.hpp"
#include "rows/thread_rows.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

// Sums the rows of each slice by cluster, and then adds the sums of the slices in order, so that the
// result does not depend on the number of threads. A slice has more rows than clusters, so that adding
// the slices takes little time.
class RecomputationInOrder {
 public:
  // Number of slices, or 0 if it is faster to recompute cluster by cluster.
  static std::int64_t n_slices(const DenseRows& rows, const Partition& partition) {
    // Maximum number of values in a slice: 1 MB, which fits into the cache of a core.
    constexpr std::int64_t kMaxNumbers = 1 << 17;
    // Limits on the number of slices. With fewer, some threads would be idle. More would take more
    // than 32 MB.
    constexpr std::int64_t kMinSlices = 8;
    constexpr std::int64_t kMaxSlices = 32;
    // Smallest number of rows in a slice, in total and per cluster.
    constexpr std::int64_t kMinRows = 256;
    constexpr std::int64_t kRowsPerCluster = 8;
    if (partition.n_clusters > kMaxNumbers / (partition.n_features + kNumbersOfTotals)) return 0;
    const std::int64_t min_rows = std::max(kMinRows, kRowsPerCluster * partition.n_clusters);
    const std::int64_t n_slices = std::min(rows.n_rows() / min_rows, kMaxSlices);
    return n_slices < kMinSlices ? 0 : n_slices;
  }

  RecomputationInOrder(const DenseRows& rows, RowWeights row_weights, const Partition& partition,
                       double* inertias, ThreadPool& pool)
      : rows_(rows),
        row_weights_(row_weights),
        partition_(partition),
        inertias_(inertias),
        pool_(pool),
        n_slices_(n_slices(rows, partition)),
        sums_(n_slices_ * size_of_sums()),
        totals_(static_cast<std::size_t>(n_slices_ * partition.n_clusters)),
        fetched_(row_for_each_thread(rows, pool)) {}

  RecomputeResult run() {
    pool_.for_each(n_slices_, [this](std::int64_t p, int t) { sum_slice(p, t); });
    if (pool_.stop_token().stopped()) return {};
    for_each_cluster(partition_, pool_, [this](std::int64_t c) { join_slices(c); });
    pool_.for_each(n_slices_, [this](std::int64_t p, int t) { measure_slice(p, t); });
    return report();
  }

 private:
  static constexpr std::int64_t kNumbersOfTotals = sizeof(ClusterTotals) / sizeof(double);

  std::int64_t size_of_sums() const { return partition_.n_clusters * partition_.n_features; }
  double* sum(std::int64_t slice, std::int64_t cluster) {
    return sums_.get() + slice * size_of_sums() + cluster * partition_.n_features;
  }
  ClusterTotals* totals_of(std::int64_t slice) { return totals_.data() + slice * partition_.n_clusters; }

  // Calls use(row, weight, cluster) for the rows of a slice with positive weight, until a stop is
  // requested.
  template <class Use>
  void for_each_row(std::int64_t slice, int thread, const Use& use) {
    constexpr std::int64_t kValuesBetweenPolls = 1 << 20;
    const std::int64_t rows_between_polls =
        std::max<std::int64_t>(kValuesBetweenPolls / rows_.n_features(), 1);
    const std::int64_t end = rows_.n_rows() * (slice + 1) / n_slices_;
    for (std::int64_t row = rows_.n_rows() * slice / n_slices_; row < end; ++row) {
      if (row % rows_between_polls == 0 && pool_.stop_token().stop_requested(thread)) return;
      if (const double w = row_weights_[row]; w > 0.0) use(row, w, partition_.labels[row]);
    }
  }

  void sum_slice(std::int64_t slice, int thread) {
    DenseRows::Row& fetched = fetched_[static_cast<std::size_t>(thread)];
    ClusterTotals* totals = totals_of(slice);
    std::fill_n(sum(slice, 0), size_of_sums(), 0.0);
    for_each_row(slice, thread, [&](std::int64_t row, double w, std::int64_t cluster) {
      rows_.fetch(row, fetched);
      rows_.add(fetched, w, sum(slice, cluster));
      totals[cluster].weight += w;
      ++totals[cluster].count;
    });
  }

  void join_slices(std::int64_t cluster) {
    ClusterTotals& whole = totals_of(0)[cluster];
    for (std::int64_t slice = 1; slice < n_slices_; ++slice) {
      add_to(sum(0, cluster), sum(slice, cluster));
      whole += totals_of(slice)[cluster];
    }
    put_in_place(partition_, cluster, sum(0, cluster), whole);
  }

  void add_to(double* whole, const double* part) const {
    for (std::int64_t j = 0; j < partition_.n_features; ++j) whole[j] += part[j];
  }

  void measure_slice(std::int64_t slice, int thread) {
    DenseRows::Row& fetched = fetched_[static_cast<std::size_t>(thread)];
    ClusterTotals* totals = totals_of(slice);
    for_each_row(slice, thread, [&](std::int64_t row, double w, std::int64_t cluster) {
      rows_.fetch(row, fetched);
      const Centre centre =
          rows_.centre(partition_.composite(cluster), 1.0 / partition_.weights[cluster]);
      totals[cluster].inertia += w * rows_.distance(fetched, centre);
    });
  }

  RecomputeResult report() {
    std::vector<ClusterTotals> clusters(totals_of(0), totals_of(0) + partition_.n_clusters);
    for (std::int64_t slice = 1; slice < n_slices_; ++slice)
      for (std::int64_t c = 0; c < partition_.n_clusters; ++c)
        clusters[static_cast<std::size_t>(c)].inertia += totals_of(slice)[c].inertia;
    return report_of(rows_.kernel(), partition_, clusters, inertias_, pool_);
  }

  const DenseRows& rows_;
  RowWeights row_weights_;
  const Partition& partition_;
  double* inertias_;
  ThreadPool& pool_;
  std::int64_t n_slices_;
  Buffer<double> sums_;                  // by slice and cluster
  std::vector<ClusterTotals> totals_;    // by slice and cluster
  std::vector<DenseRows::Row> fetched_;  // by thread
};

}  // namespace boostkmeans
