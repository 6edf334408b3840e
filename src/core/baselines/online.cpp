#include "baselines/online.hpp"

#include <limits>
#include <vector>

#include "rows/dense_rows.hpp"
#include "rows/sparse_rows.hpp"

namespace boostkmeans {

namespace {

// Centres stored as C = scale * D. Shrinking a centre changes only its scale, so moving it towards
// a sparse row takes time proportional to the number of terms of the row.
template <class Rows>
class MovingCentres {
 public:
  MovingCentres(const Rows& rows, double* centres, std::int64_t n_clusters)
      : rows_(rows),
        values_(centres),
        n_clusters_(n_clusters) {
    centres_.reserve(static_cast<std::size_t>(n_clusters));
    for (std::int64_t c = 0; c < n_clusters; ++c) centres_.push_back(rows.centre(at(c), 1.0));
  }
  ~MovingCentres() {
    for (std::int64_t c = 0; c < n_clusters_; ++c) settle(c);
  }
  MovingCentres(const MovingCentres&) = delete;
  MovingCentres(MovingCentres&&) = delete;
  MovingCentres& operator=(const MovingCentres&) = delete;
  MovingCentres& operator=(MovingCentres&&) = delete;

  std::int64_t nearest(const typename Rows::Row& x) const {
    double best = std::numeric_limits<double>::infinity();
    std::int64_t found = 0;
    for (std::int64_t c = 0; c < n_clusters_; ++c) {
      const double distance = rows_.distance(x, centres_[static_cast<std::size_t>(c)]);
      if (distance < best) best = distance, found = c;
    }
    return found;
  }
  void move(std::int64_t cluster, const typename Rows::Row& x, double rate) {
    // A scale below this is multiplied into the centre, because rate / scale would overflow.
    constexpr double kMinScale = 1e-100;
    Centre& centre = centres_[static_cast<std::size_t>(cluster)];
    centre.inverse *= 1.0 - rate;
    if (centre.inverse < kMinScale) settle(cluster);
    centre.square += rows_.add(x, rate / centre.inverse, at(cluster));
  }

 private:
  double* at(std::int64_t cluster) const { return values_ + cluster * rows_.n_features(); }
  // Multiplies the scale of a centre into its values.
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
                         const std::int64_t* order, std::int64_t n_order, double rate,
                         StopToken& stop_token) {
  MovingCentres<Rows> moving(rows, centres, n_clusters);
  typename Rows::Row x(rows);
  for (std::int64_t i = 0; i < n_order; ++i) {
    if (stop_token.poll()) return i;
    rows.fetch(order[i], x);
    moving.move(moving.nearest(x), x, rate);
  }
  return n_order;
}

template std::int64_t online_pass(const DenseRows&, double*, std::int64_t, const std::int64_t*,
                                  std::int64_t, double, StopToken&);
template std::int64_t online_pass(const SparseRows&, double*, std::int64_t, const std::int64_t*,
                                  std::int64_t, double, StopToken&);

}  // namespace boostkmeans
