// The composites of a partition by term, as plain arrays that the caller owns.
//
// Each term (column of the data) has a row of k values: its value in each composite. The products of a
// sparse row with all composites are then sums over the rows of its terms.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernel/kernel.hpp"
#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"
#include "rows/dense_rows.hpp"
#include "rows/sparse_rows.hpp"

namespace boostkmeans {

struct TermComposites {
  std::int32_t* labels;  // n
  double* by_term;       // d x k
  double* weights;       // k: sums of the members' weights
  std::int64_t* counts;  // k: number of members of positive weight
  std::int64_t n_clusters;
  std::int64_t n_features;

  double* term(std::int64_t column) const { return by_term + column * n_clusters; }
  // Prefetches the values of a term that will be read soon.
  void prefetch(std::int64_t column) const {
    // Values per cache line, and the number of lines after which the processor prefetches by itself.
    constexpr std::int64_t kLine = 8, kMaxLines = 4;
    const double* values = term(column);
    for (std::int64_t c = 0; c < std::min(n_clusters, kMaxLines * kLine); c += kLine)
      __builtin_prefetch(values + c);
  }
};

// Calls visit(column, value) for the values of a row that are not zero.
template <class Visit>
void for_each_term(const SparseRows&, const SparseRows::Row& x, Visit visit) {
  for (std::int64_t t = 0; t < x.count; ++t) visit(x.columns[t], x.values[t]);
}
template <class Visit>
void for_each_term(const DenseRows& rows, const DenseRows::Row& x, Visit visit) {
  for (std::int64_t j = 0; j < rows.n_features(); ++j)
    if (x.values[j] != 0.0) visit(j, x.values[j]);
}

// dots += value * the values of a term, for all clusters.
inline void add_term(const Kernel& kernel, const TermComposites& composites, std::int64_t column,
                     double value, double* dots) {
  // Number of clusters, such as the two of a split, for which a call of the kernel would take longer.
  constexpr std::int64_t kFewClusters = 4;
  const double* values = composites.term(column);
  if (composites.n_clusters > kFewClusters) {
    kernel.add(dots, values, value, composites.n_clusters);
    return;
  }
  for (std::int64_t c = 0; c < composites.n_clusters; ++c) dots[c] += value * values[c];
}

// Adds w x . D_r to the dots of all clusters.
inline void add_dots(const SparseRows& rows, const SparseRows::Row& x, double weight,
                     const TermComposites& composites, double* dots) {
  // Number of terms by which prefetching runs ahead. The terms of a row are scattered in memory.
  constexpr std::int64_t kTermsAhead = 8;
  for (std::int64_t t = 0; t < std::min(kTermsAhead, x.count); ++t) composites.prefetch(x.columns[t]);
  for (std::int64_t t = 0; t < x.count; ++t) {
    if (t + kTermsAhead < x.count) composites.prefetch(x.columns[t + kTermsAhead]);
    add_term(rows.kernel(), composites, x.columns[t], weight * x.values[t], dots);
  }
}
inline void add_dots(const DenseRows& rows, const DenseRows::Row& x, double weight,
                     const TermComposites& composites, double* dots) {
  for_each_term(rows, x, [&](std::int64_t column, double value) {
    add_term(rows.kernel(), composites, column, weight * value, dots);
  });
}

// Computes by_term, weights and counts from the labels, in the order of the rows. The arrays are
// incomplete if a stop is requested.
template <class Rows>
void sum_by_term(const Rows& rows, RowWeights row_weights, const TermComposites& composites,
                 ThreadPool& pool) {
  constexpr std::int64_t kRowsBetweenPolls = 256;
  const std::int64_t k = composites.n_clusters;
  std::fill_n(composites.by_term, composites.n_features * k, 0.0);
  std::fill_n(composites.weights, k, 0.0);
  std::fill_n(composites.counts, k, std::int64_t{0});
  typename Rows::Row x(rows);
  for (std::int64_t row = 0; row < rows.n_rows(); ++row) {
    if (row % kRowsBetweenPolls == 0 && pool.stop_token().poll()) return;
    const double w = row_weights[row];
    if (w <= 0.0) continue;
    const std::int32_t cluster = composites.labels[row];
    rows.fetch(row, x);
    for_each_term(rows, x, [&](std::int64_t column, double value) {
      composites.term(column)[cluster] += w * value;
    });
    composites.weights[cluster] += w;
    ++composites.counts[cluster];
  }
}

}  // namespace boostkmeans
