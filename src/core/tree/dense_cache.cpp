#include "tree/dense_cache.hpp"

#include <algorithm>
#include <cmath>

namespace boostkmeans {

namespace {

// Maximum number of rows of a set that is sectioned as a whole. Its float32 rows must fit into the
// cache of a core.
constexpr std::int64_t kMaxCached = 2048;
// Maximum size of such a set in bytes. A larger set is sectioned by a sample of half this size.
constexpr std::int64_t kCachedBytes = 1 << 21;
// Minimum number of cached rows, which takes precedence over kCachedBytes in high dimensions.
constexpr std::int64_t kMinCached = 1024;
// Maximum size of the cached rows in bytes, which takes precedence over kMinCached.
constexpr std::int64_t kMaxCachedBytes = 1 << 26;
// Smallest number of cached rows per section.
constexpr std::int64_t kCachedPerSection = 16;
// Bounds on the number of rows of a large set that are assigned at a time.
constexpr std::int64_t kRangeRows = 1024;
constexpr std::int64_t kMinRangeRows = 16;
// A set whose spread is below this fraction of the length of its mean is loaded in float64. The error of
// a float32 mean ends up in the last section, which may be a thousandth of the set; with this threshold,
// it is at most 5e-4 of the spread of that section.
constexpr double kNarrowSpread = 0x1p-4;
// Number of rows that are prefetched ahead of the current row.
constexpr std::int64_t kRowsAhead = 32;
// Number of rows that are prefetched and loaded at a time.
constexpr std::int64_t kRowsAtOnce = 8;

std::int64_t row_bytes(const DenseRows& rows) { return flat_layout(rows.n_features()).row_step * 4; }

}  // namespace

void LocalFrameLoader::load_plain(const std::int64_t* ids, std::int64_t count, float* out,
                                  float* norms) const {
  for (std::int64_t i = 0; i < std::min(kRowsAhead, count); ++i) rows_.prefetch(ids[i]);
  for (std::int64_t i = 0; i < count; i += kRowsAtOnce) {
    for (std::int64_t a = i + kRowsAhead; a < std::min(i + kRowsAhead + kRowsAtOnce, count); ++a)
      rows_.prefetch(ids[a]);
    rows_.load(ids + i, std::min(kRowsAtOnce, count - i), layout_, out + i * step(), norms + i);
  }
}

void LocalFrameLoader::load(const LocalFrame& frame, const std::int64_t* ids, std::int64_t count,
                            float* out, float* norms) const {
  if (!frame.wide) {
    load_plain(ids, count, out, norms);
    for (std::int64_t i = 0; i < count; ++i)
      norms[i] = rows_.kernel().flat_shift(out + i * step(), frame.mean32.data(), step());
    return;
  }
  const double scale = std::ldexp(1.0, frame.exponent);
  for (std::int64_t i = 0; i < count; ++i) {
    rows_.fetch(ids[i], fetched_);
    double norm = 0.0;
    for (std::int64_t j = 0; j < rows_.n_features(); ++j) {
      const auto x =
          static_cast<float>((fetched_.values[j] - frame.mean[static_cast<std::size_t>(j)]) * scale);
      out[i * step() + j] = x;
      norm += static_cast<double>(x) * static_cast<double>(x);
    }
    norms[i] = static_cast<float>(norm);
  }
}

bool LocalFrameLoader::find(const std::int64_t* ids, std::int64_t count, RowWeights weights,
                            LocalFrame& frame, float* values, float* norms) const {
  load_plain(ids, count, values, norms);
  frame.mean.assign(static_cast<std::size_t>(step()), 0.0);
  frame.mean32.assign(static_cast<std::size_t>(step()), 0.0f);
  double total = static_cast<double>(count), square = 0.0;
  std::vector<float> narrow_weights;
  if (weights) {
    total = 0.0;
    for (std::int64_t i = 0; i < count; ++i) {
      narrow_weights.push_back(static_cast<float>(weights[ids[i]]));
      total += static_cast<double>(narrow_weights.back());
    }
  }
  rows_.kernel().flat_sum(values, step(), count, weights ? narrow_weights.data() : nullptr, step(),
                          frame.mean.data());
  for (std::size_t j = 0; j < frame.mean.size(); ++j) {
    frame.mean[j] /= total;
    frame.mean32[j] = static_cast<float>(frame.mean[j]);
    square += frame.mean[j] * frame.mean[j];
  }
  double sum_of_squares = 0.0;
  for (std::int64_t i = 0; i < count; ++i) {
    norms[i] = rows_.kernel().flat_shift(values + i * step(), frame.mean32.data(), step());
    sum_of_squares += weights[ids[i]] * static_cast<double>(norms[i]);
  }
  frame.wide = !(sum_of_squares > kNarrowSpread * kNarrowSpread * total * square);
  frame.exponent = 0;
  if (!frame.wide) return true;
  if (!find_wide(ids, count, weights, frame)) return false;
  load(frame, ids, count, values, norms);
  return true;
}

bool LocalFrameLoader::find_wide(const std::int64_t* ids, std::int64_t count, RowWeights weights,
                                 LocalFrame& frame) const {
  const auto d = static_cast<std::size_t>(rows_.n_features());
  // Differences from the first row are exact in a tight set, and so is their mean.
  DenseRows::Row first_row(rows_);
  rows_.fetch(ids[0], first_row);
  const double* first = first_row.values.get();
  std::ranges::fill(frame.mean, 0.0);
  double total = 0.0, farthest = 0.0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double w = weights[ids[i]];
    rows_.fetch(ids[i], fetched_);
    for (std::size_t j = 0; j < d; ++j) {
      const double difference = fetched_.values[static_cast<std::int64_t>(j)] - first[j];
      frame.mean[j] += w * difference;
      farthest = std::max(farthest, std::abs(difference));
    }
    total += w;
  }
  if (!(farthest > 0.0)) return false;
  for (std::size_t j = 0; j < d; ++j) frame.mean[j] = first[j] + frame.mean[j] / total;
  frame.exponent = std::clamp(-std::ilogb(farthest), -1000, 1000);
  return true;
}

