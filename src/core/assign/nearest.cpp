#include "assign/nearest.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "rows/thread_rows.hpp"
#include "scoring/centre_traits.hpp"
#include "scoring/row_batch.hpp"

namespace boostkmeans {

namespace {

// Number of rows per task.
constexpr std::int64_t kTaskRows = 64;

// Calls body(row, fetched) for all rows.
template <class Rows, class Body>
void each_row(const Rows& rows, ThreadPool& pool, Body body) {
  auto fetched = row_for_each_thread(rows, pool);
  pool.for_each((rows.n_rows() + kTaskRows - 1) / kTaskRows, [&](std::int64_t task, int thread) {
    typename Rows::Row& x = fetched[static_cast<std::size_t>(thread)];
    const std::int64_t end = std::min(rows.n_rows(), (task + 1) * kTaskRows);
    for (std::int64_t row = task * kTaskRows; row < end; ++row) {
      rows.fetch(row, x);
      body(row, x);
    }
  });
}

template <class Rows>
class Search {
 public:
  Search(const Rows& rows, const double* centres, std::int64_t n_clusters, const std::int32_t* exclude,
         ThreadPool& pool)
      : rows_(rows),
        centres_(centres),
        n_clusters_(n_clusters),
        exclude_(exclude),
        pool_(pool),
        composite_norms_(rows, centres, n_clusters, pool),
        packed_(all_centres(rows, n_clusters)),
        fetched_(row_for_each_thread(rows, pool)) {
    batches_.reserve(static_cast<std::size_t>(pool.size()));
    for (int t = 0; t < pool.size(); ++t) batches_.push_back(std::make_unique<RowBatch<Rows>>(rows));
  }

  // Packs the centres. Must be called before `search`.
  void pack() {
    fill_term_rows(packed_, centres_, false, pool_);
    pool_.for_each(n_clusters_, [&](std::int64_t c, int) {
      set_centre(packed_, c, centre(c).composite, 1.0, composite_norms_.at(c));
    });
  }

  void run(std::int32_t* labels, double* distances) {
    pack();
    pool_.for_each((rows_.n_rows() + kBatchRows - 1) / kBatchRows, [&](std::int64_t p, int thread) {
      search(
          p * kBatchRows, thread, [=](std::int64_t row, std::int32_t label) { labels[row] = label; },
          distances);
    });
  }

  // Calls found(row, label) for a batch of rows, starting with row `first`.
  template <class Found>
  void search(std::int64_t first, int thread, Found found, double* distances = nullptr) {
    const std::int64_t n = rows_.n_rows();
    RowBatch<Rows>& batch = *batches_[static_cast<std::size_t>(thread)];
    const std::int64_t count = std::min(kBatchRows, n - first);
    batch.load(count, [=](std::int64_t r) { return first + r; });
    const std::int64_t next = first + kBatchRows;
    batch.prefetch(std::min(kBatchRows, n - next), [=](std::int64_t r) { return next + r; });
    if (exclude_ != nullptr)
      for (std::int64_t r = 0; r < count; ++r) batch.own(r) = exclude_[first + r];
    if (!batch.scan(Rule::nearest, false, packed_, pool_.stop_token(), thread)) return;
    typename Rows::Row& x = fetched_[static_cast<std::size_t>(thread)];
    for (std::int64_t r = 0; r < count; ++r) {
      const bool doubt = doubtful(batch, r, rows_.n_products(first + r));
      if (doubt || distances != nullptr) rows_.fetch(first + r, x);
      const std::int32_t label = doubt ? exact(x, first + r) : batch.index(r);
      found(first + r, label);
      if (distances != nullptr) distances[first + r] = rows_.distance(x, centre(label));
    }
  }

 private:
  Centre centre(std::int64_t cluster) const {
    return {centres_ + cluster * rows_.n_features(), 1.0, composite_norms_.at(cluster)};
  }

  // Returns true if float32 errors could hide another nearest centre. It also returns true for NaN
  // and infinities (rows far outside the frame, or a single centre).
  bool doubtful(const RowBatch<Rows>& batch, std::int64_t r, std::int64_t n_products) const {
    const double best = batch.best(r), second = batch.second(r);
    const double error = float32_error(batch.norm(r), std::max(best, 0.0), n_products) +
                         float32_error(batch.norm(r), std::max(second, 0.0), n_products);
    return !(second - best > error);
  }

