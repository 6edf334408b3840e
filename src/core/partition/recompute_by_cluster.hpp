// Recomputes a partition cluster by cluster, for any number of clusters and for sparse rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "parallel/thread_pool.hpp"
#include "partition/cluster_totals.hpp"
#include "partition/rows_by_cluster.hpp"
#include "rows/dense_rows.hpp"
#include "rows/sparse_rows.hpp"
#include "rows/thread_rows.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

// A task sums at most this many members and values, which takes some milliseconds. Larger clusters are
// summed in parts, which are added in order, so that the result does not depend on the number of
// threads.
constexpr std::int64_t kRangeRows = 8192;
constexpr std::int64_t kRangeValues = 1 << 22;

// Number of rows by which prefetching runs ahead. The members of a cluster are scattered in memory.
constexpr std::int64_t kRowsAhead = 24;

// Members [begin, end) of the sorted rows, all of the same cluster.
struct MemberRange {
  std::int64_t cluster, begin, end;
  // number of the partial sum to which they belong, or -1 if they are the whole cluster
  std::int64_t part;
};

inline std::int64_t range_rows(const DenseRows& rows) {
  return std::clamp<std::int64_t>(kRangeValues / rows.n_features(), 1, kRangeRows);
}
// Limits the number of partial sums, because each has all features, whereas sparse rows have few.
inline std::int64_t range_rows(const SparseRows& rows) {
  constexpr std::int64_t kMaxParts = 64;
  return std::max(kRangeRows, rows.n_rows() / kMaxParts);
}

inline std::vector<MemberRange> ranges_of(const RowsByCluster& sorted, std::int64_t length,
                                          std::int64_t& n_parts) {
  std::vector<MemberRange> ranges;
  n_parts = 0;
  for (std::size_t c = 0; c + 1 < sorted.start.size(); ++c) {
    const std::int64_t begin = sorted.start[c], end = sorted.start[c + 1];
    const bool whole = end - begin <= length;
    for (std::int64_t at = begin; at < end; at += length)
      ranges.push_back(
          {static_cast<std::int64_t>(c), at, std::min(end, at + length), whole ? -1 : n_parts++});
  }
  return ranges;
}

template <class Rows>
class RecomputationByCluster {
 public:
  RecomputationByCluster(const Rows& rows, RowWeights row_weights, const Partition& partition,
                         double* inertias, ThreadPool& pool)
      : rows_(rows),
        row_weights_(row_weights),
        partition_(partition),
        inertias_(inertias),
        pool_(pool),
        sorted_(sort_by_cluster(partition.labels, partition.n_clusters, rows.n_rows(), pool)),
        ranges_(ranges_of(sorted_, range_rows(rows), n_parts_)),
        totals_(ranges_.size()),
        parts_(n_parts_ * partition.n_features),
        fetched_(row_for_each_thread(rows, pool)),
        sums_(pool.size() * partition.n_features) {}

  RecomputeResult run() {
    pool_.for_each(n_ranges(), [this](std::int64_t s, int t) { sum_range(s, t); });
    if (pool_.stop_token().stopped()) return {};
    join_parts();
    pool_.for_each(n_ranges(), [this](std::int64_t s, int t) {
      if (ranges_[static_cast<std::size_t>(s)].part >= 0) measure_range(s, t);
    });
    return report();
  }

 private:
  std::int64_t n_ranges() const { return static_cast<std::int64_t>(ranges_.size()); }

  std::int64_t next_row(std::int64_t at) const {
    if (at + kRowsAhead < rows_.n_rows())
      rows_.prefetch(sorted_.rows[static_cast<std::size_t>(at + kRowsAhead)]);
    return sorted_.rows[static_cast<std::size_t>(at)];
  }

