// Centres that move towards rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "rows/centre.hpp"

namespace boostkmeans {

// Centres stored as C = scale * D. Shrinking a centre changes only its scale, so moving it towards
// a sparse row takes time proportional to the number of terms of the row.
template <class Rows>
class MovingCentres {
 public:
  // `centres` is k x d. It has the moved centres when this object is destroyed.
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

  std::int64_t n_clusters() const { return n_clusters_; }
  const Centre& operator[](std::int64_t cluster) const {
    return centres_[static_cast<std::size_t>(cluster)];
  }

  // The nearest centre of a row, its squared distance and that of the second nearest centre.
  struct Nearest {
    std::int64_t cluster;
    double distance, second;
  };
  Nearest nearest(const typename Rows::Row& x) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Nearest found{0, kInfinity, kInfinity};
    for (std::int64_t c = 0; c < n_clusters_; ++c) {
      const double distance = rows_.distance(x, (*this)[c]);
      if (distance < found.distance)
        found = {c, distance, found.distance};
      else if (distance < found.second)
        found.second = distance;
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

}  // namespace boostkmeans