  // The nearest centre by float64 distances to all centres.
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
  ThreadPool& pool_;
  CompositeNorms<Rows> composite_norms_;
  typename CentreTraits<Rows>::All packed_;
  std::vector<std::unique_ptr<RowBatch<Rows>>> batches_;
  std::vector<typename Rows::Row> fetched_;  // by thread
};

}  // namespace

template <class Rows>
void nearest(const Rows& rows, const double* centres, std::int64_t n_clusters,
             const std::int32_t* exclude, std::int32_t* labels, double* distances, ThreadPool& pool) {
  Search<Rows>(rows, centres, n_clusters, exclude, pool).run(labels, distances);
}

template <class Rows>
void all_distances(const Rows& rows, const double* centres, std::int64_t n_clusters, double* out,
                   ThreadPool& pool) {
  const CompositeNorms<Rows> norms_of_centres(rows, centres, n_clusters, pool);
  each_row(rows, pool, [&](std::int64_t row, const typename Rows::Row& x) {
    for (std::int64_t c = 0; c < n_clusters; ++c)
      out[row * n_clusters + c] =
          rows.distance(x, {centres + c * rows.n_features(), 1.0, norms_of_centres.at(c)});
  });
}

template <class Rows>
void distances_to_assigned(const Rows& rows, const double* centres, std::int64_t n_clusters,
                           const std::int32_t* labels, double* distances, double* norms,
                           ThreadPool& pool) {
  const CompositeNorms<Rows> norms_of_centres(rows, centres, n_clusters, pool);
  each_row(rows, pool, [&](std::int64_t row, const typename Rows::Row& x) {
    const std::int64_t c = labels[row];
    distances[row] = rows.distance(x, {centres + c * rows.n_features(), 1.0, norms_of_centres.at(c)});
    norms[row] = rows.norm(x);
  });
}

template <class Code>
void encode(const std::vector<const DenseRows*>& subspaces, const double* centres,
            std::int64_t n_centroids, Code* codes, ThreadPool& pool) {
  const auto m = static_cast<std::int64_t>(subspaces.size());
  std::vector<std::unique_ptr<Search<DenseRows>>> searches;
  searches.reserve(subspaces.size());
  for (std::int64_t j = 0; j < m; ++j) {
    const DenseRows& rows = *subspaces[static_cast<std::size_t>(j)];
    searches.push_back(std::make_unique<Search<DenseRows>>(
        rows, centres + j * n_centroids * rows.n_features(), n_centroids, nullptr, pool));
    searches.back()->pack();
  }
  const std::int64_t n = subspaces[0]->n_rows();
  // Number of rows whose subspaces are encoded together, so that they stay in the cache.
  constexpr std::int64_t kRowsAtOnce = 8 * kBatchRows;
  pool.for_each((n + kRowsAtOnce - 1) / kRowsAtOnce, [&](std::int64_t i, int thread) {
    for (std::int64_t j = 0; j < m; ++j)
      for (std::int64_t first = i * kRowsAtOnce; first < std::min(n, (i + 1) * kRowsAtOnce);
           first += kBatchRows)
        searches[static_cast<std::size_t>(j)]->search(first, thread,
                                                      [=](std::int64_t row, std::int32_t label) {
                                                        codes[row * m + j] = static_cast<Code>(label);
                                                      });
  });
}

template void encode(const std::vector<const DenseRows*>&, const double*, std::int64_t, std::uint8_t*,
                     ThreadPool&);
template void encode(const std::vector<const DenseRows*>&, const double*, std::int64_t, std::uint16_t*,
                     ThreadPool&);

#define BK_INSTANTIATE(Rows)                                                                          \
  template void nearest(const Rows&, const double*, std::int64_t, const std::int32_t*, std::int32_t*, \
                        double*, ThreadPool&);                                                        \
  template void all_distances(const Rows&, const double*, std::int64_t, double*, ThreadPool&);        \
  template void distances_to_assigned(const Rows&, const double*, std::int64_t, const std::int32_t*,  \
                                      double*, double*, ThreadPool&)
BK_INSTANTIATE(DenseRows);
BK_INSTANTIATE(SparseRows);
#undef BK_INSTANTIATE

}  // namespace boostkmeans
