#include "tree/split.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "support/random.hpp"

namespace boostkmeans {

namespace {

// Rows that are looked through before the watch is.
constexpr std::int64_t kRowsBetweenLooks = 1024;

// A set that is too large to be held.
template <class Cut>
struct LargeSet {
  std::int64_t set, begin, end;
  std::vector<std::int64_t> sample;    // positions in `members`, ascending
  std::vector<std::int32_t> sections;  // of the sample
  Cut cut;
};

struct Span {
  std::int64_t large, begin, end;
};

// What a span of a large set adds to its sections.
struct Share {
  std::vector<std::int64_t> counts;
  std::vector<double> weights, energies, composites;
};

template <class Rows>
class Splitting {
 public:
  Splitting(const Rows& rows, RowWeights row_weights, std::int64_t* members, const std::int64_t* begins,
            const std::int64_t* ends, std::int64_t n_sets, const SplitOptions& options,
            const SplitResult& result, Team& team)
      : rows_(rows),
        row_weights_(row_weights),
        members_(members),
        begins_(begins),
        ends_(ends),
        n_sets_(n_sets),
        options_(options),
        result_(result),
        team_(team),
        n_sections_(options.sections.n_sections),
        capacity_(Held::capacity(rows, n_sections_)),
        n_sample_(capacity_ / 2),
        span_rows_(Held::span_rows(rows)) {
    for (int t = 0; t < team.size(); ++t) places_.push_back(std::make_unique<Workplace>());
    large_.resize(static_cast<std::size_t>(n_sets));
  }

  void run() {
    // The largest first, so that no thread is left with one of them at the end.
    std::vector<std::int64_t> order(static_cast<std::size_t>(n_sets_));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [this](std::int64_t a, std::int64_t b) {
      return ends_[a] - begins_[a] > ends_[b] - begins_[b];
    });
    team_.for_each(n_sets_, [&](std::int64_t i, int thread) {
      section_set(order[static_cast<std::size_t>(i)], thread);
    });
    if (team_.watch().stopped()) return;
    follow();
  }

 private:
  using Held = typename Sectioning<Rows>::Held;
  using Large = LargeSet<typename Held::Cut>;

  struct Workplace {
    std::unique_ptr<Sectioning<Rows>> sectioning;
    std::vector<std::int64_t> ids;
  };

  // Made by the thread that will use it, when it is first needed.
  Workplace& place(int thread) {
    Workplace& place = *places_[static_cast<std::size_t>(thread)];
    if (!place.sectioning) {
      std::int64_t largest = 0;
      for (std::int64_t i = 0; i < n_sets_; ++i) largest = std::max(largest, ends_[i] - begins_[i]);
      place.sectioning = std::make_unique<Sectioning<Rows>>(
          rows_, options_.sections, std::min(largest, std::max(capacity_, span_rows_)));
    }
    return place;
  }

  std::uint64_t seed_of(std::int64_t set) const {
    return random_at(random_at(options_.seed, static_cast<std::uint64_t>(begins_[set])),
                     static_cast<std::uint64_t>(ends_[set]));
  }

  void section_set(std::int64_t set, int thread) {
    const std::int64_t begin = begins_[set], count = ends_[set] - begin;
    if (count > capacity_) return section_sample(set, thread);
    Workplace& here = place(thread);
    here.ids.assign(members_ + begin, members_ + begin + count);
    if (!here.sectioning->run(here.ids.data(), count, row_weights_, seed_of(set)))
      return mark_equal(set);
    for (std::int64_t s = 0, at = begin; s < n_sections_; ++s) {
      for (std::int64_t i = 0; i < count; ++i)
        if (here.sectioning->section(i) == s) members_[at++] = here.ids[static_cast<std::size_t>(i)];
      const std::int64_t out = set * n_sections_ + s;
      result_.ends[out] = at;
      result_.weights[out] = here.sectioning->weight(s);
      if (options_.measured) result_.inertias[out] = here.sectioning->inertia(s);
    }
  }

