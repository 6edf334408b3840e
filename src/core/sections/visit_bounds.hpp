// Bounds on the distances of rows to centres, which prove that rows cannot gain by a move.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sections/section_sums.hpp"

namespace boostkmeans {

// A row of section u cannot gain by a move if, for all other sections v,
//   sqrt(W_u / (W_u - w)) |x - C_u| < sqrt(W_v / (W_v + w)) |x - C_v|.
// `leave` and `enter` bound the factors for the heaviest row. The distances are stored bounds plus or
// minus the paths of the centres.
struct VisitLimits {
  std::vector<double> leave, own_path;  // by section
  double enter = 0.0, other_path = 0.0;

  bool rules_out_move(std::int32_t section, double own, double other) const {
    const auto u = static_cast<std::size_t>(section);
    return leave[u] * (own + own_path[u]) < enter * (other - other_path);
  }
  // Returns true if these limits rule out all moves that `other` rules out.
  bool within(const VisitLimits& other) const {
    for (std::size_t s = 0; s < leave.size(); ++s)
      if (!(leave[s] <= other.leave[s] && own_path[s] <= other.own_path[s])) return false;
    return enter >= other.enter && other_path <= other.other_path;
  }
};

// Bounds for all rows of a set: an upper bound on |x - C_u| and a lower bound on the distance to every
// other centre.
//
// A path leads from the centre at the beginning of a pass to that at the beginning of the next pass.
// Paths from move to move would be much longer, because centres tremble. `note_move` extends the path
// by the step of a single move, and `measure` replaces these steps by the distance from the beginning of
// the pass. Stored bounds include the paths at the time of the visit, so that they need not be updated.
template <class Rows>
class VisitBounds {
 public:
  explicit VisitBounds(const SectionSums<Rows>& sums)
      : sums_(sums),
        n_features_(0),
        paths_(static_cast<std::size_t>(sums.n_sections())),
        steps_(paths_),
        block_steps_(paths_) {
    now_.leave = now_.own_path = paths_;
    in_block_ = now_;
  }

  // `heaviest` is the largest weight of a row.
  void open(std::int64_t count, std::int64_t n_features, double heaviest) {
    n_features_ = n_features;
    heaviest_ = heaviest;
    own_.assign(static_cast<std::size_t>(count), std::numeric_limits<float>::infinity());
    other_.assign(static_cast<std::size_t>(count), 0.0f);
    std::ranges::fill(paths_, 0.0);
    longest_path_ = 0.0;
    start_.resize(paths_.size() * static_cast<std::size_t>(n_features));
    copy_centres();
    begin_block(std::vector<double>(steps_.size(), 0.0));
  }

  // Extends the paths to the current centres. Returns the longest step of the previous pass.
  double begin_pass() {
    measure();
    const double longest = longest_step();
    for (std::size_t s = 0; s < paths_.size(); ++s) paths_[s] += steps_[s];
    longest_path_ += longest;
    copy_centres();
    begin_block(std::vector<double>(steps_.size(), 0.0));
    return longest;
  }

  // Measures how far the centres have moved in this pass. A new block begins.
  void measure() {
    std::vector<double> steps(steps_.size());
    for (std::size_t s = 0; s < paths_.size(); ++s) {
      const auto section = static_cast<std::int64_t>(s);
      const double *composite = sums_.composite(section), *from = start_.data() + offset(section);
      const double inverse = sums_.inverse(section);
      double square = 0.0;
      for (std::int64_t j = 0; j < n_features_; ++j) {
        const double step = composite[j] * inverse - from[j];
        square += step * step;
      }
      steps[s] = std::sqrt(square) * (1.0 + kRounding) + kRounding;
    }
    begin_block(std::move(steps));
  }

  // Extends the paths by a move whose steps have these lengths.
  void note_move(std::int32_t from, double from_step, std::int32_t to, double to_step) {
    steps_[static_cast<std::size_t>(from)] += from_step * (1.0 + kRounding) + kRounding;
    steps_[static_cast<std::size_t>(to)] += to_step * (1.0 + kRounding) + kRounding;
    refresh();
  }

