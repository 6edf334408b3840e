// The choice of swaps: two clusters are merged and a third one is split.
#pragma once

#include <cstdint>
#include <vector>

namespace boostkmeans {

// Minimum gain of the split in a trial swap, as a share of the cost of the merge.
constexpr double kMinTrialShare = 1.0 / 3.0;

struct Merge {
  std::int64_t a, b;  // a < b
  double cost;        // increase of the inertia
};

// Cluster `merged` receives the rows of `freed`, which receives the second half of `split`.
struct Swap {
  std::int64_t merged, freed, split;
};

struct Swaps {
  std::vector<Swap> chosen;
  double gain = 0.0;  // decrease of the inertia
};

// Pairs the best splits with the cheapest merges of other clusters, as long as a pair is a gain. `gains`
// has the gain of the split of each cluster, and `merges` is sorted by cost. The result is empty if all
// pairs together gain no more than min_gain.
Swaps improving_swaps(const std::vector<double>& gains, const std::vector<Merge>& merges,
                      double min_gain);

// Single swaps that cost more than they gain, in ascending order of the loss.
std::vector<Swaps> trial_swaps(const std::vector<double>& gains, const std::vector<Merge>& merges,
                               std::int64_t max_swaps);

}  // namespace boostkmeans