  void mark_equal(std::int64_t set) {
    for (std::int64_t s = 0; s < n_sections_; ++s) {
      result_.ends[set * n_sections_ + s] = -1;
      result_.weights[set * n_sections_ + s] = 0.0;
      result_.inertias[set * n_sections_ + s] = 0.0;
    }
  }

  // One row of each stretch of the set.
  void section_sample(std::int64_t set, int thread) {
    Workplace& here = place(thread);
    auto large = std::make_unique<Large>();
    large->set = set;
    large->begin = begins_[set];
    large->end = ends_[set];
    const std::int64_t count = large->end - large->begin;
    Random random(seed_of(set));
    here.ids.clear();
    for (std::int64_t i = 0; i < n_sample_; ++i) {
      const auto stretch = [&](std::int64_t n) {
        return large->begin + n * (count / n_sample_) + std::min(n, count % n_sample_);
      };
      const std::int64_t at = stretch(i) + random_below(random.bits(), stretch(i + 1) - stretch(i));
      large->sample.push_back(at);
      here.ids.push_back(members_[at]);
    }
    if (here.sectioning->run(here.ids.data(), n_sample_, row_weights_, random.bits())) {
      large->cut = here.sectioning->cut();
      for (std::int64_t i = 0; i < n_sample_; ++i)
        large->sections.push_back(here.sectioning->section(i));
    } else if (!section_odd(*large, here, thread)) {
      return mark_equal(set);
    }
    large_[static_cast<std::size_t>(set)] = std::move(large);
  }

  // All rows of the sample are equal: looks for other rows, in float64, and splits them off.
  bool section_odd(Large& large, Workplace& here, int thread) const {
    typename Rows::Row first(rows_), other(rows_);
    rows_.fetch(members_[large.begin], first);
    large.sample.assign(1, large.begin);
    std::vector<std::int64_t> copies;  // of the first: they make up the number
    for (std::int64_t at = large.begin + 1; at < large.end; ++at) {
      if (at % kRowsBetweenLooks == 0 && team_.watch().look(thread)) return false;
      rows_.fetch(members_[at], other);
      if (rows_.gap(first, other) > 0.0)
        large.sample.push_back(at);
      else if (static_cast<std::int64_t>(copies.size()) < n_sections_)
        copies.push_back(at);
      if (static_cast<std::int64_t>(large.sample.size()) == n_sample_) break;
    }
    if (large.sample.size() == 1) return false;
    const auto missing =
        std::max<std::int64_t>(0, n_sections_ - static_cast<std::int64_t>(large.sample.size()));
    large.sample.insert(large.sample.end(), copies.begin(), copies.begin() + missing);
    std::sort(large.sample.begin(), large.sample.end());
    here.ids.clear();
    for (const std::int64_t at : large.sample) here.ids.push_back(members_[at]);
    const auto count = static_cast<std::int64_t>(here.ids.size());
    if (!here.sectioning->run(here.ids.data(), count, row_weights_, seed_of(large.set))) return false;
    large.cut = here.sectioning->cut();
    large.sections.clear();
    for (std::int64_t i = 0; i < count; ++i) large.sections.push_back(here.sectioning->section(i));
    return true;
  }

