#include "assign/nearest.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "scoring/centre_traits.hpp"
#include "scoring/row_batch.hpp"

namespace boostkmeans {

namespace {

// Rows that are measured in one go.
constexpr std::int64_t kBatch = 64;

// body(row, fetched) for every row.
template <class Rows, class Body>
void each_row(const Rows& rows, Team& team, Body body) {
  auto fetched = row_for_each_thread(rows, team);
  team.for_each((rows.n_rows() + kBatch - 1) / kBatch, [&](std::int64_t batch, int thread) {
    typename Rows::Row& x = fetched[static_cast<std::size_t>(thread)];
    const std::int64_t end = std::min(rows.n_rows(), (batch + 1) * kBatch);
    for (std::int64_t row = batch * kBatch; row < end; ++row) {
      rows.fetch(row, x);
      body(row, x);
    }
  });
}

template <class Rows>
class Search {
 public:
  Search(const Rows& rows, const double* centres, std::int64_t n_clusters, const std::int32_t* exclude,
         Team& team)
      : rows_(rows),
        centres_(centres),
        n_clusters_(n_clusters),
        exclude_(exclude),
        team_(team),
        squares_(rows, centres, n_clusters, team),
        packed_(all_centres(rows, n_clusters)),
        fetched_(row_for_each_thread(rows, team)) {
    for (int t = 0; t < team.size(); ++t) pieces_.push_back(std::make_unique<Piece<Rows>>(rows));
  }

  // To be done before any search.
  void pack() {
    fill_lines(packed_, centres_, false, team_);
    team_.for_each(n_clusters_, [&](std::int64_t c, int) {
      set_centre(packed_, c, centre(c).composite, 1.0, squares_.at(c));
    });
  }

  void run(std::int32_t* labels, double* distances) {
    pack();
    team_.for_each((rows_.n_rows() + kPieceRows - 1) / kPieceRows, [&](std::int64_t p, int thread) {
      search(
          p * kPieceRows, thread, [=](std::int64_t row, std::int32_t label) { labels[row] = label; },
          distances);
    });
  }

  // Calls found(row, label) for the rows of a piece.
  template <class Found>
  void search(std::int64_t first, int thread, Found found, double* distances = nullptr) {
    const std::int64_t n = rows_.n_rows();
    Piece<Rows>& piece = *pieces_[static_cast<std::size_t>(thread)];
    const std::int64_t count = std::min(kPieceRows, n - first);
    piece.load(count, [=](std::int64_t r) { return first + r; });
    const std::int64_t next = first + kPieceRows;
    piece.prefetch(std::min(kPieceRows, n - next), [=](std::int64_t r) { return next + r; });
    if (exclude_ != nullptr)
      for (std::int64_t r = 0; r < count; ++r) piece.own(r) = exclude_[first + r];
    if (!piece.scan(Rule::nearest, false, packed_, team_.watch(), thread)) return;
    typename Rows::Row& x = fetched_[static_cast<std::size_t>(thread)];
    for (std::int64_t r = 0; r < count; ++r) {
      const bool doubt = doubtful(piece, r, rows_.n_products(first + r));
      if (doubt || distances != nullptr) rows_.fetch(first + r, x);
      const std::int32_t label = doubt ? exact(x, first + r) : piece.index(r);
      found(first + r, label);
      if (distances != nullptr) distances[first + r] = rows_.distance(x, centre(label));
    }
  }

 private:
  Centre centre(std::int64_t cluster) const {
    return {centres_ + cluster * rows_.n_features(), 1.0, squares_.at(cluster)};
  }

  // Written so that a NaN or an infinity (a row far outside of the frame, or no second) is a doubt.
  bool doubtful(const Piece<Rows>& piece, std::int64_t r, std::int64_t n_products) const {
    const double best = piece.best(r), second = piece.second(r);
    const double error = float32_error(piece.norm(r), std::max(best, 0.0), n_products) +
                         float32_error(piece.norm(r), std::max(second, 0.0), n_products);
    return !(second - best > error);
  }

