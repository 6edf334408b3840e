#include "tree/dense_cache.hpp"

#include <algorithm>
#include <cmath>

namespace boostkmeans {

namespace {

// A set is sectioned as it is as long as its float32 rows fit into a core's cache beside the rest; by a
// sample of half that size otherwise. High dimensions need some rows all the same, within limits.
constexpr std::int64_t kMostHeld = 2048;
constexpr std::int64_t kHeldBytes = 1 << 21, kMostHeldBytes = 1 << 26;
constexpr std::int64_t kFewestHeld = 1024, kHeldPerSection = 16;
// Rows of a large set that follow in one go.
constexpr std::int64_t kSpanRows = 1024, kFewestSpanRows = 16;
// A set whose spread is below this share of its mean's length is placed in float64. What float32 leaves
// of the mean ends up in the last section, which may be a thousandth of the set: then this is 5e-4 of
// its spread.
constexpr double kNarrowSpread = 0x1p-4;
// Rows are asked for this many ahead, a few at a time.
constexpr std::int64_t kRowsAhead = 32, kRowsAtOnce = 8;

std::int64_t row_bytes(const DenseRows& rows) { return flat_layout(rows.n_features()).row_step * 4; }

}  // namespace

void PlaceLoader::load_plain(const std::int64_t* ids, std::int64_t count, float* out,
                             float* norms) const {
  for (std::int64_t i = 0; i < std::min(kRowsAhead, count); ++i) rows_.prefetch(ids[i]);
  for (std::int64_t i = 0; i < count; i += kRowsAtOnce) {
    for (std::int64_t a = i + kRowsAhead; a < std::min(i + kRowsAhead + kRowsAtOnce, count); ++a)
      rows_.prefetch(ids[a]);
    rows_.load(ids + i, std::min(kRowsAtOnce, count - i), layout_, out + i * step(), norms + i);
  }
}

void PlaceLoader::load(const Place& place, const std::int64_t* ids, std::int64_t count, float* out,
                       float* norms) const {
  if (!place.wide) {
    load_plain(ids, count, out, norms);
    for (std::int64_t i = 0; i < count; ++i)
      norms[i] = rows_.kernel().flat_shift(out + i * step(), place.mean32.data(), step());
    return;
  }
  const double scale = std::ldexp(1.0, place.exponent);
  for (std::int64_t i = 0; i < count; ++i) {
    rows_.fetch(ids[i], fetched_);
    double norm = 0.0;
    for (std::int64_t j = 0; j < rows_.n_features(); ++j) {
      const auto x =
          static_cast<float>((fetched_.values[j] - place.mean[static_cast<std::size_t>(j)]) * scale);
      out[i * step() + j] = x;
      norm += static_cast<double>(x) * static_cast<double>(x);
    }
    norms[i] = static_cast<float>(norm);
  }
}

bool PlaceLoader::find(const std::int64_t* ids, std::int64_t count, RowWeights weights, Place& place,
                       float* values, float* norms) const {
  load_plain(ids, count, values, norms);
  place.mean.assign(static_cast<std::size_t>(step()), 0.0);
  place.mean32.assign(static_cast<std::size_t>(step()), 0.0f);
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
                          place.mean.data());
  for (std::size_t j = 0; j < place.mean.size(); ++j) {
    place.mean[j] /= total;
    place.mean32[j] = static_cast<float>(place.mean[j]);
    square += place.mean[j] * place.mean[j];
  }
  double energy = 0.0;
  for (std::int64_t i = 0; i < count; ++i) {
    norms[i] = rows_.kernel().flat_shift(values + i * step(), place.mean32.data(), step());
    energy += weights[ids[i]] * static_cast<double>(norms[i]);
  }
  place.wide = !(energy > kNarrowSpread * kNarrowSpread * total * square);
  place.exponent = 0;
  if (!place.wide) return true;
  if (!find_wide(ids, count, weights, place)) return false;
  load(place, ids, count, values, norms);
  return true;
}

