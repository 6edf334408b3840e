// Repair: the gains of splitting and the costs of merging the clusters of a partition, and swaps of
// them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "assign/neighbours.hpp"
#include "fit/swaps.hpp"
#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"
#include "tree/split.hpp"

namespace boostkmeans {

template <class Rows>
class Repair {
 public:
  // Splits every cluster into halves, unless no swap can gain anything, and computes the cost of merging
  // every pair of clusters. A swap gains if the gain of its split is at least `min_share` of the cost of
  // its merge. `inertia` is that of the partition, which may be recomputed. The result must not be used
  // if a stop was requested.
  Repair(const Rows& rows, RowWeights row_weights, const Partition& partition, double inertia,
         double min_share, std::uint64_t seed, ThreadPool& pool)
      : n_rows_(rows.n_rows()),
        n_clusters_(partition.n_clusters),
        n_features_(partition.n_features),
        labels_(partition.labels, partition.labels + rows.n_rows()),
        composites_(static_cast<std::size_t>(2 * n_clusters_ * n_features_), 0.0),
        weights_(static_cast<std::size_t>(2 * n_clusters_), 0.0),
        counts_(static_cast<std::size_t>(2 * n_clusters_), 0),
        gains_(static_cast<std::size_t>(n_clusters_), -std::numeric_limits<double>::infinity()) {
    find_merges(rows.kernel(), partition, pool);
    if (!may_gain(rows, row_weights, partition, inertia, min_share, pool)) return;
    label_halves(rows, row_weights, seed, pool);
    if (pool.stop_token().stopped()) return;
    recompute(rows, row_weights, halves(), nullptr, pool);
    find_gains(rows.kernel(), pool);
  }

  const std::vector<double>& gains() const { return gains_; }
  const std::vector<Merge>& merges() const { return merges_; }

  // Writes the partition after some swaps, which only relabel halves. The composite of a cluster that
  // becomes empty is not changed.
  void apply(const Swaps& swaps, const Partition& out) const {
    std::vector<std::int32_t> becomes(static_cast<std::size_t>(2 * n_clusters_));
    std::iota(becomes.begin(), becomes.begin() + n_clusters_, 0);
    std::iota(becomes.begin() + n_clusters_, becomes.end(), 0);
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    for (const Swap& swap : swaps.chosen) {
      becomes[at(swap.freed)] = becomes[at(n_clusters_ + swap.freed)] =
          static_cast<std::int32_t>(swap.merged);
      becomes[at(n_clusters_ + swap.split)] = static_cast<std::int32_t>(swap.freed);
    }
    for (std::int64_t i = 0; i < n_rows_; ++i) out.labels[i] = becomes[at(labels_[at(i)])];
    std::fill_n(out.weights, n_clusters_, 0.0);
    std::fill_n(out.counts, n_clusters_, 0);
    for (std::int64_t h = 0; h < 2 * n_clusters_; ++h) add_half(h, becomes[at(h)], out);
  }

 private:
  static constexpr std::int64_t kMaxPasses = 10;
  static constexpr double kTol = 1e-4;

  Partition halves() {
    return {labels_.data(), composites_.data(), weights_.data(),
            counts_.data(), 2 * n_clusters_,    n_features_};
  }

  // A split lowers the inertia by at most the inertia of its cluster. Returns false if this is too
  // little for all clusters, as in the case of clusters that lie far apart. Recomputes the inertia of
  // each cluster only if the sum leaves it open.
  bool may_gain(const Rows& rows, RowWeights row_weights, const Partition& partition, double inertia,
                double min_share, ThreadPool& pool) const {
    constexpr double kMargin = 1.0 - 1e-9;  // for rounding
    if (merges_.empty()) return false;
    const double least = kMargin * min_share * merges_.front().cost;
    if (inertia < least) return false;
    if (inertia >= least * static_cast<double>(n_clusters_)) return true;
    std::vector<double> inertias(static_cast<std::size_t>(n_clusters_), 0.0);
    recompute(rows, row_weights, partition, inertias.data(), pool);
    return *std::ranges::max_element(inertias) >= least;
  }

  void add_half(std::int64_t half, std::int64_t to, const Partition& out) const {
    const auto h = static_cast<std::size_t>(half);
    if (counts_[h] == 0) return;  // its composite is not a sum
    const double* sum = composites_.data() + half * n_features_;
    double* composite = out.composite(to);
    if (out.counts[to] == 0) std::fill_n(composite, n_features_, 0.0);
    for (std::int64_t j = 0; j < n_features_; ++j) composite[j] += sum[j];
    out.weights[to] += weights_[h];
    out.counts[to] += counts_[h];
  }

