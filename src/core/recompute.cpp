#include <algorithm>
#include <cmath>
#include <vector>

#include "buffer.hpp"
#include "dense_rows.hpp"
#include "members.hpp"
#include "partition.hpp"
#include "sparse_rows.hpp"

namespace boostkmeans {

namespace {

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

std::int64_t span_rows(const DenseRows& rows) {
  return std::clamp<std::int64_t>(kSpanValues / rows.n_features(), 1, kSpanRows);
}
// The sum of a part has all features, of which sparse rows have few: so parts are no more than some.
std::int64_t span_rows(const SparseRows& rows) {
  constexpr std::int64_t kMostParts = 64;
  return std::max(kSpanRows, rows.n_rows() / kMostParts);
}

std::vector<Span> spans_of(const Members& sorted, std::int64_t length, std::int64_t& n_parts) {
  std::vector<Span> spans;
  n_parts = 0;
  for (std::size_t c = 0; c + 1 < sorted.start.size(); ++c) {
    const std::int64_t begin = sorted.start[c], end = sorted.start[c + 1];
    const bool whole = end - begin <= length;
    for (std::int64_t at = begin; at < end; at += length)
      spans.push_back({static_cast<std::int64_t>(c), at, std::min(end, at + length),
                       whole ? -1 : n_parts++});
  }
  return spans;
}

struct Totals {
  double weight = 0.0, inertia = 0.0, change = 0.0;
  std::int64_t count = 0;
};

template <class Rows>
class Recomputation {
 public:
  Recomputation(const Rows& rows, RowWeights row_weights, const Partition& partition,
                double* inertias, Team& team)
      : rows_(rows), row_weights_(row_weights), partition_(partition), inertias_(inertias), team_(team),
        sorted_(sort_by_cluster(partition.labels, partition.n_clusters, rows.n_rows())),
        spans_(spans_of(sorted_, span_rows(rows), n_parts_)),
        totals_(spans_.size()), parts_(n_parts_ * partition.n_features),
        fetched_(row_for_each_thread(rows, team)), sums_(team.size() * partition.n_features) {}

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
    if (span.part < 0) totals.change = replace(span.cluster, sum, totals.weight, totals.count);
  }

  // Puts a cluster's sums in place; returns the largest change of its composite.
  double replace(std::int64_t cluster, const double* sum, double total, std::int64_t count) {
    double* composite = partition_.composite(cluster);
    double change = 0.0;
    if (count > 0)
      for (std::int64_t j = 0; j < partition_.n_features; ++j) {
        change = std::max(change, std::abs(composite[j] - sum[j]));
        composite[j] = sum[j];
      }
    partition_.weights[cluster] = count > 0 ? total : 0.0;
    partition_.counts[cluster] = count;
    return change;
  }

  void join_parts() {
    for (std::int64_t c = 0; c < partition_.n_clusters; ++c) {
      const auto i = static_cast<std::size_t>(c);
      if (sorted_.start[i] == sorted_.start[i + 1]) replace(c, nullptr, 0.0, 0);
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
        whole.weight += totals_[s].weight;
        whole.count += totals_[s].count;
      }
      totals_[first].change = replace(spans_[first].cluster, sum, whole.weight, whole.count);
    }
  }

  void measure_span(std::int64_t s, int thread) {
    const Span& span = spans_[static_cast<std::size_t>(s)];
    if (partition_.counts[span.cluster] == 0) return;
    typename Rows::Row& fetched = fetched_[static_cast<std::size_t>(thread)];
    const Centre centre = rows_.centre(partition_.composite(span.cluster),
                                       1.0 / partition_.weights[span.cluster]);
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

  // The drift of a cluster is the change of its composite by W times the root of the members' mean
  // square: what its members could add up to, however near to the origin its centre is.
  Recomputed report() const {
    Recomputed result;
    if (inertias_ != nullptr) std::fill_n(inertias_, partition_.n_clusters, 0.0);
    for (std::size_t s = 0; s < spans_.size();) {
      const std::int64_t cluster = spans_[s].cluster;
      double inertia = 0.0, change = 0.0;
      for (; s < spans_.size() && spans_[s].cluster == cluster; ++s) {
        inertia += totals_[s].inertia;
        change = std::max(change, totals_[s].change);
      }
      result.inertia += inertia;
      if (inertias_ != nullptr) inertias_[cluster] = inertia;
      const double weight = partition_.weights[cluster];
      const double* composite = partition_.composite(cluster);
      const double square =
          rows_.kernel().dot(composite, composite, partition_.n_features) + weight * inertia;
      if (square > 0.0) result.drift = std::max(result.drift, change / std::sqrt(square));
    }
    return result;
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

}  // namespace

template <class Rows>
Recomputed recompute(const Rows& rows, RowWeights row_weights, const Partition& partition,
                     double* inertias, Team& team) {
  return Recomputation<Rows>(rows, row_weights, partition, inertias, team).run();
}

template Recomputed recompute(const DenseRows&, RowWeights, const Partition&, double*, Team&);
template Recomputed recompute(const SparseRows&, RowWeights, const Partition&, double*, Team&);

}  // namespace boostkmeans
