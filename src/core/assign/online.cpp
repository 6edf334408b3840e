#include "assign/online.hpp"

#include <limits>
#include <vector>

#include "rows/dense_rows.hpp"
#include "rows/sparse_rows.hpp"

namespace boostkmeans {

namespace {

// Centres as C = scale * D, so that to shrink one towards 0 touches no feature: a sparse row has few.
template <class Rows>
class MovingCentres {
 public:
  MovingCentres(const Rows& rows, double* centres, std::int64_t n_clusters)
      : rows_(rows),
        values_(centres),
        n_clusters_(n_clusters) {
    for (std::int64_t c = 0; c < n_clusters; ++c) centres_.push_back(rows.centre(at(c), 1.0));
  }
  ~MovingCentres() {
    for (std::int64_t c = 0; c < n_clusters_; ++c) settle(c);
  }
  MovingCentres(const MovingCentres&) = delete;
  MovingCentres& operator=(const MovingCentres&) = delete;

  std::int64_t nearest(const typename Rows::Row& x) const {
    double best = std::numeric_limits<double>::infinity();
    std::int64_t found = 0;
    for (std::int64_t c = 0; c < n_clusters_; ++c) {
      const double gap = rows_.distance(x, centres_[static_cast<std::size_t>(c)]);
      if (gap < best) best = gap, found = c;
    }
    return found;
  }
  void move(std::int64_t cluster, const typename Rows::Row& x, double rate) {
    constexpr double kSmallest = 1e-100;
    Centre& centre = centres_[static_cast<std::size_t>(cluster)];
    centre.inverse *= 1.0 - rate;
    if (centre.inverse < kSmallest) settle(cluster);
    centre.square += rows_.add(x, rate / centre.inverse, at(cluster));
  }

 private:
  double* at(std::int64_t cluster) const { return values_ + cluster * rows_.n_features(); }
  void settle(std::int64_t cluster) {
    Centre& centre = centres_[static_cast<std::size_t>(cluster)];
    for (std::int64_t j = 0; j < rows_.n_features(); ++j) at(cluster)[j] *= centre.inverse;
    centre = rows_.centre(at(cluster), 1.0);
  }

  const Rows& rows_;
  double* values_;
  std::int64_t n_clusters_;
  std::vector<Centre> centres_;
};

}  // namespace

template <class Rows>
std::int64_t online_pass(const Rows& rows, double* centres, std::int64_t n_clusters,
                         const std::int64_t* order, std::int64_t n_order, double rate, Watch& watch) {
  MovingCentres<Rows> moving(rows, centres, n_clusters);
  typename Rows::Row x(rows);
  for (std::int64_t i = 0; i < n_order; ++i) {
    if (watch.check()) return i;
    rows.fetch(order[i], x);
    moving.move(moving.nearest(x), x, rate);
  }
  return n_order;
}

template std::int64_t online_pass(const DenseRows&, double*, std::int64_t, const std::int64_t*,
                                  std::int64_t, double, Watch&);
template std::int64_t online_pass(const SparseRows&, double*, std::int64_t, const std::int64_t*,
                                  std::int64_t, double, Watch&);

}  // namespace boostkmeans
