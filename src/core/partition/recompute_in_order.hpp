// Recomputing a partition row by row, in the order of memory: for clusters whose sums stay in a cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "parallel/thread_pool.hpp"
#include "partition/cluster_totals.hpp"
#include "rows/dense_rows.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

// Rows are summed in pieces, each of which has sums of all clusters; these are added in order, so that
// the sums depend on the data alone. A piece has more rows than there are sums, so that adding them up
// costs little.
class RecomputationInOrder {
 public:
  // How many pieces; 0 where it is better to go cluster by cluster.
  static std::int64_t n_pieces(const DenseRows& rows, const Partition& partition) {
    // All that a piece has fits into the cache of a core, and all pieces into 32 MB. Fewer pieces than
    // that would leave threads without work.
    constexpr std::int64_t kMostNumbers = 1 << 17, kFewestPieces = 8, kMostPieces = 32;
    constexpr std::int64_t kLeastRows = 256, kRowsByCluster = 8;
    if (partition.n_clusters > kMostNumbers / (partition.n_features + kNumbersOfTotals)) return 0;
    const std::int64_t least = std::max(kLeastRows, kRowsByCluster * partition.n_clusters);
    const std::int64_t n_pieces = std::min(rows.n_rows() / least, kMostPieces);
    return n_pieces < kFewestPieces ? 0 : n_pieces;
  }

  RecomputationInOrder(const DenseRows& rows, RowWeights row_weights, const Partition& partition,
                       double* inertias, Team& team)
      : rows_(rows),
        row_weights_(row_weights),
        partition_(partition),
        inertias_(inertias),
        team_(team),
        n_pieces_(n_pieces(rows, partition)),
        sums_(n_pieces_ * size_of_sums()),
        totals_(static_cast<std::size_t>(n_pieces_ * partition.n_clusters)),
        fetched_(row_for_each_thread(rows, team)) {}

  Recomputed run() {
    team_.for_each(n_pieces_, [this](std::int64_t p, int t) { sum_piece(p, t); });
    if (team_.watch().stopped()) return {};
    for (std::int64_t c = 0; c < partition_.n_clusters; ++c) join_pieces(c);
    team_.for_each(n_pieces_, [this](std::int64_t p, int t) { measure_piece(p, t); });
    return report();
  }

 private:
  static constexpr std::int64_t kNumbersOfTotals = sizeof(Totals) / sizeof(double);

  std::int64_t size_of_sums() const { return partition_.n_clusters * partition_.n_features; }
  double* sum(std::int64_t piece, std::int64_t cluster) {
    return sums_.get() + piece * size_of_sums() + cluster * partition_.n_features;
  }
  Totals* totals_of(std::int64_t piece) { return totals_.data() + piece * partition_.n_clusters; }

  // use(row, weight, cluster) for the rows of a piece that weigh something, until the watch says stop.
  template <class Use>
  void for_each_row(std::int64_t piece, int thread, const Use& use) {
    constexpr std::int64_t kValuesBetweenLooks = 1 << 20;
    const std::int64_t rows_between =
        std::max<std::int64_t>(kValuesBetweenLooks / rows_.n_features(), 1);
    const std::int64_t end = rows_.n_rows() * (piece + 1) / n_pieces_;
    for (std::int64_t row = rows_.n_rows() * piece / n_pieces_; row < end; ++row) {
      if (row % rows_between == 0 && team_.watch().look(thread)) return;
      if (const double w = row_weights_[row]; w > 0.0) use(row, w, partition_.labels[row]);
    }
  }

  void sum_piece(std::int64_t piece, int thread) {
    DenseRows::Row& fetched = fetched_[static_cast<std::size_t>(thread)];
    Totals* totals = totals_of(piece);
    std::fill_n(sum(piece, 0), size_of_sums(), 0.0);
    for_each_row(piece, thread, [&](std::int64_t row, double w, std::int64_t cluster) {
      rows_.fetch(row, fetched);
      rows_.add(fetched, w, sum(piece, cluster));
      totals[cluster].weight += w;
      ++totals[cluster].count;
    });
  }

  void join_pieces(std::int64_t cluster) {
    Totals& whole = totals_of(0)[cluster];
    for (std::int64_t piece = 1; piece < n_pieces_; ++piece) {
      add_to(sum(0, cluster), sum(piece, cluster));
      whole += totals_of(piece)[cluster];
    }
    put_in_place(partition_, cluster, sum(0, cluster), whole);
  }

  void add_to(double* whole, const double* part) const {
    for (std::int64_t j = 0; j < partition_.n_features; ++j) whole[j] += part[j];
  }

  void measure_piece(std::int64_t piece, int thread) {
    DenseRows::Row& fetched = fetched_[static_cast<std::size_t>(thread)];
    Totals* totals = totals_of(piece);
    for_each_row(piece, thread, [&](std::int64_t row, double w, std::int64_t cluster) {
      rows_.fetch(row, fetched);
      const Centre centre =
          rows_.centre(partition_.composite(cluster), 1.0 / partition_.weights[cluster]);
      totals[cluster].inertia += w * rows_.distance(fetched, centre);
    });
  }

  Recomputed report() {
    std::vector<Totals> clusters(totals_of(0), totals_of(0) + partition_.n_clusters);
    for (std::int64_t piece = 1; piece < n_pieces_; ++piece)
      for (std::int64_t c = 0; c < partition_.n_clusters; ++c)
        clusters[static_cast<std::size_t>(c)].inertia += totals_of(piece)[c].inertia;
    return report_of(rows_.kernel(), partition_, clusters, inertias_);
  }

  const DenseRows& rows_;
  RowWeights row_weights_;
  const Partition& partition_;
  double* inertias_;
  Team& team_;
  std::int64_t n_pieces_;
  Buffer<double> sums_;                  // by piece and cluster
  std::vector<Totals> totals_;           // by piece and cluster
  std::vector<DenseRows::Row> fetched_;  // by thread
};

}  // namespace boostkmeans
