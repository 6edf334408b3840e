#include "fit/swaps.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace boostkmeans {

namespace {

// Gains must exceed costs by more than the rounding of sums in float64.
constexpr double kMinAdvantage = 1e-9;
// Number of the best splits and of the cheapest merges that trial swaps combine.
constexpr std::size_t kTrialChoices = 6;

// Clusters in descending order of their gain. Ties go to the smaller index.
std::vector<std::int64_t> by_gain(const std::vector<double>& gains) {
  std::vector<std::int64_t> order(gains.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::int64_t c) { return gains[static_cast<std::size_t>(c)]; });
  return order;
}

bool concerns(const Merge& merge, std::int64_t cluster) {
  return merge.a == cluster || merge.b == cluster;
}

}  // namespace

Swaps improving_swaps(const std::vector<double>& gains, const std::vector<Merge>& merges,
                      double min_gain) {
  Swaps found;
  std::vector<unsigned char> used(gains.size(), 0);
  const auto is_used = [&](const Merge& merge) {
    return used[static_cast<std::size_t>(merge.a)] != 0 || used[static_cast<std::size_t>(merge.b)] != 0;
  };
  for (const std::int64_t split : by_gain(gains)) {
    if (used[static_cast<std::size_t>(split)] != 0) continue;
    const auto merge =
        std::ranges::find_if(merges, [&](const Merge& m) { return !is_used(m) && !concerns(m, split); });
    if (merge == merges.end()) continue;
    const double gain = gains[static_cast<std::size_t>(split)];
    if (gain * (1.0 - kMinAdvantage) <= merge->cost) continue;
    found.chosen.push_back({merge->a, merge->b, split});
    found.gain += gain - merge->cost;
    for (const std::int64_t c : {merge->a, merge->b, split}) used[static_cast<std::size_t>(c)] = 1;
  }
  if (found.gain <= min_gain) return {};
  return found;
}

std::vector<Swaps> trial_swaps(const std::vector<double>& gains, const std::vector<Merge>& merges,
                               std::int64_t max_swaps) {
  const std::vector<std::int64_t> splits = by_gain(gains);
  std::vector<Swaps> found;
  for (std::size_t m = 0; m < std::min(merges.size(), kTrialChoices); ++m)
    for (std::size_t s = 0; s < std::min(splits.size(), kTrialChoices); ++s) {
      const Merge& merge = merges[m];
      const double gain = gains[static_cast<std::size_t>(splits[s])];
      if (!concerns(merge, splits[s]) && gain >= merge.cost * kMinTrialShare)
        found.push_back({{{merge.a, merge.b, splits[s]}}, gain - merge.cost});
    }
  std::ranges::stable_sort(found, std::ranges::greater(), &Swaps::gain);
  found.resize(std::min(found.size(), static_cast<std::size_t>(std::max<std::int64_t>(max_swaps, 0))));
  return found;
}

}  // namespace boostkmeans