bool PlaceLoader::find_wide(const std::int64_t* ids, std::int64_t count, RowWeights weights,
                            Place& place) const {
  const auto d = static_cast<std::size_t>(rows_.n_features());
  // Differences from the first row are exact where the set is tight, so that their mean is too.
  DenseRows::Row first_row(rows_);
  rows_.fetch(ids[0], first_row);
  const double* first = first_row.values.get();
  std::fill(place.mean.begin(), place.mean.end(), 0.0);
  double total = 0.0, farthest = 0.0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double w = weights[ids[i]];
    rows_.fetch(ids[i], fetched_);
    for (std::size_t j = 0; j < d; ++j) {
      const double gap = fetched_.values[static_cast<std::int64_t>(j)] - first[j];
      place.mean[j] += w * gap;
      farthest = std::max(farthest, std::abs(gap));
    }
    total += w;
  }
  if (!(farthest > 0.0)) return false;
  for (std::size_t j = 0; j < d; ++j) place.mean[j] = first[j] + place.mean[j] / total;
  place.exponent = std::clamp(-std::ilogb(farthest), -1000, 1000);
  return true;
}

std::int64_t DenseHeld::capacity(const DenseRows& rows, std::int64_t n_sections) {
  const std::int64_t few = std::min(kFewestHeld, kMostHeldBytes / row_bytes(rows));
  return std::max(
      {std::min(kMostHeld, kHeldBytes / row_bytes(rows)), few, kHeldPerSection * n_sections});
}

std::int64_t DenseHeld::span_rows(const DenseRows& rows) {
  return std::clamp(kHeldBytes / row_bytes(rows), kFewestSpanRows, kSpanRows);
}

DenseHeld::DenseHeld(const DenseRows& rows, std::int64_t n_sections, std::int64_t capacity)
    : kernel_(rows.kernel()),
      loader_(rows),
      step_(loader_.step()),
      last_(n_sections - 1),
      values_(capacity * step_),
      norms_(capacity),
      composites_(last_ * step_),
      copies_(last_ * step_),
      scratch_(step_) {
  std::fill_n(values_.get(), capacity * step_, 0.0f);  // what pads the rows stays 0
}

bool DenseHeld::hold(const std::int64_t* ids, std::int64_t count, RowWeights weights) {
  count_ = count;
  return loader_.find(ids, count, weights, place_, values_.get(), norms_.get());
}

void DenseHeld::dots_with(std::int64_t row, float* out) const {
  kernel_.flat_dots(values_.get(), step_, count_, held(row), step_, out);
}

void DenseHeld::clear() {
  std::fill_n(composites_.get(), last_ * step_, 0.0);
  std::fill_n(copies_.get(), last_ * step_, 0.0f);
}

void DenseHeld::squares(double* out) const {
  std::vector<double> rest(static_cast<std::size_t>(step_), 0.0);
  for (std::int64_t s = 0; s < last_; ++s) {
    out[s] = kernel_.dot(composite(s), composite(s), step_);
    for (std::int64_t j = 0; j < step_; ++j) rest[static_cast<std::size_t>(j)] -= composite(s)[j];
  }
  out[last_] = kernel_.dot(rest.data(), rest.data(), step_);
}

// |x - C_s|^2 < |x - C_last|^2  <=>  x . 2 (C_s - C_last) > |C_s|^2 - |C_last|^2.
DenseCut DenseHeld::cut(const std::vector<double>& inverse, const std::vector<double>& offsets) const {
  const std::int64_t last = last_;
  DenseCut cut{place_, std::vector<float>(static_cast<std::size_t>(last * step_)), {}, {}};
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
                                            place_.mean.data(), step_);
    cut.thresholds.push_back(static_cast<float>(threshold));
    cut.plain_thresholds.push_back(static_cast<float>(threshold + at_mean));
  }
  return cut;
}

void DenseHeld::follow(const Cut& cut, const std::int64_t* ids, std::int64_t count, bool measured,
                       std::int32_t* sections) {
  const auto last = static_cast<std::int32_t>(last_);
  const bool plain = !measured && !cut.place.wide;
  std::vector<float> dots(static_cast<std::size_t>(last_ * kBlock));
  const std::vector<float>& thresholds = plain ? cut.plain_thresholds : cut.thresholds;
  if (plain)
    loader_.load_plain(ids, count, values_.get(), norms_.get());
  else
    loader_.load(cut.place, ids, count, values_.get(), norms_.get());
  for (std::int64_t begin = 0; begin < count; begin += kBlock) {
    const std::int64_t n = std::min(kBlock, count - begin);
    for (std::int64_t s = 0; s < last; ++s)
      kernel_.flat_dots(held(begin), step_, n, cut.directions.data() + s * step_, step_,
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
