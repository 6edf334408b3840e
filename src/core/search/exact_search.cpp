#include "search/exact_search.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "rows/sparse_rows.hpp"
#include "scoring/centre_traits.hpp"
#include "search/batch_search.hpp"

namespace boostkmeans {

namespace {

template <class Rows>
class ExactSearch {
 public:
  ExactSearch(const Rows& rows, const double* points, std::int64_t n_points, std::int64_t n_nearest,
              ThreadPool& pool)
      : rows_(rows),
        points_(points),
        n_points_(n_points),
        n_nearest_(n_nearest),
        pool_(pool),
        composite_norms_(rows, points, n_points, pool),
        packed_(all_centres(rows, n_points)) {}

  // Numbers points from `first`. With `merges`, starts from the nearest points in `numbers`.
  template <class Number>
  void run(std::int64_t first, bool merges, Number* numbers, double* distances) {
    fill_term_rows(packed_, points_, false, pool_);
    pool_.for_each(n_points_, [&](std::int64_t p, int) {
      set_centre(packed_, p, point(p).composite, 1.0, composite_norms_.at(p));
    });
    std::vector<std::unique_ptr<BatchSearch<Rows>>> searches;  // by thread
    searches.reserve(static_cast<std::size_t>(pool_.size()));
    for (int t = 0; t < pool_.size(); ++t)
      searches.push_back(std::make_unique<BatchSearch<Rows>>(rows_, n_nearest_));
    const std::int64_t n = rows_.n_rows();
    pool_.for_each((n + kBatchRows - 1) / kBatchRows, [&](std::int64_t batch, int thread) {
      BatchSearch<Rows>& search = *searches[static_cast<std::size_t>(thread)];
      const std::int64_t begin = batch * kBatchRows, count = std::min(kBatchRows, n - begin);
      search.load(count, [=](std::int64_t r) { return begin + r; });
      for (std::int64_t r = 0; r < count; ++r) {
        NearestFound& found = search.found[static_cast<std::size_t>(r)];
        const std::int64_t at = (begin + r) * n_nearest_;
        merges ? found.read(numbers + at, distances + at) : found.clear();
      }
      search.compare(
          packed_, [this](std::int64_t p) { return point(p); },
          [=](std::int64_t p) { return first + p; }, pool_.stop_token(), thread);
      for (std::int64_t r = 0; r < count; ++r) {
        const std::int64_t at = (begin + r) * n_nearest_;
        search.found[static_cast<std::size_t>(r)].write(numbers + at, distances + at);
      }
    });
  }

 private:
  Centre point(std::int64_t p) const {
    return {points_ + p * rows_.n_features(), 1.0, composite_norms_.at(p)};
  }

  const Rows& rows_;
  const double* points_;
  std::int64_t n_points_, n_nearest_;
  ThreadPool& pool_;
  CompositeNorms<Rows> composite_norms_;
  typename CentreTraits<Rows>::All packed_;
};

}  // namespace

template <class Rows>
void nearest_many(const Rows& rows, const double* centres, std::int64_t n_clusters, std::int64_t n,
                  std::int32_t* labels, double* distances, ThreadPool& pool) {
  ExactSearch<Rows>(rows, centres, n_clusters, n, pool).run(0, false, labels, distances);
}

void nearest_rows(const DenseRows& rows, const double* points, std::int64_t n_points, std::int64_t first,
                  std::int64_t k, std::int64_t* ids, double* distances, ThreadPool& pool) {
  ExactSearch<DenseRows>(rows, points, n_points, k, pool).run(first, true, ids, distances);
}

template void nearest_many(const DenseRows&, const double*, std::int64_t, std::int64_t, std::int32_t*,
                           double*, ThreadPool&);
template void nearest_many(const SparseRows&, const double*, std::int64_t, std::int64_t, std::int32_t*,
                           double*, ThreadPool&);

}  // namespace boostkmeans