std::int64_t DenseCache::capacity(const DenseRows& rows, std::int64_t n_sections) {
  const std::int64_t few = std::min(kMinCached, kMaxCachedBytes / row_bytes(rows));
  return std::max(
      {std::min(kMaxCached, kCachedBytes / row_bytes(rows)), few, kCachedPerSection * n_sections});
}

std::int64_t DenseCache::range_rows(const DenseRows& rows) {
  return std::clamp(kCachedBytes / row_bytes(rows), kMinRangeRows, kRangeRows);
}

DenseCache::DenseCache(const DenseRows& rows, std::int64_t n_sections, std::int64_t capacity)
    : kernel_(rows.kernel()),
      loader_(rows),
      step_(loader_.step()),
      last_(n_sections - 1),
      values_(capacity * step_),
      norms_(capacity),
      composites_(last_ * step_),
      copies_(last_ * step_),
      scratch_(step_) {
  std::fill_n(values_.get(), capacity * step_, 0.0f);  // the padding of rows stays 0
}

bool DenseCache::load(const std::int64_t* ids, std::int64_t count, RowWeights weights) {
  count_ = count;
  return loader_.find(ids, count, weights, frame_, values_.get(), norms_.get());
}

void DenseCache::dots_with(std::int64_t row, float* out) const {
  kernel_.flat_dots(values_.get(), step_, count_, this->row(row), step_, out);
}

void DenseCache::clear() {
  std::fill_n(composites_.get(), last_ * step_, 0.0);
  std::fill_n(copies_.get(), last_ * step_, 0.0f);
}

void DenseCache::squares(double* out) const {
  std::vector<double> rest(static_cast<std::size_t>(step_), 0.0);
  for (std::int64_t s = 0; s < last_; ++s) {
    out[s] = kernel_.dot(composite(s), composite(s), step_);
    for (std::int64_t j = 0; j < step_; ++j) rest[static_cast<std::size_t>(j)] -= composite(s)[j];
  }
  out[last_] = kernel_.dot(rest.data(), rest.data(), step_);
}

// |x - C_s|^2 < |x - C_last|^2  <=>  x . 2 (C_s - C_last) > |C_s|^2 - |C_last|^2.
DenseCut DenseCache::cut(const std::vector<double>& inverse, const std::vector<double>& offsets) const {
  const std::int64_t last = last_;
  DenseCut cut{frame_, std::vector<float>(static_cast<std::size_t>(last * step_)), {}, {}};
  const auto l = static_cast<std::size_t>(last);
  for (std::int64_t j = 0; j < step_; ++j) {
    double rest = 0.0;
    for (std::int64_t s = 0; s < last; ++s) rest -= composite(s)[j];
    for (std::int64_t s = 0; s < last; ++s)
      cut.directions[static_cast<std::size_t>(s * step_ + j)] = static_cast<float>(
          2.0 * (composite(s)[j] * inverse[static_cast<std::size_t>(s)] - rest * inverse[l]));
  }
  for (std::size_t s = 0; s < l; ++s) {
    const double threshold = offsets[s] - offsets[l];
    const double at_mean = kernel_.flat_dot(cut.directions.data() + static_cast<std::int64_t>(s) * step_,
                                            frame_.mean.data(), step_);
    cut.thresholds.push_back(static_cast<float>(threshold));
    cut.plain_thresholds.push_back(static_cast<float>(threshold + at_mean));
  }
  return cut;
}

void DenseCache::assign(const Cut& cut, const std::int64_t* ids, std::int64_t count, bool with_inertias,
                        std::int32_t* sections) {
  const auto last = static_cast<std::int32_t>(last_);
  const bool plain = !with_inertias && !cut.frame.wide;
  std::vector<float> dots(static_cast<std::size_t>(last_ * kBlock));
  const std::vector<float>& thresholds = plain ? cut.plain_thresholds : cut.thresholds;
  if (plain)
    loader_.load_plain(ids, count, values_.get(), norms_.get());
  else
    loader_.load(cut.frame, ids, count, values_.get(), norms_.get());
  for (std::int64_t begin = 0; begin < count; begin += kBlock) {
    const std::int64_t n = std::min(kBlock, count - begin);
    for (std::int64_t s = 0; s < last; ++s)
      kernel_.flat_dots(row(begin), step_, n, cut.directions.data() + s * step_, step_,
                        dots.data() + s * kBlock);
    for (std::int64_t r = 0; r < n; ++r) {
      float best = 0.0f;
      std::int32_t found = last;
      for (std::int32_t s = 0; s < last; ++s) {
        const float lead =
            dots[static_cast<std::size_t>(s * kBlock + r)] - thresholds[static_cast<std::size_t>(s)];
        if (lead > best) best = lead, found = s;
      }
      sections[begin + r] = found;
    }
  }
}

}  // namespace boostkmeans
