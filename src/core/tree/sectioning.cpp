#include "tree/sectioning.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace boostkmeans {

namespace {

// A gain below this fraction of its terms may be a rounding error of the float32 rows.
constexpr double kRelative = 1e-6;

}  // namespace

template <class Rows>
double inertia_of(const Rows& rows, RowWeights weights, const std::int64_t* ids, std::int64_t count,
                  const std::function<bool()>& stop) {
  constexpr std::int64_t kRowsBetweenPolls = 1024;
  const std::int64_t d = rows.n_features();
  typename Rows::Row fetched(rows);
  Buffer<double> sum(d);
  std::fill_n(sum.get(), d, 0.0);
  double total = 0.0, inertia = 0.0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (i % kRowsBetweenPolls == 0 && stop()) return 0.0;
    rows.fetch(ids[i], fetched);
    rows.add(fetched, weights[ids[i]], sum.get());
    total += weights[ids[i]];
  }
  const Centre centre = rows.centre(sum.get(), 1.0 / total);
  for (std::int64_t i = 0; i < count; ++i) {
    if (i % kRowsBetweenPolls == 0 && stop()) return 0.0;
    rows.fetch(ids[i], fetched);
    inertia += weights[ids[i]] * rows.distance(fetched, centre);
  }
  return inertia;
}

double inertia_between(double sum_of_squares, double square, double weight) {
  constexpr double kMinFraction = 1e-3;  // leaves about four of the seven digits of float32
  const double inertia = sum_of_squares - square / weight;
  return inertia > kMinFraction * sum_of_squares ? inertia : std::numeric_limits<double>::quiet_NaN();
}

template <class Rows>
Sectioning<Rows>::Sectioning(const Rows& rows, const SectionOptions& options, std::int64_t capacity)
    : rows_(rows),
      options_(options),
      cache_(rows, options.n_sections, capacity),
      dots_(static_cast<std::size_t>((options.n_sections - 1) * kBlock)) {
  const auto s = static_cast<std::size_t>(options.n_sections);
  for (auto* by_section : {&weight_, &square_, &inverse_, &offset_, &leave_, &enter_})
    by_section->assign(s, 0.0);
  members_.assign(s, 0);
}

template <class Rows>
bool Sectioning<Rows>::run(const std::int64_t* ids, std::int64_t count, RowWeights weights,
                           std::uint64_t seed) {
  if (!load(ids, count, weights)) return false;
  double inertia = 0.0;  // of the set
  for (std::int64_t i = 0; i < count; ++i) inertia += row_weight(i) * (cache_.norm(i) - cache_.shift(i));
  Random random(seed);
  start(random);
  sum_up();
  for (n_passes_ = 0; n_passes_ < options_.max_passes;) {
    ++n_passes_;
    if (pass() <= options_.tol * inertia) break;
  }
  return true;
}

template <class Rows>
bool Sectioning<Rows>::load(const std::int64_t* ids, std::int64_t count, RowWeights weights) {
  ids_ = ids;
  count_ = count;
  weights_ = weights;
  sections_.resize(static_cast<std::size_t>(count));
  return cache_.load(ids, count, weights);
}

template <class Rows>
bool Sectioning<Rows>::adopt(const std::int64_t* ids, std::int64_t count, RowWeights weights,
                             const std::vector<std::int32_t>& sections, std::int64_t n_passes) {
  if (!load(ids, count, weights)) return false;
  sections_ = sections;
  n_passes_ = n_passes;
  sum_up();
  return true;
}

template <class Rows>
void Sectioning<Rows>::start(Random& random) {
  if (options_.start == SectionStart::random_partition)
    start_random_partition(random);
  else
    start_from_rows(random);
}

// Assigns rows to sections of equal size at random.
template <class Rows>
void Sectioning<Rows>::start_random_partition(Random& random) {
  for (std::int64_t i = 0; i < count_; ++i)
    sections_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i % options_.n_sections);
  for (std::int64_t i = count_ - 1; i > 0; --i)
    std::swap(sections_[static_cast<std::size_t>(i)],
              sections_[static_cast<std::size_t>(random_below(random.bits(), i + 1))]);
}