  // Splits the clusters with at least two weighted rows. The second half of cluster c gets label k + c.
  void label_halves(const Rows& rows, RowWeights row_weights, std::uint64_t seed, ThreadPool& pool) {
    std::vector<std::vector<std::int64_t>> by_cluster(static_cast<std::size_t>(n_clusters_));
    for (std::int64_t i = 0; i < n_rows_; ++i)
      if (row_weights[i] > 0.0)
        by_cluster[static_cast<std::size_t>(labels_[static_cast<std::size_t>(i)])].push_back(i);
    std::vector<std::int64_t> members, begins, ends;
    std::vector<std::int32_t> clusters;
    members.reserve(static_cast<std::size_t>(n_rows_));
    for (std::size_t c = 0; c < by_cluster.size(); ++c) {
      if (by_cluster[c].size() < 2) continue;
      begins.push_back(static_cast<std::int64_t>(members.size()));
      members.insert(members.end(), by_cluster[c].begin(), by_cluster[c].end());
      ends.push_back(static_cast<std::int64_t>(members.size()));
      clusters.push_back(static_cast<std::int32_t>(c));
    }
    const SplitOptions options{{2, SectionStart::plus_plus, kMaxPasses, kTol}, seed, false};
    std::vector<std::int64_t> found(2 * begins.size());
    std::vector<double> weights(found.size()), inertias(found.size());
    std::vector<std::int64_t> passes(begins.size());
    split(rows, row_weights, members.data(), begins.data(), ends.data(),
          static_cast<std::int64_t>(begins.size()), options,
          SplitResult{found.data(), weights.data(), inertias.data(), passes.data()}, pool);
    if (pool.stop_token().stopped()) return;
    for (std::size_t s = 0; s < begins.size(); ++s) {
      if (found[2 * s] < 0) continue;  // equal rows have no second half
      for (std::int64_t i = found[2 * s]; i < ends[s]; ++i)
        labels_[static_cast<std::size_t>(members[static_cast<std::size_t>(i)])] =
            static_cast<std::int32_t>(n_clusters_) + clusters[s];
    }
  }

  // Costs of merging pairs: Wa Wb / (Wa + Wb) |Ca - Cb|^2.
  static std::vector<double> costs_of(const Kernel& kernel, const double* composites,
                                      const double* weights, std::int64_t n_features,
                                      const std::vector<std::int64_t>& a,
                                      const std::vector<std::int64_t>& b, ThreadPool& pool) {
    std::vector<double> costs(a.size());
    pair_distances(kernel, composites, weights, n_features, a.data(), b.data(),
                   static_cast<std::int64_t>(a.size()), costs.data(), pool);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double w = weights[a[i]], v = weights[b[i]];
      costs[i] *= w + v > 0.0 ? w * v / (w + v) : 0.0;
    }
    return costs;
  }

  void find_gains(const Kernel& kernel, ThreadPool& pool) {
    std::vector<std::int64_t> a(static_cast<std::size_t>(n_clusters_)), b(a.size());
    std::iota(a.begin(), a.end(), 0);
    std::iota(b.begin(), b.end(), n_clusters_);
    gains_ = costs_of(kernel, composites_.data(), weights_.data(), n_features_, a, b, pool);
    for (std::size_t c = 0; c < gains_.size(); ++c)
      if (counts_[c] == 0 || counts_[c + gains_.size()] == 0)
        gains_[c] = -std::numeric_limits<double>::infinity();
  }

  void find_merges(const Kernel& kernel, const Partition& partition, ThreadPool& pool) {
    std::vector<std::int64_t> a, b;
    for (std::int64_t i = 0; i < n_clusters_; ++i)
      for (std::int64_t j = i + 1; j < n_clusters_; ++j) {
        a.push_back(i);
        b.push_back(j);
      }
    const std::vector<double> costs =
        costs_of(kernel, partition.composites, partition.weights, n_features_, a, b, pool);
    for (std::size_t i = 0; i < a.size(); ++i) merges_.push_back({a[i], b[i], costs[i]});
    std::ranges::stable_sort(merges_, {}, &Merge::cost);
  }

  std::int64_t n_rows_, n_clusters_, n_features_;
  std::vector<std::int32_t> labels_;  // of the halves
  std::vector<double> composites_, weights_;
  std::vector<std::int64_t> counts_;
  std::vector<double> gains_;  // of splits; -inf for clusters that cannot be split
  std::vector<Merge> merges_;  // of all pairs, cheapest first
};

}  // namespace boostkmeans
