// Rows that could make room for other rows in clusters that are at a size limit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace boostkmeans {

// A row that would lose little, or gain, by moving from one cluster to another.
struct ExchangeOffer {
  std::int64_t row;
  std::int32_t from, to;
  double loss;  // increase of the inertia, as estimated when the offer was made
};

// The best offers to leave and to enter each cluster. Offers may be outdated: their costs must be
// computed again before rows move.
class ExchangeOffers {
 public:
  explicit ExchangeOffers(std::int64_t n_clusters)
      : leaving_(static_cast<std::size_t>(n_clusters)),
        entering_(static_cast<std::size_t>(n_clusters)) {}

  void add(const ExchangeOffer& offer) {
    insert(leaving_[static_cast<std::size_t>(offer.from)], offer);
    insert(entering_[static_cast<std::size_t>(offer.to)], offer);
  }
  // Offers in ascending order of their loss.
  std::vector<ExchangeOffer>& leaving(std::int32_t cluster) {
    return leaving_[static_cast<std::size_t>(cluster)];
  }
  std::vector<ExchangeOffer>& entering(std::int32_t cluster) {
    return entering_[static_cast<std::size_t>(cluster)];
  }

 private:
  // Number of offers that are stored per cluster and direction. The time to find a partner is
  // proportional to it.
  static constexpr std::size_t kMaxOffers = 16;

  static void insert(std::vector<ExchangeOffer>& offers, const ExchangeOffer& offer) {
    if (offers.size() == kMaxOffers) {
      if (offers.back().loss <= offer.loss) return;
      offers.pop_back();
    }
    offers.insert(std::ranges::upper_bound(offers, offer.loss, {}, &ExchangeOffer::loss), offer);
  }

  std::vector<std::vector<ExchangeOffer>> leaving_, entering_;
};

}  // namespace boostkmeans
