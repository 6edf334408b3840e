// Recomputing a partition cluster by cluster: for any number of clusters, and for sparse rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "parallel/thread_pool.hpp"
#include "partition/cluster_totals.hpp"
#include "rows/dense_rows.hpp"
#include "rows/sparse_rows.hpp"
#include "support/aligned_buffer.hpp"
#include "support/rows_by_cluster.hpp"

namespace boostkmeans {

// Members summed in one go: some milliseconds. Longer clusters are summed in parts, which are added in
// order, so that the sums depend on the data alone.
constexpr std::int64_t kSpanRows = 8192, kSpanValues = 1 << 22;

// The members of a cluster lie all over the memory, so they are asked for that many rows ahead.
constexpr std::int64_t kRowsAhead = 8;

// Members [begin, end) of the sorted rows, all of one cluster.
struct Span {
  std::int64_t cluster, begin, end;
  std::int64_t part;  // where its sum goes: -1 = straight into the composite
};

inline std::int64_t span_rows(const DenseRows& rows) {
  return std::clamp<std::int64_t>(kSpanValues / rows.n_features(), 1, kSpanRows);
}
// The sum of a part has all features, of which sparse rows have few: so parts are no more than some.
inline std::int64_t span_rows(const SparseRows& rows) {
  constexpr std::int64_t kMostParts = 64;
  return std::max(kSpanRows, rows.n_rows() / kMostParts);
}

inline std::vector<Span> spans_of(const Members& sorted, std::int64_t length, std::int64_t& n_parts) {
  std::vector<Span> spans;
  n_parts = 0;
  for (std::size_t c = 0; c + 1 < sorted.start.size(); ++c) {
    const std::int64_t begin = sorted.start[c], end = sorted.start[c + 1];
    const bool whole = end - begin <= length;
    for (std::int64_t at = begin; at < end; at += length)
      spans.push_back(
          {static_cast<std::int64_t>(c), at, std::min(end, at + length), whole ? -1 : n_parts++});
  }
  return spans;
}

template <class Rows>
class RecomputationByCluster {
 public:
  RecomputationByCluster(const Rows& rows, RowWeights row_weights, const Partition& partition,
                         double* inertias, Team& team)
      : rows_(rows),
        row_weights_(row_weights),
        partition_(partition),
        inertias_(inertias),
        team_(team),
        sorted_(sort_by_cluster(partition.labels, partition.n_clusters, rows.n_rows())),
        spans_(spans_of(sorted_, span_rows(rows), n_parts_)),
        totals_(spans_.size()),
        parts_(n_parts_ * partition.n_features),
        fetched_(row_for_each_thread(rows, team)),
        sums_(team.size() * partition.n_features) {}

  Recomputed run() {
    team_.for_each(n_spans(), [this](std::int64_t s, int t) { sum_span(s, t); });
    if (team_.watch().stopped()) return {};
    join_parts();
    team_.for_each(n_spans(), [this](std::int64_t s, int t) { measure_span(s, t); });
    return report();
  }

 private:
  std::int64_t n_spans() const { return static_cast<std::int64_t>(spans_.size()); }

  std::int64_t next_row(std::int64_t at) const {
    if (at + kRowsAhead < rows_.n_rows())
      rows_.prefetch(sorted_.rows[static_cast<std::size_t>(at + kRowsAhead)]);
    return sorted_.rows[static_cast<std::size_t>(at)];
  }

  void sum_span(std::int64_t s, int thread) {
    const Span& span = spans_[static_cast<std::size_t>(s)];
    Totals& totals = totals_[static_cast<std::size_t>(s)];
    typename Rows::Row& fetched = fetched_[static_cast<std::size_t>(thread)];
    double* sum = span.part < 0 ? sums_.get() + thread * partition_.n_features
                                : parts_.get() + span.part * partition_.n_features;
    std::fill_n(sum, partition_.n_features, 0.0);
    for (std::int64_t at = span.begin; at < span.end; ++at) {
      const std::int64_t row = next_row(at);
      const double w = row_weights_[row];
      if (w <= 0.0) continue;
      rows_.fetch(row, fetched);
      rows_.add(fetched, w, sum);
      totals.weight += w;
      ++totals.count;
    }
    if (span.part < 0) put_in_place(partition_, span.cluster, sum, totals);
  }

  void join_parts() {
    for (std::int64_t c = 0; c < partition_.n_clusters; ++c) {
      const auto i = static_cast<std::size_t>(c);
      Totals none;
      if (sorted_.start[i] == sorted_.start[i + 1]) put_in_place(partition_, c, nullptr, none);
    }
    for (std::size_t s = 0; s < spans_.size();) {
      if (spans_[s].part < 0) {
        ++s;
        continue;
      }
      const std::size_t first = s;
      double* sum = parts_.get() + spans_[s].part * partition_.n_features;
      Totals whole = totals_[s];
      for (++s; s < spans_.size() && spans_[s].cluster == spans_[first].cluster; ++s) {
        const double* part = parts_.get() + spans_[s].part * partition_.n_features;
        for (std::int64_t j = 0; j < partition_.n_features; ++j) sum[j] += part[j];
        whole += totals_[s];
      }
      put_in_place(partition_, spans_[first].cluster, sum, whole);
      totals_[first].change = whole.change;
    }
  }

  void measure_span(std::int64_t s, int thread) {
    const Span& span = spans_[static_cast<std::size_t>(s)];
    if (partition_.counts[span.cluster] == 0) return;
    typename Rows::Row& fetched = fetched_[static_cast<std::size_t>(thread)];
    const Centre centre =
        rows_.centre(partition_.composite(span.cluster), 1.0 / partition_.weights[span.cluster]);
    double inertia = 0.0;
    for (std::int64_t at = span.begin; at < span.end; ++at) {
      const std::int64_t row = next_row(at);
      const double w = row_weights_[row];
      if (w <= 0.0) continue;
      rows_.fetch(row, fetched);
      inertia += w * rows_.distance(fetched, centre);
    }
    totals_[static_cast<std::size_t>(s)].inertia = inertia;
  }

  Recomputed report() const {
    std::vector<Totals> clusters(static_cast<std::size_t>(partition_.n_clusters));
    for (std::size_t s = 0; s < spans_.size(); ++s)
      clusters[static_cast<std::size_t>(spans_[s].cluster)] += totals_[s];
    return report_of(rows_.kernel(), partition_, clusters, inertias_);
  }

  const Rows& rows_;
  RowWeights row_weights_;
  const Partition& partition_;
  double* inertias_;
  Team& team_;
  Members sorted_;
  std::int64_t n_parts_ = 0;
  std::vector<Span> spans_;
  std::vector<Totals> totals_;
  Buffer<double> parts_;
  std::vector<typename Rows::Row> fetched_;  // by thread
  Buffer<double> sums_;                      // by thread
};

}  // namespace boostkmeans
