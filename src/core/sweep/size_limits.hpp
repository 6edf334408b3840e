// Limits on the sizes of clusters, and the rows that stand ready to make room where a cluster is at one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "partition/partition.hpp"

namespace boostkmeans {

// The weight that every cluster has at least and at most.
struct Limits {
  double least = 0.0;
  double most = std::numeric_limits<double>::infinity();

  explicit operator bool() const {
    return least > 0.0 || most < std::numeric_limits<double>::infinity();
  }
  // Whether a cluster may have that weight. Sums of weights are rounded, limits are not meant to be.
  bool enough(double weight) const { return weight >= least * (1.0 - kRounding); }
  bool not_too_much(double weight) const { return weight <= most * (1.0 + kRounding); }
  bool allow(double weight) const { return enough(weight) && not_too_much(weight); }
  // Whether a cluster of that weight has no room for a row of the smallest weight there is.
  bool full(double weight, double smallest) const { return !not_too_much(weight + smallest); }

 private:
  static constexpr double kRounding = 1e-9;
};

// A row that would lose little, or even gain, by going from one cluster to another.
struct Offer {
  std::int64_t row;
  std::int32_t from, to;
  double loss;
};

// For each cluster the best offers to leave it, and to enter it. They are hints: what they promise is
// looked at again before it is taken up.
class Offers {
 public:
  explicit Offers(std::int64_t n_clusters)
      : leaving_(static_cast<std::size_t>(n_clusters)),
        entering_(static_cast<std::size_t>(n_clusters)) {}

  void add(const Offer& offer) {
    insert(leaving_[static_cast<std::size_t>(offer.from)], offer);
    insert(entering_[static_cast<std::size_t>(offer.to)], offer);
  }
  std::vector<Offer>& leaving(std::int32_t cluster) {
    return leaving_[static_cast<std::size_t>(cluster)];
  }
  std::vector<Offer>& entering(std::int32_t cluster) {
    return entering_[static_cast<std::size_t>(cluster)];
  }

 private:
  static constexpr std::size_t kKept = 16;

  static void insert(std::vector<Offer>& offers, const Offer& offer) {
    if (offers.size() == kKept) {
      if (offers.back().loss <= offer.loss) return;
      offers.pop_back();
    }
    const auto better = [](const Offer& a, const Offer& b) { return a.loss < b.loss; };
    offers.insert(std::upper_bound(offers.begin(), offers.end(), offer, better), offer);
  }

  std::vector<std::vector<Offer>> leaving_, entering_;
};

}  // namespace boostkmeans
