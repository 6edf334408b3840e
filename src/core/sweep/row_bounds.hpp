// Row bounds: proofs that rows cannot gain by a move, which hold while the centres move little.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "partition/partition.hpp"
#include "scoring/cluster_scalars.hpp"
#include "scoring/row_batch.hpp"
#include "sweep/sweep.hpp"

namespace boostkmeans {

// The margin of a row is the distance to the nearest other centre minus the distance to its own centre.
// It shrinks by at most the path of its own centre plus the longest path of any other centre. A row
// cannot gain by a move while its margin is larger than the effect of Hartigan's weights:
//   sqrt(W_u / (W_u - w)) |x - C_u| <= |x - C_u| + excess_u * reach,
//   sqrt(W_v / (W_v + w)) |x - C_v| >= |x - C_v| - deficit_v * reach,
// where `reach` is a bound on all distances, and excess and deficit are those of the heaviest row.
//
// A path leads from the centre at the beginning of a sweep to that at the beginning of the next one.
// Paths from block to block would be several times as long, because centres tremble. A stored margin
// includes the paths at the time of the visit, so that it need not be updated.
class RowBounds {
 public:
  // Extends the paths to the current centres.
  RowBounds(const Partition& partition, const RowBoundsView& view, double heaviest)
      : partition_(partition),
        view_(view),
        heaviest_(heaviest),
        steps_(view ? static_cast<std::size_t>(partition.n_clusters) : 0),
        needed_(steps_.size()),
        offsets_(steps_.size()) {
    if (!view) return;
    measure_steps();
    for (std::int64_t c = 0; c < partition.n_clusters; ++c) {
      view_.paths[c] += steps_[static_cast<std::size_t>(c)];
      copy_centre(c);
    }
    view_.totals[0] += longest_step();
  }

  explicit operator bool() const { return static_cast<bool>(view_); }

  // Measures how far the centres have moved in this sweep. Called at the beginning of each block.
  void follow_centres() {
    measure_steps();
    const double reach = 2.0 * std::sqrt(view_.totals[1]), lost = largest_deficit() * reach;
    const double longest = longest_step();
    for (std::int64_t i = 0; i < partition_.n_clusters; ++i) {
      const auto c = static_cast<std::size_t>(i);
      const double path = view_.paths[c] + view_.totals[0], step = steps_[c] + longest;
      needed_[c] = reach > 0.0 ? path + step + excess(i) * reach + lost : kInfinity;
      offsets_[c] = path - step;
    }
  }

  // Returns true if a row certainly cannot gain by a move.
  bool stays(std::int64_t row) const {
    const auto own = static_cast<std::size_t>(partition_.labels[row]);
    return static_cast<double>(view_.margins[row]) > needed_[own];
  }

  // Stores the margin of a row, from its float32 score `best` for the best other cluster and its cost
  // of staying. A row that may move gets no margin. Threads may call it for different rows.
  void store(std::int64_t row, std::int32_t own, double stay, double best, double norm,
             std::int64_t n_products) const {
    // The errors count twice: for this score, and for the score that a skipped visit would have seen.
    const double error = 2.0 * float32_error(norm, 2.0 * std::max(stay, best), n_products);
    const double margin =
        std::sqrt(std::max(0.0, best - error)) - std::sqrt(std::max(0.0, stay) + error);
    const double stored = margin + offsets_[static_cast<std::size_t>(own)];
    // A row that cannot leave (stay < 0) may be able to do so once its cluster has grown.
    const bool known = stay >= 0.0 && margin > 0.0;
    view_.margins[row] =
        static_cast<float>(known ? stored - kFloatRounding * std::abs(stored) : -kInfinity);
  }

  // Takes note of the largest |x|^2 of the rows with a margin.
  void cover(double norm) const { view_.totals[1] = std::max(view_.totals[1], norm); }

  // Prefetches the bounds of rows that will be asked for.
  void prefetch(std::int64_t begin, std::int64_t end) const {
    constexpr std::int64_t kRowsPerLine = 64 / sizeof(float);
    for (std::int64_t row = begin; row < end; row += kRowsPerLine) {
      __builtin_prefetch(view_.margins + row, 0, 2);
      __builtin_prefetch(partition_.labels + row, 0, 2);
    }
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kRounding = 1e-12, kFloatRounding = 0x1p-22;

  // Computes the distance of each centre from the end of its path.
  void measure_steps() {
    const std::int64_t d = partition_.n_features;
    for (std::int64_t c = 0; c < partition_.n_clusters; ++c) {
      const double *composite = partition_.composite(c), *centre = view_.centres + c * d;
      const double inverse = inverse_of(partition_.weights[c]);
      double square = 0.0;
      for (std::int64_t j = 0; j < d; ++j) {
        const double step = composite[j] * inverse - centre[j];
        square += step * step;
      }
      steps_[static_cast<std::size_t>(c)] = std::sqrt(square) * (1.0 + kRounding) + kRounding;
    }
  }
  double longest_step() const { return *std::max_element(steps_.begin(), steps_.end()); }

  void copy_centre(std::int64_t cluster) const {
    const std::int64_t d = partition_.n_features;
    const double* composite = partition_.composite(cluster);
    const double inverse = inverse_of(partition_.weights[cluster]);
    for (std::int64_t j = 0; j < d; ++j) view_.centres[cluster * d + j] = composite[j] * inverse;
  }

  double excess(std::int64_t cluster) const {
    const double weight = partition_.weights[cluster];
    return weight > heaviest_ ? std::sqrt(leaving(weight, heaviest_, 1.0)) - 1.0 : kInfinity;
  }
  double largest_deficit() const {
    const double lightest =
        *std::min_element(partition_.weights, partition_.weights + partition_.n_clusters);
    return 1.0 - std::sqrt(entering(lightest, heaviest_, 1.0));
  }

  const Partition& partition_;
  RowBoundsView view_;
  double heaviest_;              // largest weight of a row
  std::vector<double> steps_;    // k: distance of each centre from the end of its path
  std::vector<double> needed_;   // k: stored margin that a row of the cluster needs to be skipped
  std::vector<double> offsets_;  // k: what is added to margins when they are stored
};

}  // namespace boostkmeans
