#include "sectioning.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace boostkmeans {

namespace {

// A set whose spread is below this share of its mean's length is placed in float64. What float32 leaves of the
// mean ends up in the last section, which may be a thousandth of the set: then this is 5e-4 of its spread.
constexpr double kNarrowSpread = 0x1p-4;
// A gain below this share of its terms may be due to the rounding of the rows to float32.
constexpr double kRelative = 1e-6;
// Rows are asked for this many ahead, a few at a time.
constexpr std::int64_t kRowsAhead = 16, kRowsAtOnce = 2;

}  // namespace

double inertia_of(const DenseRows& rows, RowWeights weights, const std::int64_t* ids,
                  std::int64_t count, const std::function<bool()>& stop) {
  constexpr std::int64_t kRowsBetweenLooks = 1024;
  const std::int64_t d = rows.n_features();
  Buffer<double> fetched(d), sum(d);
  std::fill_n(sum.get(), d, 0.0);
  double total = 0.0, inertia = 0.0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (i % kRowsBetweenLooks == 0 && stop()) return 0.0;
    rows.fetch(ids[i], fetched.get());
    rows.add(fetched.get(), weights[ids[i]], sum.get());
    total += weights[ids[i]];
  }
  for (std::int64_t i = 0; i < count; ++i) {
    if (i % kRowsBetweenLooks == 0 && stop()) return 0.0;
    rows.fetch(ids[i], fetched.get());
    inertia += weights[ids[i]] * rows.distance(fetched.get(), sum.get(), 1.0 / total);
  }
  return inertia;
}

