#include "rows/sparse_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace boostkmeans {

namespace {

constexpr int kWideExponent = 1000;  // a power of two up to this exponent is safe as a single factor

}  // namespace

SparseRows::SparseRows(const Kernel& kernel, const CsrSource& source, std::int64_t n_rows,
                       std::int64_t n_features, int scale_exponent, const double* factors)
    : kernel_(kernel),
      source_(source),
      n_rows_(n_rows),
      n_features_(n_features),
      factors_(factors) {
  const int first = std::clamp(scale_exponent, -kWideExponent, kWideExponent);
  scale_[0] = std::ldexp(1.0, first);
  scale_[1] = std::ldexp(1.0, std::clamp(scale_exponent - first, -kWideExponent, kWideExponent));
  for (std::int64_t row = 0; row < n_rows; ++row) longest_ = std::max(longest_, length(row));
  frequencies_.assign(static_cast<std::size_t>(n_features), 0);
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
  source.as_typed([&](const auto*, const auto* columns) {
    for (std::int64_t t = 0; t < n_values(); ++t) {
      const std::int64_t column = CsrSource::column(columns[t], n_features_);
      std::int32_t& frequency = frequencies_[static_cast<std::size_t>(column)];
      if (frequency < kMax) ++frequency;
    }
  });
  Row x(*this);
  for (std::int64_t row = 0; row < n_rows; ++row) {
    load_terms(row, x.columns.get(), x.values.get());
    norms_.push_back(kernel.dot(x.values.get(), x.values.get(), length(row)));
  }
}

// Computes in float64 and rounds once, at the end.
template <class Value>
void SparseRows::load_terms(std::int64_t row, std::int32_t* columns, Value* values) const {
  const std::int64_t begin = source_.start(row), count = length(row);
  const double factor = factors_ == nullptr ? 1.0 : factors_[row];
  source_.as_typed([&](const auto* from, const auto* from_columns) {
    for (std::int64_t t = 0; t < count; ++t)
      columns[t] = static_cast<std::int32_t>(CsrSource::column(from_columns[begin + t], n_features_));
    for (std::int64_t t = 0; t < count; ++t)
      values[t] =
          static_cast<Value>(static_cast<double>(from[begin + t]) * factor * scale_[0] * scale_[1]);
  });
}

void SparseRows::fetch(std::int64_t row, Row& out) const {
  load_terms(row, out.columns.get(), out.values.get());
  out.count = length(row);
  out.norm = norms_[static_cast<std::size_t>(row)];
}

float SparseRows::load(std::int64_t row, std::int32_t* columns, float* values) const {
  load_terms(row, columns, values);
  return static_cast<float>(norms_[static_cast<std::size_t>(row)]);
}

void SparseRows::prefetch(std::int64_t row) const {
  constexpr std::int64_t kCacheLine = 64;
  // Number of cache lines after which the hardware prefetcher takes over.
  constexpr std::int64_t kMaxLines = 8;
  const std::int64_t begin = source_.start(row), count = length(row);
  source_.as_typed([&](const auto* values, const auto* columns) {
    const auto prefetch_from = [&](const auto* from) {
      const auto bytes = count * static_cast<std::int64_t>(sizeof *from);
      const char* at = reinterpret_cast<const char*>(from);
      for (std::int64_t i = 0; i < std::min(bytes, kMaxLines * kCacheLine); i += kCacheLine)
        __builtin_prefetch(at + i, 0, 2);
    };
    prefetch_from(values + begin);
    prefetch_from(columns + begin);
  });
}

double SparseRows::small_distance(const Row& x, const Centre& centre) const {
  double sum = 0.0;
  std::int64_t j = 0;
  const auto add_centre_up_to = [&](std::int64_t end) {
    for (; j < end; ++j)
      sum += centre.composite[j] * centre.inverse * centre.composite[j] * centre.inverse;
  };
  for (std::int64_t t = 0; t < x.count && j < n_features_; ++t) {  // columns may have changed
    add_centre_up_to(x.columns[t]);
    const double difference = x.values[t] - centre.composite[j] * centre.inverse;
    sum += difference * difference;
    ++j;
  }
  add_centre_up_to(n_features_);
  return sum;
}

double SparseRows::distance_between(const Row& x, const Row& y) const {
  double sum = 0.0;
  std::int64_t i = 0, j = 0;
  while (i < x.count || j < y.count) {
    const bool here = j == y.count || (i < x.count && x.columns[i] <= y.columns[j]);
    const bool there = i == x.count || (j < y.count && y.columns[j] <= x.columns[i]);
    const double difference = (here ? x.values[i] : 0.0) - (there ? y.values[j] : 0.0);
    sum += difference * difference;
    if (here) ++i;
    if (there) ++j;
  }
  return sum;
}

}  // namespace boostkmeans