  void sum_range(std::int64_t s, int thread) {
    const MemberRange& range = ranges_[static_cast<std::size_t>(s)];
    ClusterTotals& totals = totals_[static_cast<std::size_t>(s)];
    typename Rows::Row& fetched = fetched_[static_cast<std::size_t>(thread)];
    double* sum = range.part < 0 ? sums_.get() + thread * partition_.n_features
                                 : parts_.get() + range.part * partition_.n_features;
    std::fill_n(sum, partition_.n_features, 0.0);
    for (std::int64_t at = range.begin; at < range.end; ++at) {
      const std::int64_t row = next_row(at);
      const double w = row_weights_[row];
      if (w <= 0.0) continue;
      rows_.fetch(row, fetched);
      rows_.add(fetched, w, sum);
      totals.weight += w;
      ++totals.count;
    }
    if (range.part >= 0) return;
    put_in_place(partition_, range.cluster, sum, totals);
    measure_range(s, thread);  // The members of a small cluster are still in the cache.
  }

  void join_parts() {
    for (std::int64_t c = 0; c < partition_.n_clusters; ++c) {
      const auto i = static_cast<std::size_t>(c);
      ClusterTotals none;
      if (sorted_.start[i] == sorted_.start[i + 1]) put_in_place(partition_, c, nullptr, none);
    }
    std::vector<std::size_t> firsts;  // the first range of each cluster that has several
    for (std::size_t s = 0; s < ranges_.size(); ++s)
      if (ranges_[s].part >= 0 && (s == 0 || ranges_[s - 1].cluster != ranges_[s].cluster))
        firsts.push_back(s);
    pool_.for_each(static_cast<std::int64_t>(firsts.size()), [&](std::int64_t i, int) {
      join_parts_of_cluster(firsts[static_cast<std::size_t>(i)]);
    });
  }

  void join_parts_of_cluster(std::size_t first) {
    double* sum = parts_.get() + ranges_[first].part * partition_.n_features;
    ClusterTotals whole = totals_[first];
    for (std::size_t s = first + 1; s < ranges_.size() && ranges_[s].cluster == ranges_[first].cluster;
         ++s) {
      const double* part = parts_.get() + ranges_[s].part * partition_.n_features;
      for (std::int64_t j = 0; j < partition_.n_features; ++j) sum[j] += part[j];
      whole += totals_[s];
    }
    put_in_place(partition_, ranges_[first].cluster, sum, whole);
    totals_[first].change = whole.change;
  }

  void measure_range(std::int64_t s, int thread) {
    const MemberRange& range = ranges_[static_cast<std::size_t>(s)];
    if (partition_.counts[range.cluster] == 0) return;
    typename Rows::Row& fetched = fetched_[static_cast<std::size_t>(thread)];
    const Centre centre =
        rows_.centre(partition_.composite(range.cluster), 1.0 / partition_.weights[range.cluster]);
    double inertia = 0.0;
    for (std::int64_t at = range.begin; at < range.end; ++at) {
      const std::int64_t row = next_row(at);
      const double w = row_weights_[row];
      if (w <= 0.0) continue;
      rows_.fetch(row, fetched);
      inertia += w * rows_.distance(fetched, centre);
    }
    totals_[static_cast<std::size_t>(s)].inertia = inertia;
  }

  RecomputeResult report() {
    std::vector<ClusterTotals> clusters(static_cast<std::size_t>(partition_.n_clusters));
    for (std::size_t s = 0; s < ranges_.size(); ++s)
      clusters[static_cast<std::size_t>(ranges_[s].cluster)] += totals_[s];
    return report_of(rows_.kernel(), partition_, clusters, inertias_, pool_);
  }

  const Rows& rows_;
  RowWeights row_weights_;
  const Partition& partition_;
  double* inertias_;
  ThreadPool& pool_;
  RowsByCluster sorted_;
  std::int64_t n_parts_ = 0;
  std::vector<MemberRange> ranges_;
  std::vector<ClusterTotals> totals_;
  Buffer<double> parts_;
  std::vector<typename Rows::Row> fetched_;  // by thread
  Buffer<double> sums_;                      // by thread
};

}  // namespace boostkmeans