double inertia_between(double energy, double square, double weight) {
  constexpr double kLeast = 1e-3;  // of which float32 has four digits
  const double inertia = energy - square / weight;
  return inertia > kLeast * energy ? inertia : std::numeric_limits<double>::quiet_NaN();
}

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
    rows_.fetch(ids[i], fetched_.get());
    double norm = 0.0;
    for (std::int64_t j = 0; j < rows_.n_features(); ++j) {
      const auto x = static_cast<float>((fetched_[j] - place.mean[static_cast<std::size_t>(j)]) * scale);
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
  std::vector<double> first(d);
  rows_.fetch(ids[0], first.data());
  std::fill(place.mean.begin(), place.mean.end(), 0.0);
  double total = 0.0, farthest = 0.0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double w = weights[ids[i]];
    rows_.fetch(ids[i], fetched_.get());
    for (std::size_t j = 0; j < d; ++j) {
      const double gap = fetched_[static_cast<std::int64_t>(j)] - first[j];
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

Sectioning::Sectioning(const DenseRows& rows, const SectionOptions& options, std::int64_t capacity)
    : rows_(rows), kernel_(rows.kernel()), options_(options), loader_(rows), step_(loader_.step()),
      values_(capacity * step_), norms_(capacity), composites_((options.n_sections - 1) * step_),
      copies_((options.n_sections - 1) * step_), dots_((options.n_sections - 1) * kBlock) {
  std::fill_n(values_.get(), capacity * step_, 0.0f);  // what pads the rows stays 0
  const auto s = static_cast<std::size_t>(options.n_sections);
  for (auto* by_section : {&weight_, &square_, &inverse_, &offset_, &leave_, &enter_})
    by_section->assign(s, 0.0);
  members_.assign(s, 0);
}

bool Sectioning::run(const std::int64_t* ids, std::int64_t count, RowWeights weights,
                     std::uint64_t seed) {
  ids_ = ids;
  count_ = count;
  weights_ = weights;
  sections_.resize(static_cast<std::size_t>(count));
  if (!loader_.find(ids, count, weights, place_, values_.get(), norms_.get())) return false;
  energy_ = 0.0;
  for (std::int64_t i = 0; i < count; ++i) energy_ += row_weight(i) * static_cast<double>(norms_[i]);
  Random random(seed);
  start(random);
  sum_up();
  for (std::int64_t n = 0; n < options_.max_passes; ++n)
    if (pass() <= options_.tol * energy_) break;
  return true;
}

void Sectioning::start(Random& random) {
  if (options_.start == SectionStart::random_partition)
    start_random_partition(random);
  else
    start_from_rows(random);
}

// Sections of equal size.
void Sectioning::start_random_partition(Random& random) {
  for (std::int64_t i = 0; i < count_; ++i)
    sections_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i % options_.n_sections);
  for (std::int64_t i = count_ - 1; i > 0; --i)
    std::swap(sections_[static_cast<std::size_t>(i)],
              sections_[static_cast<std::size_t>(random_below(random.bits(), i + 1))]);
}

// The nearest of s rows, drawn evenly, or by k-means++: each by its squared distance to those before.
void Sectioning::start_from_rows(Random& random) {
  const bool spread = options_.start == SectionStart::plus_plus;
  const auto n = static_cast<std::size_t>(count_);
  std::vector<float> closest(n, std::numeric_limits<float>::infinity()), potential(n), dots(n);
  for (std::size_t i = 0; i < n; ++i)
    potential[i] = spread ? static_cast<float>(row_weight(static_cast<std::int64_t>(i))) : 1.0f;
  for (std::int64_t s = 0; s < options_.n_sections; ++s) {
    std::int64_t drawn = draw_row(random, potential);
    while (drawn < 0) {  // all rows lie on those that were drawn: any other will do
      const std::int64_t row = random_below(random.bits(), count_);
      if (closest[static_cast<std::size_t>(row)] >= 0.0f) drawn = row;
    }
    kernel_.flat_dots(values_.get(), step_, count_, held(drawn), step_, dots.data());
    for (std::int64_t i = 0; i < count_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const float gap = std::max(0.0f, norms_[i] - 2.0f * dots[at] + norms_[drawn]);
      if (i == drawn || gap < closest[at]) {
        closest[at] = i == drawn ? 0.0f : gap;
        sections_[at] = static_cast<std::int32_t>(s);
      }
      if (spread) potential[at] = static_cast<float>(row_weight(i)) * closest[at];
    }
    // A drawn row is the first of its section: nobody takes it, and it is not drawn again.
    closest[static_cast<std::size_t>(drawn)] = -1.0f;
    potential[static_cast<std::size_t>(drawn)] = 0.0f;
  }
}

// -1 if no row has any potential left.
std::int64_t Sectioning::draw_row(Random& random, const std::vector<float>& potential) const {
  double total = 0.0;
  for (const float p : potential) total += static_cast<double>(std::max(p, 0.0f));
  double left = random.uniform() * total;
  std::int64_t last = -1;
  for (std::int64_t i = 0; i < count_; ++i) {
    const float p = potential[static_cast<std::size_t>(i)];
    if (p <= 0.0f) continue;
    last = i;
    left -= static_cast<double>(p);
    if (left < 0.0) break;
  }
  return last;
}

void Sectioning::sum_up() {
  const std::int64_t last = options_.n_sections - 1;
  std::fill_n(composites_.get(), last * step_, 0.0);
  std::fill_n(copies_.get(), last * step_, 0.0f);
  std::fill(weight_.begin(), weight_.end(), 0.0);
  std::fill(members_.begin(), members_.end(), 0);
  std::vector<double> rest(static_cast<std::size_t>(step_), 0.0);
  for (std::int64_t i = 0; i < count_; ++i) {
    const std::int32_t s = section(i);
    weight_[static_cast<std::size_t>(s)] += row_weight(i);
    ++members_[static_cast<std::size_t>(s)];
    if (s < last)
      kernel_.flat_add(composite(s), copies_.get() + s * step_, held(i), row_weight(i), step_);
  }
  for (std::int64_t s = 0; s < last; ++s) {
    square_[static_cast<std::size_t>(s)] = kernel_.dot(composite(s), composite(s), step_);
    for (std::int64_t j = 0; j < step_; ++j) rest[static_cast<std::size_t>(j)] -= composite(s)[j];
  }
  square_[static_cast<std::size_t>(last)] = kernel_.dot(rest.data(), rest.data(), step_);
  for (std::int32_t s = 0; s <= static_cast<std::int32_t>(last); ++s) refresh(s);
}

// What a visit needs of a section, so that it need not divide: 1 / W, |C|^2, and (for rows of weight 1)
// W / (W - 1) and W / (W + 1).
void Sectioning::refresh(std::int32_t section) {
  const auto s = static_cast<std::size_t>(section);
  const double w = weight_[s];
  inverse_[s] = w > 0.0 ? 1.0 / w : 0.0;
  offset_[s] = square_[s] * inverse_[s] * inverse_[s];
  leave_[s] = w > 1.0 ? w / (w - 1.0) : 0.0;
  enter_[s] = w / (w + 1.0);
}

double Sectioning::distance(double norm, double dot, std::int32_t section) const {
  const auto s = static_cast<std::size_t>(section);
  return std::max(0.0, norm - 2.0 * dot * inverse_[s] + offset_[s]);
}

bool Sectioning::may_leave_section(std::int32_t section, double weight) const {
  constexpr double kResolution = 1e-15;
  const auto s = static_cast<std::size_t>(section);
  return members_[s] > 1 && weight_[s] - weight > kResolution * weight_[s];
}

// One visit of all rows; returns what it gained.
double Sectioning::pass() {
  const auto last = static_cast<std::int32_t>(options_.n_sections - 1);
  double gain = 0.0;
  for (std::int64_t begin = 0; begin < count_; begin += kBlock) {
    const std::int64_t count = std::min(kBlock, count_ - begin);
    for (std::int64_t s = 0; s < last; ++s)
      kernel_.flat_dots(held(begin), step_, count, copies_.get() + s * step_, step_,
                        dots_.get() + s * kBlock);
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int64_t i = begin + r;
      const double norm = norms_[i], w = row_weight(i);
      const std::int32_t own = section(i);
      double rest = 0.0, stay = 0.0, best = std::numeric_limits<double>::infinity();
      std::int32_t found = -1;
      for (std::int32_t s = 0; s <= last; ++s) {
        const double dot = s < last ? static_cast<double>(dots_[s * kBlock + r]) : -rest;
        rest += dot;
        const double gap = distance(norm, dot, s);
        const auto at = static_cast<std::size_t>(s);
        if (s == own) {
          stay = weights_ ? leaving(weight_[at], w, gap) : leave_[at] * gap;
        } else {
          const double cost = weights_ ? entering(weight_[at], w, gap) : enter_[at] * gap;
          if (cost < best) best = cost, found = s;
        }
      }
      if (best < stay && may_leave_section(own, w)) gain += decide(i, found);
    }
  }
  return gain;
}

