#include "split.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "hold.hpp"
#include "random.hpp"

namespace boostkmeans {

namespace {

// Rows of a large set that go to the nearer half together; their sums are added in order.
constexpr std::int64_t kSpanRows = 4096;

// The two halves of a set as they change: S, the composite of the first half about the set's mean.
class Halving {
 public:
  Halving(const Kernel& kernel, std::int64_t n_features)
      : kernel_(kernel), n_features_(n_features), stride_(Hold::stride_for(n_features)),
        mean_(n_features), composite_(n_features), narrow_(stride_), narrow_mean_(stride_) {
    std::fill_n(narrow_.get(), stride_, 0.0f);
    std::fill_n(narrow_mean_.get(), stride_, 0.0f);
  }

  void begin(const double* set_composite, double set_weight) {
    const double inverse = 1.0 / set_weight;
    for (std::int64_t j = 0; j < n_features_; ++j) {
      mean_[j] = set_composite[j] * inverse;
      narrow_mean_[j] = static_cast<float>(mean_[j]);
      composite_[j] = 0.0;
    }
    mean_norm_ = kernel_.dot(mean_.get(), mean_.get(), n_features_);
    weights_[0] = 0.0;
    weights_[1] = set_weight;
  }

  // x.mean: by which a row is measured from the mean. |x - mean|^2 = |x|^2 - 2 x.mean + |mean|^2.
  float along_mean(const float* x) const { return kernel_.dot_narrow(x, narrow_mean_.get(), stride_); }
  double mean_norm() const { return mean_norm_; }
  double weight(int half) const { return weights_[half]; }

  // Puts a row of the second half into the first, whatever it costs.
  void put(const float* x, double w) {
    kernel_.add_narrow(composite_.get(), x, w, n_features_);
    weights_[0] += w;
    weights_[1] -= w;
  }
  // After a series of `put`: takes the mean off.
  void settle() {
    for (std::int64_t j = 0; j < n_features_; ++j) composite_[j] -= weights_[0] * mean_[j];
    refresh();
  }

  // How much the objective |S|^2 (1/W1 + 1/W2) rises if a row of weight w changes halves; `reach` is
  // (x - mean).S and `gap` |x - mean|^2.
  double gain(int from, double w, double reach, double gap) const {
    const double sign = from == 0 ? -1.0 : 1.0;
    const double norm = norm_ + sign * 2.0 * w * reach + w * w * gap;
    const double first = weights_[0] + sign * w, second = weights_[1] - sign * w;
    return norm * (1.0 / first + 1.0 / second) - objective();
  }
  double objective() const { return norm_ * (1.0 / weights_[0] + 1.0 / weights_[1]); }
  double rough_reach(const float* x) const {
    return static_cast<double>(kernel_.dot_narrow(x, narrow_.get(), stride_)) - along_composite_;
  }
  double exact_reach(const float* x) const {
    return kernel_.dot_mixed(x, composite_.get(), n_features_) - along_composite_;
  }

  void move(const float* x, int from, double w, double gap_to_mean) {
    (void)gap_to_mean;
    const double sign = from == 0 ? -1.0 : 1.0;
    kernel_.add_narrow(composite_.get(), x, sign * w, n_features_);
    kernel_.add(composite_.get(), mean_.get(), -sign * w, n_features_);
    weights_[0] += sign * w;
    weights_[1] -= sign * w;
    refresh();
  }

  // x is nearer to the centre of the first half if x.S > threshold.
  double threshold() const {
    const double a = 1.0 / weights_[0], b = 1.0 / weights_[1];
    return along_composite_ + 0.5 * norm_ * (a - b);
  }
  const float* direction() const { return narrow_.get(); }
  void first_composite(double* out) const {
    for (std::int64_t j = 0; j < n_features_; ++j) out[j] = composite_[j] + weights_[0] * mean_[j];
  }

 private:
  void refresh() {
    for (std::int64_t j = 0; j < n_features_; ++j) narrow_[j] = static_cast<float>(composite_[j]);
    norm_ = kernel_.dot(composite_.get(), composite_.get(), n_features_);
    along_composite_ = kernel_.dot(mean_.get(), composite_.get(), n_features_);
  }

  const Kernel& kernel_;
  std::int64_t n_features_, stride_;
  Buffer<double> mean_, composite_;
  Buffer<float> narrow_, narrow_mean_;
  double mean_norm_ = 0.0, norm_ = 0.0, along_composite_ = 0.0;
  double weights_[2] = {0.0, 0.0};
};