  // All rows of the large sets go to the section of the nearest centre; then their sets are reordered.
  void follow() {
    std::vector<Large*> sets;
    std::vector<Span> spans;
    for (const auto& large : large_) {
      if (!large) continue;
      for (std::int64_t at = large->begin; at < large->end; at += span_rows_)
        spans.push_back(
            {static_cast<std::int64_t>(sets.size()), at, std::min(large->end, at + span_rows_)});
      sets.push_back(large.get());
    }
    if (sets.empty()) return;
    std::vector<std::int64_t> offsets{0};  // of each large set in `chosen` and `moved`
    for (const Large* large : sets) offsets.push_back(offsets.back() + large->end - large->begin);
    std::vector<std::int32_t> chosen(static_cast<std::size_t>(offsets.back()));
    std::vector<std::int64_t> moved(chosen.size());
    const auto position = [&](const Span& span) {
      const auto l = static_cast<std::size_t>(span.large);
      return offsets[l] + span.begin - sets[l]->begin;
    };
    const auto n_spans = static_cast<std::int64_t>(spans.size());
    std::vector<Share> shares(spans.size());
    team_.for_each(n_spans, [&](std::int64_t i, int thread) {
      const Span& span = spans[static_cast<std::size_t>(i)];
      const Large& large = *sets[static_cast<std::size_t>(span.large)];
      shares[static_cast<std::size_t>(i)] = share(large, span, chosen.data() + position(span), thread);
    });
    if (team_.watch().stopped()) return;
    const auto starts = add_up(sets, spans, shares);
    team_.for_each(n_spans, [&](std::int64_t i, int) {
      const Span& span = spans[static_cast<std::size_t>(i)];
      std::vector<std::int64_t> next(starts[static_cast<std::size_t>(i)]);
      const Large& large = *sets[static_cast<std::size_t>(span.large)];
      const std::int64_t shift = offsets[static_cast<std::size_t>(span.large)] - large.begin;
      const std::int64_t from = position(span);
      for (std::int64_t r = 0; r < span.end - span.begin; ++r) {
        const auto s = static_cast<std::size_t>(chosen[static_cast<std::size_t>(from + r)]);
        moved[static_cast<std::size_t>(next[s]++ + shift)] = members_[span.begin + r];
      }
    });
    if (team_.watch().stopped()) return;
    for (std::size_t l = 0; l < sets.size(); ++l)
      std::copy(moved.begin() + offsets[l], moved.begin() + offsets[l + 1], members_ + sets[l]->begin);
    if (options_.measured) measure_again(sets);
  }

  // Inertias that float32 could not tell.
  void measure_again(const std::vector<Large*>& sets) {
    std::vector<std::int64_t> unknown;
    for (const Large* large : sets)
      for (std::int64_t out = large->set * n_sections_; out < (large->set + 1) * n_sections_; ++out)
        if (std::isnan(result_.inertias[out])) unknown.push_back(out);
    team_.for_each(static_cast<std::int64_t>(unknown.size()), [&](std::int64_t i, int thread) {
      const std::int64_t out = unknown[static_cast<std::size_t>(i)], set = out / n_sections_;
      const std::int64_t begin = out % n_sections_ == 0 ? begins_[set] : result_.ends[out - 1];
      result_.inertias[out] =
          inertia_of(rows_, row_weights_, members_ + begin, result_.ends[out] - begin,
                     [&] { return team_.watch().look(thread); });
    });
  }

  // Sections of the rows of a span. Those of the sample keep the section that they found, so that none
  // is left without rows.
  Share share(const Large& large, const Span& span, std::int32_t* chosen, int thread) {
    Held& held = place(thread).sectioning->held();
    const std::int64_t count = span.end - span.begin;
    held.follow(large.cut, members_ + span.begin, count, options_.measured, chosen);
    for (auto at = std::lower_bound(large.sample.begin(), large.sample.end(), span.begin);
         at != large.sample.end() && *at < span.end; ++at)
      chosen[*at - span.begin] = large.sections[static_cast<std::size_t>(at - large.sample.begin())];
    const auto s = static_cast<std::size_t>(n_sections_);
    Share share{std::vector<std::int64_t>(s, 0), std::vector<double>(s, 0.0), {}, {}};
    for (std::int64_t r = 0; r < count; ++r) {
      const auto c = static_cast<std::size_t>(chosen[r]);
      ++share.counts[c];
      share.weights[c] += row_weights_[members_[span.begin + r]];
    }
    if constexpr (Held::kAddsUp)
      if (options_.measured) measure(held, span, chosen, share);
    return share;
  }