  std::int32_t exact(const typename Rows::Row& x, std::int64_t row) const {
    const std::int32_t excluded = exclude_ == nullptr ? -1 : exclude_[row];
    double best = std::numeric_limits<double>::infinity();
    std::int32_t found = excluded == 0 ? 1 : 0;
    for (std::int32_t c = 0; c < static_cast<std::int32_t>(n_clusters_); ++c) {
      if (c == excluded) continue;
      const double d = rows_.distance(x, centre(c));
      if (d < best) best = d, found = c;
    }
    return found;
  }

  const Rows& rows_;
  const double* centres_;
  std::int64_t n_clusters_;
  const std::int32_t* exclude_;
  Team& team_;
  Squares<Rows> squares_;
  typename Kind<Rows>::All packed_;
  std::vector<std::unique_ptr<Piece<Rows>>> pieces_;
  std::vector<typename Rows::Row> fetched_;  // by thread
};

}  // namespace

template <class Rows>
void nearest(const Rows& rows, const double* centres, std::int64_t n_clusters,
             const std::int32_t* exclude, std::int32_t* labels, double* distances, Team& team) {
  Search<Rows>(rows, centres, n_clusters, exclude, team).run(labels, distances);
}

template <class Rows>
void all_distances(const Rows& rows, const double* centres, std::int64_t n_clusters, double* out,
                   Team& team) {
  const Squares<Rows> squares(rows, centres, n_clusters, team);
  each_row(rows, team, [&](std::int64_t row, const typename Rows::Row& x) {
    for (std::int64_t c = 0; c < n_clusters; ++c)
      out[row * n_clusters + c] =
          rows.distance(x, {centres + c * rows.n_features(), 1.0, squares.at(c)});
  });
}

template <class Rows>
void own_distances(const Rows& rows, const double* centres, std::int64_t n_clusters,
                   const std::int32_t* labels, double* distances, double* norms, Team& team) {
  const Squares<Rows> squares(rows, centres, n_clusters, team);
  each_row(rows, team, [&](std::int64_t row, const typename Rows::Row& x) {
    const std::int64_t c = labels[row];
    distances[row] = rows.distance(x, {centres + c * rows.n_features(), 1.0, squares.at(c)});
    norms[row] = rows.norm(x);
  });
}

template <class Code>
void encode(const std::vector<const DenseRows*>& parts, const double* centres, std::int64_t n_centroids,
            Code* codes, Team& team) {
  const auto m = static_cast<std::int64_t>(parts.size());
  std::vector<std::unique_ptr<Search<DenseRows>>> searches;
  for (std::int64_t j = 0; j < m; ++j) {
    const DenseRows& rows = *parts[static_cast<std::size_t>(j)];
    searches.push_back(std::make_unique<Search<DenseRows>>(
        rows, centres + j * n_centroids * rows.n_features(), n_centroids, nullptr, team));
    searches.back()->pack();
  }
  const std::int64_t n = parts[0]->n_rows();
  // All parts of some rows, which are then in the cache.
  constexpr std::int64_t kRowsAtOnce = 8 * kPieceRows;
  team.for_each((n + kRowsAtOnce - 1) / kRowsAtOnce, [&](std::int64_t i, int thread) {
    for (std::int64_t j = 0; j < m; ++j)
      for (std::int64_t first = i * kRowsAtOnce; first < std::min(n, (i + 1) * kRowsAtOnce);
           first += kPieceRows)
        searches[static_cast<std::size_t>(j)]->search(first, thread,
                                                      [=](std::int64_t row, std::int32_t label) {
                                                        codes[row * m + j] = static_cast<Code>(label);
                                                      });
  });
}

template void encode(const std::vector<const DenseRows*>&, const double*, std::int64_t, std::uint8_t*,
                     Team&);
template void encode(const std::vector<const DenseRows*>&, const double*, std::int64_t, std::uint16_t*,
                     Team&);

#define BK_INSTANTIATE(Rows)                                                                          \
  template void nearest(const Rows&, const double*, std::int64_t, const std::int32_t*, std::int32_t*, \
                        double*, Team&);                                                              \
  template void all_distances(const Rows&, const double*, std::int64_t, double*, Team&);              \
  template void own_distances(const Rows&, const double*, std::int64_t, const std::int32_t*, double*, \
                              double*, Team&)
BK_INSTANTIATE(DenseRows);
BK_INSTANTIATE(SparseRows);
#undef BK_INSTANTIATE

}  // namespace boostkmeans
