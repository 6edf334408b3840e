// Time spent in parallel sections, and an estimate of that time on other numbers of processors.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace boostkmeans {

// Numbers of processors for which the time of parallel sections is estimated.
constexpr std::array<int, 3> kSimulatedCores = {8, 32, 128};

// Sums over parallel sections, in seconds. A section with a single item is not parallel.
struct SectionTimes {
  double wall = 0.0;  // from the start of a section to its end
  double busy = 0.0;  // the sum of the times of all items: the time that one thread would need
  std::array<double, kSimulatedCores.size()> simulated = {};
  std::int64_t n_sections = 0;

  // Adds a section. `longest` is the time of its longest item, or of its longest chain of items that
  // wait for each other. `max_threads` is the largest number of threads that the call would use. The
  // simulated time is Graham's bound (1966): processors that take items in any order, one after the
  // other, need at most (sum - longest) / processors + longest.
  void add(double section_wall, double section_busy, double longest, double max_threads) {
    wall += section_wall;
    busy += section_busy;
    ++n_sections;
    for (std::size_t i = 0; i < kSimulatedCores.size(); ++i) {
      const double cores = std::min<double>(kSimulatedCores[i], max_threads);
      simulated[i] += (section_busy - longest) / cores + longest;
    }
  }
};

}  // namespace boostkmeans
