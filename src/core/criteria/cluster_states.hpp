// The numbers of all clusters during a sweep, and the effect of moves on them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "criteria/criterion.hpp"
#include "criteria/term_composites.hpp"
#include "parallel/thread_pool.hpp"

namespace boostkmeans {

template <class Criterion>
class ClusterStates {
 public:
  ClusterStates(const TermComposites& composites, ThreadPool& pool)
      : composites_(composites),
        numbers_(static_cast<std::size_t>(composites.n_clusters)),
        largest_(numbers_.size()),
        terms_(numbers_.size()),
        total_(static_cast<std::size_t>(Criterion::kUsesTotal ? composites.n_features : 0)) {
    add_up(pool);
    for (std::int64_t c = 0; c < composites.n_clusters; ++c) {
      numbers_[at(c)].weight = composites.weights[c];
      largest_[at(c)] = numbers_[at(c)].square;
      terms_[at(c)] = Criterion::terms(numbers_[at(c)]);
      sums_ = sums_ + terms_[at(c)];
    }
  }

  const ClusterNumbers& numbers(std::int64_t cluster) const { return numbers_[at(cluster)]; }
  // Terms of the criterion of one cluster, and their sums over all clusters.
  const CriterionSums& terms(std::int64_t cluster) const { return terms_[at(cluster)]; }
  const CriterionSums& sums() const { return sums_; }
  // D, the sum of all composites, or null if the criterion does not depend on it.
  const double* total() const { return total_.empty() ? nullptr : total_.data(); }

  // Called after the composite of a cluster has changed.
  void set(std::int64_t cluster, const ClusterNumbers& numbers) {
    // Fraction of its largest value below which |D_r|^2 is recomputed, because rounding errors of the
    // previous, larger values would dominate it.
    constexpr double kSmall = 1.0 / 16.0;
    ClusterNumbers& own = numbers_[at(cluster)];
    own = numbers;
    largest_[at(cluster)] = std::max(largest_[at(cluster)], own.square);
    if (own.square < kSmall * largest_[at(cluster)]) renew(cluster);
    const CriterionSums terms = Criterion::terms(own);
    sums_ = sums_ + (terms - terms_[at(cluster)]);
    terms_[at(cluster)] = terms;
  }

 private:
  // Terms per part of the sums. Parts are added in order, so that the sums do not depend on the number
  // of threads.
  static constexpr std::int64_t kTermsPerPart = 1024;

  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  // Computes D, |D_r|^2 and D_r . D.
  void add_up(ThreadPool& pool) {
    const std::int64_t k = composites_.n_clusters, d = composites_.n_features;
    const std::int64_t n_parts = (d + kTermsPerPart - 1) / kTermsPerPart;
    std::vector<ClusterNumbers> parts(at(n_parts * k));
    pool.for_each(n_parts, [&](std::int64_t part, int) {
      const std::int64_t end = std::min(d, (part + 1) * kTermsPerPart);
      for (std::int64_t j = part * kTermsPerPart; j < end; ++j) add_term(j, &parts[at(part * k)]);
    });
    for (std::int64_t part = 0; part < n_parts; ++part)
      for (std::int64_t c = 0; c < k; ++c) {
        numbers_[at(c)].square += parts[at(part * k + c)].square;
        numbers_[at(c)].product += parts[at(part * k + c)].product;
      }
  }
  void add_term(std::int64_t column, ClusterNumbers* to) {
    const double* values = composites_.term(column);
    double total = 0.0;
    if constexpr (Criterion::kUsesTotal) {
      for (std::int64_t c = 0; c < composites_.n_clusters; ++c) total += values[c];
      total_[at(column)] = total;
    }
    for (std::int64_t c = 0; c < composites_.n_clusters; ++c) {
      to[c].square += values[c] * values[c];
      to[c].product += values[c] * total;
    }
  }
  // Recomputes |D_r|^2 and D_r . D of one cluster.
  void renew(std::int64_t cluster) {
    ClusterNumbers& own = numbers_[at(cluster)];
    own.square = own.product = 0.0;
    for (std::int64_t j = 0; j < composites_.n_features; ++j) {
      const double value = composites_.term(j)[cluster];
      own.square += value * value;
      if constexpr (Criterion::kUsesTotal) own.product += value * total_[at(j)];
    }
    largest_[at(cluster)] = own.square;
  }

  const TermComposites& composites_;
  std::vector<ClusterNumbers> numbers_;
  std::vector<double> largest_;  // by cluster: largest |D_r|^2 since it was computed
  std::vector<CriterionSums> terms_;
  std::vector<double> total_;
  CriterionSums sums_;
};

}  // namespace boostkmeans
