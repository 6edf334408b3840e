// Some rows in float32, one after the other, held in the cache while they are gone over several times.
#pragma once

#include <algorithm>
#include <cstdint>

#include "buffer.hpp"
#include "dense_rows.hpp"

namespace boostkmeans {

class Hold {
 public:
  // As many rows as fit into the second-level cache of a core, beside what else is there.
  static std::int64_t capacity(std::int64_t n_features) {
    constexpr std::int64_t kValues = 1 << 18;
    return std::clamp<std::int64_t>(kValues / stride_for(n_features), 64, 8192);
  }

  explicit Hold(const DenseRows& rows)
      : rows_(rows), stride_(stride_for(rows.n_features())),
        values_(capacity(rows.n_features()) * stride_), norms_(capacity(rows.n_features())) {
    std::fill_n(values_.get(), capacity(rows.n_features()) * stride_, 0.0f);
  }

  // Loads rows ids(0) ... ids(count - 1).
  template <class Ids>
  void load(std::int64_t count, Ids ids) {
    constexpr std::int64_t kRowsAhead = 8;
    for (std::int64_t i = 0; i < count; ++i) {
      if (i + kRowsAhead < count) rows_.prefetch(ids(i + kRowsAhead));
      norms_[i] = rows_.load_flat_row(ids(i), values_.get() + i * stride_);
    }
  }

  std::int64_t stride() const { return stride_; }
  const float* row(std::int64_t i) const { return values_.get() + i * stride_; }
  float norm(std::int64_t i) const { return norms_[i]; }

  // A whole number of the longest vectors.
  static std::int64_t stride_for(std::int64_t n_features) { return (n_features + 15) / 16 * 16; }

 private:
  const DenseRows& rows_;
  std::int64_t stride_;
  Buffer<float> values_, norms_;
};

}  // namespace boostkmeans