// Assigns rows to the nearest of s rows, which are drawn uniformly or by k-means++, that is, in
// proportion to the squared distance to the nearest row drawn before.
template <class Rows>
void Sectioning<Rows>::start_from_rows(Random& random) {
  const bool by_distance = options_.start == SectionStart::plus_plus;
  const auto norm_of = [this](std::int64_t i) { return static_cast<float>(cache_.norm(i)); };
  const auto n = static_cast<std::size_t>(count_);
  std::vector<float> closest(n, std::numeric_limits<float>::infinity()), potential(n), dots(n);
  for (std::size_t i = 0; i < n; ++i)
    potential[i] = by_distance ? static_cast<float>(row_weight(static_cast<std::int64_t>(i))) : 1.0f;
  for (std::int64_t s = 0; s < options_.n_sections; ++s) {
    std::int64_t drawn = draw_row(random, potential);
    while (drawn < 0) {  // all rows coincide with drawn rows: draw any other row
      const std::int64_t row = random_below(random.bits(), count_);
      if (closest[static_cast<std::size_t>(row)] >= 0.0f) drawn = row;
    }
    cache_.dots_with(drawn, dots.data());
    for (std::int64_t i = 0; i < count_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const float squared = std::max(0.0f, norm_of(i) - 2.0f * dots[at] + norm_of(drawn));
      if (i == drawn || squared < closest[at]) {
        closest[at] = i == drawn ? 0.0f : squared;
        sections_[at] = static_cast<std::int32_t>(s);
      }
      if (by_distance) potential[at] = static_cast<float>(row_weight(i)) * closest[at];
    }
    // A drawn row stays in its section and is not drawn again.
    closest[static_cast<std::size_t>(drawn)] = -1.0f;
    potential[static_cast<std::size_t>(drawn)] = 0.0f;
  }
}

// Draws a row in proportion to its potential. Returns -1 if all potentials are 0.
template <class Rows>
std::int64_t Sectioning<Rows>::draw_row(Random& random, const std::vector<float>& potential) const {
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

template <class Rows>
void Sectioning<Rows>::sum_up() {
  const auto last = static_cast<std::int32_t>(options_.n_sections - 1);
  cache_.clear();
  std::ranges::fill(weight_, 0.0);
  std::ranges::fill(members_, 0);
  for (std::int64_t i = 0; i < count_; ++i) {
    const std::int32_t s = section(i);
    weight_[static_cast<std::size_t>(s)] += row_weight(i);
    ++members_[static_cast<std::size_t>(s)];
    if (s < last) cache_.add(i, s, row_weight(i));
  }
  cache_.squares(square_.data());
  for (std::int32_t s = 0; s <= last; ++s) refresh(s);
  if (last == 1) refresh_crossings();
}

// Updates 1 / W and |C|^2 of a section, and W / (W - 1) and W / (W + 1) for rows of weight 1, so that
// visits need no divisions.
template <class Rows>
void Sectioning<Rows>::refresh(std::int32_t section) {
  const auto s = static_cast<std::size_t>(section);
  const double w = weight_[s];
  inverse_[s] = w > 0.0 ? 1.0 / w : 0.0;
  offset_[s] = square_[s] * inverse_[s] * inverse_[s];
  leave_[s] = w > 1.0 ? w / (w - 1.0) : 0.0;
  enter_[s] = w / (w + 1.0);
}

template <class Rows>
void Sectioning<Rows>::refresh_crossings() {
  for (std::size_t from = 0; from < 2; ++from) {
    const std::size_t to = 1 - from;
    const double sign = from == 0 ? -2.0 : 2.0;  // the composite of section 1 is minus that of section 0
    crossing_[from] = {leave_[from] - enter_[to],
                       sign * (leave_[from] * inverse_[from] + enter_[to] * inverse_[to]),
                       enter_[to] * offset_[to] - leave_[from] * offset_[from]};
  }
}

template <class Rows>
double Sectioning<Rows>::distance(double norm, double dot, std::int32_t section) const {
  const auto s = static_cast<std::size_t>(section);
  return std::max(0.0, norm - 2.0 * dot * inverse_[s] + offset_[s]);
}

template <class Rows>
bool Sectioning<Rows>::may_leave_section(std::int32_t section, double weight) const {
  constexpr double kResolution = 1e-15;
  const auto s = static_cast<std::size_t>(section);
  return members_[s] > 1 && weight_[s] - weight > kResolution * weight_[s];
}

// Returns the best section of row i, or -1 if this is its own section. Uses row r of dots_.
template <class Rows>
template <bool weighted>
std::int32_t Sectioning<Rows>::better_section(std::int64_t i, std::int64_t r) const {
  const auto last = static_cast<std::int32_t>(options_.n_sections - 1);
  const double norm = cache_.norm(i), w = weighted ? row_weight(i) : 1.0;
  const std::int32_t own = section(i);
  double rest = cache_.dot_all(i), stay = 0.0, best = std::numeric_limits<double>::infinity();
  std::int32_t found = -1;
  for (std::int32_t s = 0; s <= last; ++s) {
    const double dot =
        s < last ? static_cast<double>(dots_[static_cast<std::size_t>(s * kBlock + r)]) : rest;
    rest -= dot;
    const double squared = distance(norm, dot, s);
    const auto at = static_cast<std::size_t>(s);
    if (s == own) {
      stay = weighted ? leaving(weight_[at], w, squared) : leave_[at] * squared;
    } else {
      const double cost = weighted ? entering(weight_[at], w, squared) : enter_[at] * squared;
      if (cost < best) best = cost, found = s;
    }
  }
  return best < stay ? found : -1;
}

// Visits all rows once. Returns the gain.
template <class Rows>
double Sectioning<Rows>::pass() {
  if constexpr (Cache::kCentred)
    if (options_.n_sections == 2 && !weights_) return pass_halves();
  return weights_ ? pass_sections<true>() : pass_sections<false>();
}

template <class Rows>
template <bool weighted>
double Sectioning<Rows>::pass_sections() {
  const auto last = static_cast<std::int32_t>(options_.n_sections - 1);
  double gain = 0.0;
  for (std::int64_t begin = 0; begin < count_; begin += kBlock) {
    const std::int64_t count = std::min(kBlock, count_ - begin);
    for (std::int64_t s = 0; s < last; ++s) cache_.dots(begin, count, s, dots_.data() + s * kBlock);
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int64_t i = begin + r;
      const std::int32_t better = better_section<weighted>(i, r);
      if (better >= 0 && may_leave_section(section(i), row_weight(i))) gain += decide(i, better);
    }
  }
  return gain;
}

