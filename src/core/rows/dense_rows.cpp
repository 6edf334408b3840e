#include "rows/dense_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace boostkmeans {

namespace {

// Powers of two up to these exponents are safe as a single factor in float32 and in float64.
constexpr int kNarrowExponent = 120;
constexpr int kWideExponent = 1000;

StridedArray expanded_source(const char* data, std::int64_t n_features, bool wide) {
  const std::int64_t item = wide ? 8 : 4;
  return {data, n_features * item, item, n_features, wide ? Scalar::float64 : Scalar::float32};
}

// Returns some rows as a dense array with the scalar type of the values.
Buffer<char> expand(const CsrSource& csr, const std::int64_t* rows, std::int64_t count,
                    std::int64_t n_features) {
  const std::int64_t bytes = n_features * (csr.wide_values ? 8 : 4);
  Buffer<char> array(count * bytes);
  std::fill_n(array.get(), count * bytes, '\0');
  csr.as_typed([&]<class Value>(const Value* values, const auto* columns) {
    for (std::int64_t r = 0; r < count; ++r) {
      auto* to = reinterpret_cast<Value*>(array.get() + r * bytes);
      const std::int64_t end = csr.start(rows[r] + 1);
      for (std::int64_t t = csr.start(rows[r]); t < end; ++t)
        to[CsrSource::column(columns[t], n_features)] = values[t];
    }
  });
  return array;
}

}  // namespace

DenseRows::DenseRows(const Kernel& kernel, const StridedArray& source, std::int64_t n_rows,
                     std::vector<double> shift, int scale_exponent, const double* factors)
    : kernel_(kernel),
      source_(source),
      n_rows_(n_rows),
      shift_(std::move(shift)),
      factors_(factors) {
  const int first = std::clamp(scale_exponent, -kWideExponent, kWideExponent);
  scale_[0] = std::ldexp(1.0, first);
  scale_[1] = std::ldexp(1.0, std::clamp(scale_exponent - first, -kWideExponent, kWideExponent));
  // float32 arithmetic is sufficient if nothing is rounded twice: see load_narrow_row in
  // kernel/load_rows.hpp.
  const auto fits = [](double x) {
    return std::abs(x) <= static_cast<double>(std::numeric_limits<float>::max()) &&
           x == static_cast<double>(static_cast<float>(x));
  };
  narrow_ = source.scalar != Scalar::float64 && factors == nullptr &&
            std::abs(scale_exponent) <= kNarrowExponent && std::ranges::all_of(shift_, fits);
  plain_ = source.scalar == Scalar::float32 && source.column_stride == 4 && factors == nullptr &&
           source.data != nullptr && scale_exponent == 0 && source.n_features % kernel.lanes == 0 &&
           std::ranges::all_of(shift_, [](double x) { return x == 0.0; });
  if (narrow_) {
    shift32_.resize(shift_.size());
    std::ranges::transform(shift_, shift32_.begin(), [](double x) { return static_cast<float>(x); });
  }
}

DenseRows::DenseRows(const Kernel& kernel, const CsrSource& source, std::int64_t n_rows,
                     const std::vector<double>& shift, int scale_exponent, const double* factors)
    : DenseRows(kernel,
                expanded_source(nullptr, static_cast<std::int64_t>(shift.size()), source.wide_values),
                n_rows, shift, scale_exponent, factors) {
  csr_ = source;
}

void DenseRows::load_expanded(const CsrSource& csr, const std::int64_t* rows, std::int64_t count,
                              Layout layout, float* out, float* norms) const {
  const Buffer<char> array = expand(csr, rows, count, source_.n_features);
  std::vector<std::int64_t> order;
  std::vector<double> factors;
  order.reserve(static_cast<std::size_t>(count));
  factors.reserve(static_cast<std::size_t>(count));
  for (std::int64_t r = 0; r < count; ++r) {
    order.push_back(r);
    factors.push_back(factor(rows[r]));
  }
  kernel_.load_rows(expanded_source(array.get(), source_.n_features, csr.wide_values), frame(),
                    order.data(), count, factors_ == nullptr ? nullptr : factors.data(), layout, out,
                    norms);
}

void DenseRows::fetch_expanded(const CsrSource& csr, std::int64_t row, double* out) const {
  const Buffer<char> array = expand(csr, &row, 1, source_.n_features);
  kernel_.load_row(expanded_source(array.get(), source_.n_features, csr.wide_values), frame(), 0,
                   factor(row), out);
}

void DenseRows::load_bytes(const std::int64_t* rows, std::int64_t count, std::int32_t* quads) const {
  const std::int32_t flip = source_.scalar == Scalar::int8 ? static_cast<std::int32_t>(0x80808080u) : 0;
  for (std::int64_t r = 0; r < count; ++r) {
    const char* row = source_.data + rows[r] * source_.row_stride;
    for (std::int64_t begin = 0; begin < source_.n_features; begin += kChunkColumns) {
      std::int32_t* to = quads + begin / kChunkColumns * kQuadChunkSize + r * kQuadStride;
      const std::int64_t n = std::min(kChunkColumns, source_.n_features - begin);
      to[(n + 3) / 4 - 1] = 0;
      std::memcpy(to, row + begin, static_cast<std::size_t>(n));
      if (flip != 0)
        for (std::int64_t j = 0; j < (n + 3) / 4; ++j) to[j] ^= flip;  // padding is multiplied by zeros
    }
  }
}

}  // namespace boostkmeans
