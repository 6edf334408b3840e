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

std::int64_t size_of(Scalar scalar) {
  switch (scalar) {
    case Scalar::float64: return 8;
    case Scalar::float32: return 4;
    case Scalar::float16: return 2;
    default: return 1;
  }
}

// Returns a description of rows that are stored one after the other.
StridedArray contiguous(const char* data, std::int64_t n_features, Scalar scalar) {
  const std::int64_t item = size_of(scalar);
  return {data, n_features * item, item, n_features, scalar};
}

// Writes a row of a CSR matrix as a dense row with the scalar type of the values.
void expand(const CsrSource& csr, std::int64_t row, std::int64_t n_features, char* out) {
  std::fill_n(out, n_features * (csr.wide_values ? 8 : 4), '\0');
  csr.as_typed([&]<class Value>(const Value* values, const auto* columns) {
    auto* to = reinterpret_cast<Value*>(out);
    const std::int64_t end = csr.start(row + 1);
    for (std::int64_t t = csr.start(row); t < end; ++t)
      to[CsrSource::column(columns[t], n_features)] = values[t];
  });
}

// Writes the values of a row, which have `item` bytes, one after the other. The stride is in a variable,
// because the compiler would read it again after each byte that it writes.
template <std::int64_t item>
void gather(const StridedArray& source, std::int64_t row, char* __restrict out) {
  const char* from = source.data + row * source.row_stride;
  const std::int64_t n = source.n_features, step = source.column_stride;
  for (std::int64_t j = 0; j < n; ++j)
    std::memcpy(out + j * item, from + j * step, static_cast<std::size_t>(item));
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
  copied_ = source.column_stride != size_of(source.scalar);
  if (narrow_) {
    shift32_.resize(shift_.size());
    std::ranges::transform(shift_, shift32_.begin(), [](double x) { return static_cast<float>(x); });
  }
}

DenseRows::DenseRows(const Kernel& kernel, const CsrSource& source, std::int64_t n_rows,
                     const std::vector<double>& shift, int scale_exponent, const double* factors)
    : DenseRows(kernel,
                contiguous(nullptr, static_cast<std::int64_t>(shift.size()),
                           source.wide_values ? Scalar::float64 : Scalar::float32),
                n_rows, shift, scale_exponent, factors) {
  csr_ = source;
  copied_ = true;
}

std::int64_t DenseRows::copied_size() const {
  return copied_ ? source_.n_features * size_of(source_.scalar) : 0;
}

void DenseRows::copy(std::int64_t row, char* out) const {
  if (csr_) return expand(*csr_, row, source_.n_features, out);
  switch (size_of(source_.scalar)) {
    case 8: return gather<8>(source_, row, out);
    case 4: return gather<4>(source_, row, out);
    case 2: return gather<2>(source_, row, out);
    default: return gather<1>(source_, row, out);
  }
}

void DenseRows::load_copied(const std::int64_t* rows, std::int64_t count, Layout layout, float* out,
                            float* norms) const {
  const Buffer<char> one(copied_size());
  const std::int64_t first = 0;
  for (std::int64_t r = 0; r < count; ++r) {
    copy(rows[r], one.get());
    kernel_.load_rows(contiguous(one.get(), source_.n_features, source_.scalar), frame(), &first, 1,
                      factors_ == nullptr ? nullptr : factors_ + rows[r], layout,
                      out + r * layout.row_step, norms + r);
  }
}

void DenseRows::fetch_copied(std::int64_t row, Row& out) const {
  copy(row, out.copy.get());
  kernel_.load_row(contiguous(out.copy.get(), source_.n_features, source_.scalar), frame(), 0,
                   factor(row), out.values.get());
}

void DenseRows::load_bytes(const std::int64_t* rows, std::int64_t count, std::int32_t* quads) const {
  const Buffer<char> one(copied_size());
  const std::int32_t flip = source_.scalar == Scalar::int8 ? static_cast<std::int32_t>(0x80808080u) : 0;
  for (std::int64_t r = 0; r < count; ++r) {
    if (copied_) copy(rows[r], one.get());
    const char* row = copied_ ? one.get() : source_.data + rows[r] * source_.row_stride;
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