  void measure(Held& held, const Span& span, const std::int32_t* chosen, Share& share) const {
    const std::int64_t step = held.width();
    share.energies.assign(static_cast<std::size_t>(n_sections_), 0.0);
    share.composites.assign(static_cast<std::size_t>(n_sections_ * step), 0.0);
    for (std::int64_t r = 0; r < span.end - span.begin; ++r) {
      const double w = row_weights_[members_[span.begin + r]];
      share.energies[static_cast<std::size_t>(chosen[r])] += w * held.norm(r);
      held.add_to(share.composites.data() + chosen[r] * step, r, w);
    }
  }

  // The results of the large sets, in the order of their spans; and where each span's rows of each
  // section go in `members`.
  std::vector<std::vector<std::int64_t>> add_up(const std::vector<Large*>& sets,
                                                const std::vector<Span>& spans,
                                                const std::vector<Share>& shares) {
    const auto n_sections = static_cast<std::size_t>(n_sections_);
    std::vector<std::vector<std::int64_t>> starts(spans.size(), std::vector<std::int64_t>(n_sections));
    std::size_t first = 0;
    for (std::size_t l = 0; l < sets.size(); ++l) {
      std::size_t last = first;
      while (last < spans.size() && spans[last].large == static_cast<std::int64_t>(l)) ++last;
      std::int64_t at = sets[l]->begin;
      for (std::size_t s = 0; s < n_sections; ++s) {
        double weight = 0.0;
        for (std::size_t i = first; i < last; ++i) {
          starts[i][s] = at;
          at += shares[i].counts[s];
          weight += shares[i].weights[s];
        }
        const auto out = sets[l]->set * n_sections_ + static_cast<std::int64_t>(s);
        result_.ends[out] = at;
        result_.weights[out] = weight;
        if (options_.measured) result_.inertias[out] = inertia(*sets[l], shares, first, last, s, weight);
      }
      first = last;
    }
    return starts;
  }

  // NaN where it has to be measured.
  double inertia(const Large& large, const std::vector<Share>& shares, std::size_t first,
                 std::size_t last, std::size_t section, double weight) const {
    if constexpr (Held::kAddsUp) {
      const std::size_t width = shares[first].composites.size() / static_cast<std::size_t>(n_sections_);
      std::vector<double> sum(width, 0.0);
      double energy = 0.0;
      for (std::size_t i = first; i < last; ++i) {
        energy += shares[i].energies[section];
        for (std::size_t j = 0; j < width; ++j) sum[j] += shares[i].composites[section * width + j];
      }
      const double square = std::inner_product(sum.begin(), sum.end(), sum.begin(), 0.0);
      return std::ldexp(inertia_between(energy, square, weight), -2 * large.cut.place.exponent);
    } else {
      return std::numeric_limits<double>::quiet_NaN();
    }
  }

  const Rows& rows_;
  RowWeights row_weights_;
  std::int64_t* members_;
  const std::int64_t *begins_, *ends_;
  std::int64_t n_sets_;
  const SplitOptions& options_;
  const SplitResult& result_;
  Team& team_;
  std::int64_t n_sections_, capacity_, n_sample_, span_rows_;
  std::vector<std::unique_ptr<Workplace>> places_;
  std::vector<std::unique_ptr<Large>> large_;  // by set; null for small ones
};

}  // namespace

template <class Rows>
void split(const Rows& rows, RowWeights row_weights, std::int64_t* members, const std::int64_t* begins,
           const std::int64_t* ends, std::int64_t n_sets, const SplitOptions& options,
           const SplitResult& result, Team& team) {
  Splitting<Rows>(rows, row_weights, members, begins, ends, n_sets, options, result, team).run();
}

#define BK_INSTANTIATE(Rows)                                                                            \
  template void split(const Rows&, RowWeights, std::int64_t*, const std::int64_t*, const std::int64_t*, \
                      std::int64_t, const SplitOptions&, const SplitResult&, Team&)
BK_INSTANTIATE(DenseRows);
BK_INSTANTIATE(SparseRows);
#undef BK_INSTANTIATE

}  // namespace boostkmeans