  const VisitLimits& now() const { return now_; }
  // Limits for distances at the beginning of the block.
  const VisitLimits& in_block() const { return in_block_; }
  double longest_step() const { return *std::ranges::max_element(steps_); }

  // Returns limits that hold until a centre has moved by `slack`. If it is infinite, they rule out
  // nothing.
  VisitLimits with_slack(double slack) const {
    constexpr double kFactorSlack = 0.25;  // for the change of the weights
    VisitLimits limits = now_;
    if (std::isinf(slack)) {
      std::ranges::fill(limits.leave, slack);
      limits.enter = 0.0;
    }
    for (double& path : limits.own_path) path += slack;
    limits.other_path += slack;
    for (double& factor : limits.leave) factor += kFactorSlack * (factor - 1.0);
    limits.enter = std::max(0.0, limits.enter - kFactorSlack * (1.0 - limits.enter));
    return limits;
  }

  bool rules_out_move(const VisitLimits& limits, std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return limits.rules_out_move(sums_.section(i), static_cast<double>(own_[at]),
                                 static_cast<double>(other_[at]));
  }

  // Stores the distances of a row at this moment. Threads may call it for different rows.
  void store(std::int64_t i, double own, double other) {
    const auto at = static_cast<std::size_t>(i);
    const auto u = static_cast<std::size_t>(sums_.section(i));
    const double upper = own + steps_[u] - paths_[u];
    const double lower = other - longest_now_ + longest_path_;
    own_[at] = static_cast<float>(upper + kFloatRounding * std::abs(upper));
    other_[at] = static_cast<float>(lower - kFloatRounding * std::abs(lower));
  }
  void forget(std::int64_t i) {
    own_[static_cast<std::size_t>(i)] = std::numeric_limits<float>::infinity();
  }

 private:
  static constexpr double kRounding = 1e-12, kFloatRounding = 0x1p-22;
  // Rounding errors of the distances and of this bound are far below this fraction.
  static constexpr double kSafety = 1e-9;

  std::int64_t offset(std::int64_t section) const { return section * n_features_; }

  void copy_centres() {
    for (std::int64_t s = 0; s < sums_.n_sections(); ++s) {
      const double* composite = sums_.composite(s);
      for (std::int64_t j = 0; j < n_features_; ++j)
        start_[static_cast<std::size_t>(offset(s) + j)] = composite[j] * sums_.inverse(s);
    }
  }

  void begin_block(std::vector<double> steps) {
    steps_ = std::move(steps);
    block_steps_ = steps_;
    refresh();
  }

  void refresh() {
    longest_now_ = longest_step();
    double longest_in_block = 0.0;
    double lightest = std::numeric_limits<double>::infinity();
    for (std::size_t s = 0; s < paths_.size(); ++s) {
      const double weight = sums_.weight(static_cast<std::int64_t>(s));
      lightest = std::min(lightest, weight);
      now_.leave[s] = weight > heaviest_ ? std::sqrt(weight / (weight - heaviest_)) * (1.0 + kSafety)
                                         : std::numeric_limits<double>::infinity();
      now_.own_path[s] = paths_[s] + steps_[s];
      in_block_.leave[s] = now_.leave[s];
      in_block_.own_path[s] = steps_[s] - block_steps_[s];
      longest_in_block = std::max(longest_in_block, in_block_.own_path[s]);
    }
    now_.enter = in_block_.enter = std::sqrt(lightest / (lightest + heaviest_));
    now_.other_path = longest_path_ + longest_now_;
    in_block_.other_path = longest_in_block;
  }

  const SectionSums<Rows>& sums_;
  std::int64_t n_features_;
  double heaviest_ = 0.0;
  std::vector<double> start_;        // s x d: centres at the beginning of the pass
  std::vector<double> paths_;        // by section: length of the path up to this pass
  std::vector<double> steps_;        // by section: bound on the distance from the beginning of the pass
  std::vector<double> block_steps_;  // the same at the beginning of the block
  double longest_path_ = 0.0;        // sum of the longest steps of all passes
  double longest_now_ = 0.0;         // longest of the current steps
  VisitLimits now_, in_block_;
  std::vector<float> own_, other_;  // by row
};

}  // namespace boostkmeans