double Sectioning::dot(std::int64_t i, std::int32_t section) const {
  const auto last = static_cast<std::int32_t>(options_.n_sections - 1);
  if (section < last) return kernel_.flat_dot(held(i), composite(section), step_);
  double sum = 0.0;
  for (std::int32_t s = 0; s < last; ++s) sum -= kernel_.flat_dot(held(i), composite(s), step_);
  return sum;
}

// Moves a row if that is a gain by the composites as they are now; returns it.
double Sectioning::decide(std::int64_t i, std::int32_t to) {
  const std::int32_t from = section(i);
  const double norm = norms_[i], w = row_weight(i);
  const double from_dot = dot(i, from);
  const double to_dot = options_.n_sections == 2 ? -from_dot : dot(i, to);
  const auto u = static_cast<std::size_t>(from), v = static_cast<std::size_t>(to);
  const double leave = leaving(weight_[u], w, distance(norm, from_dot, from));
  const double enter = entering(weight_[v], w, distance(norm, to_dot, to));
  if (!(leave - enter > kRelative * (leave + enter))) return 0.0;
  const std::int64_t last = options_.n_sections - 1;
  if (from < last) kernel_.flat_add(composite(from), copies_.get() + from * step_, held(i), -w, step_);
  if (to < last) kernel_.flat_add(composite(to), copies_.get() + to * step_, held(i), w, step_);
  square_[u] = std::max(0.0, square_[u] - 2.0 * w * from_dot + w * w * norm);
  square_[v] += 2.0 * w * to_dot + w * w * norm;
  weight_[u] -= w;
  weight_[v] += w;
  --members_[u];
  ++members_[v];
  sections_[static_cast<std::size_t>(i)] = to;
  refresh(from);
  refresh(to);
  return w * (leave - enter);
}