// The same for two sections and rows of weight 1. The composites add up to 0, so the gain of a row that
// changes its section is linear in |x|^2 and x . composite.
template <class Rows>
double Sectioning<Rows>::pass_halves() {
  double gain = 0.0;
  for (std::int64_t begin = 0; begin < count_; begin += kBlock) {
    const std::int64_t count = std::min(kBlock, count_ - begin);
    cache_.dots(begin, count, 0, dots_.data());
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int64_t i = begin + r;
      const Crossing& over = crossing_[section(i)];
      const double lead = over.norm * cache_.norm(i) +
                          over.dot * static_cast<double>(dots_[static_cast<std::size_t>(r)]);
      if (lead > over.least && may_leave_section(section(i), 1.0)) gain += decide(i, 1 - section(i));
    }
  }
  return gain;
}

template <class Rows>
double Sectioning<Rows>::dot(std::int64_t i, std::int32_t section) const {
  const auto last = static_cast<std::int32_t>(options_.n_sections - 1);
  if (section < last) return cache_.dot(i, section);
  double rest = cache_.dot_all(i);
  for (std::int32_t s = 0; s < last; ++s) rest -= cache_.dot(i, s);
  return rest;
}

// Moves a row if this is a gain according to the current composites. Returns the gain.
template <class Rows>
double Sectioning<Rows>::decide(std::int64_t i, std::int32_t to) {
  const std::int32_t from = section(i);
  const double norm = cache_.norm(i), w = row_weight(i);
  const double from_dot = dot(i, from);
  const double to_dot = options_.n_sections == 2 ? cache_.dot_all(i) - from_dot : dot(i, to);
  const auto u = static_cast<std::size_t>(from), v = static_cast<std::size_t>(to);
  const double leave = leaving(weight_[u], w, distance(norm, from_dot, from));
  const double enter = entering(weight_[v], w, distance(norm, to_dot, to));
  if (!(leave - enter > kRelative * (leave + enter))) return 0.0;
  const std::int64_t last = options_.n_sections - 1;
  if (from < last) cache_.add(i, from, -w);
  if (to < last) cache_.add(i, to, w);
  square_[u] = std::max(0.0, square_[u] - 2.0 * w * from_dot + w * w * norm);
  square_[v] += 2.0 * w * to_dot + w * w * norm;
  weight_[u] -= w;
  weight_[v] += w;
  --members_[u];
  ++members_[v];
  sections_[static_cast<std::size_t>(i)] = to;
  refresh(from);
  refresh(to);
  if (last == 1) refresh_crossings();
  return w * (leave - enter);
}

template <class Rows>
double Sectioning<Rows>::inertia(std::int64_t section) const {
  double sum_of_squares = 0.0;
  for (std::int64_t i = 0; i < count_; ++i)
    if (sections_[static_cast<std::size_t>(i)] == section)
      sum_of_squares += row_weight(i) * cache_.norm(i);
  const auto s = static_cast<std::size_t>(section);
  const double inertia = inertia_between(sum_of_squares, square_[s], weight_[s]);
  if (!std::isnan(inertia)) return std::ldexp(inertia, -2 * cache_.exponent());
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < count_; ++i)
    if (sections_[static_cast<std::size_t>(i)] == section) ids.push_back(ids_[i]);
  return inertia_of(rows_, weights_, ids.data(), static_cast<std::int64_t>(ids.size()),
                    [] { return false; });
}

template double inertia_of(const DenseRows&, RowWeights, const std::int64_t*, std::int64_t,
                           const std::function<bool()>&);
template double inertia_of(const SparseRows&, RowWeights, const std::int64_t*, std::int64_t,
                           const std::function<bool()>&);
template class Sectioning<DenseRows>;
template class Sectioning<SparseRows>;

}  // namespace boostkmeans
