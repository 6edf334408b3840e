#include "dense_rows.hpp"

#include <algorithm>
#include <cmath>

namespace boostkmeans {

namespace {

// The largest power of two that is safe in one factor, for rows of up to 32 bits and of 64 bits.
constexpr int kNarrowExponent = 120;
constexpr int kWideExponent = 1000;

}  // namespace

DenseRows::DenseRows(const Kernel& kernel, const RowSource& source, std::int64_t n_rows,
                     std::vector<double> shift, int scale_exponent, const double* factors)
    : kernel_(kernel), source_(source), n_rows_(n_rows), shift_(std::move(shift)), factors_(factors) {
  // Narrow rows are packed in float32 arithmetic with one factor: there the scale is bounded, which
  // leaves denormal float32 data at 2^-29 and so well inside float32's range.
  const bool wide = source.scalar == Scalar::float64;
  const int bound = wide ? kWideExponent : kNarrowExponent;
  const int first = std::clamp(scale_exponent, -bound, bound);
  const int rest = wide ? std::clamp(scale_exponent - first, -bound, bound) : 0;
  scale_[0] = std::ldexp(1.0, first);
  scale_[1] = std::ldexp(1.0, rest);
  // float32 arithmetic is exact enough only where the shift is a float32: see load_tile_row_of.
  shift32_.resize(shift_.size());
  std::transform(shift_.begin(), shift_.end(), shift32_.begin(),
                 [wide](double x) { return wide ? 0.0f : static_cast<float>(x); });
  narrow_ = !wide && factors == nullptr &&
            std::equal(shift_.begin(), shift_.end(), shift32_.begin(),
                       [](double x, float y) { return x == static_cast<double>(y); });
}

}  // namespace boostkmeans