double Sectioning::inertia(std::int64_t section) const {
  double energy = 0.0;
  for (std::int64_t i = 0; i < count_; ++i)
    if (sections_[static_cast<std::size_t>(i)] == section)
      energy += row_weight(i) * static_cast<double>(norms_[i]);
  const auto s = static_cast<std::size_t>(section);
  const double inertia = inertia_between(energy, square_[s], weight_[s]);
  if (!std::isnan(inertia)) return std::ldexp(inertia, -2 * place_.exponent);
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < count_; ++i)
    if (sections_[static_cast<std::size_t>(i)] == section) ids.push_back(ids_[i]);
  return inertia_of(rows_, weights_, ids.data(), static_cast<std::int64_t>(ids.size()),
                    [] { return false; });  // these are few
}

// |x - C_s|^2 < |x - C_last|^2  <=>  x . 2 (C_s - C_last) > |C_s|^2 - |C_last|^2.
Cut Sectioning::cut() const {
  const std::int64_t last = options_.n_sections - 1;
  Cut cut{place_, std::vector<float>(static_cast<std::size_t>(last * step_)), {}, {}};
  const auto l = static_cast<std::size_t>(last);
  for (std::int64_t j = 0; j < step_; ++j) {
    double rest = 0.0;
    for (std::int64_t s = 0; s < last; ++s) rest -= composite(s)[j];
    for (std::int64_t s = 0; s < last; ++s)
      cut.directions[static_cast<std::size_t>(s * step_ + j)] = static_cast<float>(
          2.0 * (composite(s)[j] * inverse_[static_cast<std::size_t>(s)] - rest * inverse_[l]));
  }
  for (std::size_t s = 0; s < l; ++s) {
    const double threshold = offset_[s] - offset_[l];
    const double at_mean = kernel_.flat_dot(
        cut.directions.data() + static_cast<std::int64_t>(s) * step_, place_.mean.data(), step_);
    cut.thresholds.push_back(static_cast<float>(threshold));
    cut.plain_thresholds.push_back(static_cast<float>(threshold + at_mean));
  }
  return cut;
}

void Sectioning::apply(const Cut& cut, const std::int64_t* ids, std::int64_t count, bool with_norms,
                       std::int32_t* sections) {
  const auto last = static_cast<std::int32_t>(options_.n_sections - 1);
  const bool plain = !with_norms && !cut.place.wide;
  const std::vector<float>& thresholds = plain ? cut.plain_thresholds : cut.thresholds;
  if (plain)
    loader_.load_plain(ids, count, values_.get(), norms_.get());
  else
    loader_.load(cut.place, ids, count, values_.get(), norms_.get());
  for (std::int64_t begin = 0; begin < count; begin += kBlock) {
    const std::int64_t n = std::min(kBlock, count - begin);
    for (std::int64_t s = 0; s < last; ++s)
      kernel_.flat_dots(held(begin), step_, n, cut.directions.data() + s * step_, step_,
                        dots_.get() + s * kBlock);
    for (std::int64_t r = 0; r < n; ++r) {
      float best = 0.0f;
      std::int32_t found = last;
      for (std::int32_t s = 0; s < last; ++s) {
        const float lead = dots_[s * kBlock + r] - thresholds[static_cast<std::size_t>(s)];
        if (lead > best) best = lead, found = s;
      }
      sections[begin + r] = found;
    }
  }
}

}  // namespace boostkmeans
