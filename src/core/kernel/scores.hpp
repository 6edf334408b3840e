// Part of kernel.cpp: scores tiles of rows against panels of centres.
#pragma once

#include "kernel/byte_products.hpp"
#include "kernel/vectors.hpp"

#ifdef __aarch64__
#include <arm_neon.h>  // its functions are always inlined, so the linker cannot share them
#endif

namespace boostkmeans {
namespace {

#ifdef __aarch64__

constexpr bool kMultipliesLanes = true;

template <int lane, int V>
inline void add_lane(const float32x4_t (&x)[kRows], const float* panel, Floats (&acc)[kRows][V]) {
  float32x4_t b[V];
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) b[v] = vld1q_f32(panel + v * kLanes);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) acc[r][v] = vfmaq_laneq_f32(acc[r][v], b[v], x[r], lane);
}

// Adds the products of kLanes columns of kRows rows and of a panel, in the order of the columns. FMLA
// multiplies a vector by one lane of another. Four columns of a row are one vector, so that no
// instruction is needed to repeat a value in all lanes.
template <int V, int width>
inline void add_lanes(const float* a, const float* panel, Floats (&acc)[kRows][V]) {
  static_assert(kLanes == 4);
  float32x4_t x[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) x[r] = vld1q_f32(a + r * kTileStride);
  add_lane<0>(x, panel, acc);
  add_lane<1>(x, panel + width, acc);
  add_lane<2>(x, panel + 2 * width, acc);
  add_lane<3>(x, panel + 3 * width, acc);
}

#else

constexpr bool kMultipliesLanes = false;
template <int V, int width>
inline void add_lanes(const float*, const float*, Floats (&)[kRows][V]) {}

#endif

// Computes out[r] = |x_r|^2 + norms + x_r . panel = |x_r - C|^2 for kRows rows, starting with
// `row`. The function is not inlined, so that the register block stays in registers in every
// caller. If `fetching`, it prefetches `ahead_step` bytes per feature, starting at `ahead`. `width` is
// the number of columns of the panel, of which the first V vectors are used.
template <int V, bool fetching = false, int width = V * kLanes>
[[gnu::noinline]] void distances(const TileView& tile, int64_t row, const float* panel,
                                 const float* norms, float (&out)[kRows][V * kLanes],
                                 const char* ahead = nullptr, int64_t ahead_step = 0) {
  Floats acc[kRows][V];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) acc[r][v] = load<Floats>(norms + v * kLanes) + tile.norms[row + r];
  for (int64_t begin = 0; begin < tile.n_features; begin += kChunkColumns) {
    const float* a = tile.values + begin / kChunkColumns * kChunkSize + row * kTileStride;
    const int64_t left = tile.n_features - begin;
    const int64_t count = left < kChunkColumns ? left : kChunkColumns;
    int64_t j = 0;
    if constexpr (kMultipliesLanes && !fetching)
      for (; j + kLanes <= count; j += kLanes, a += kLanes, panel += kLanes * width)
        add_lanes<V, width>(a, panel, acc);
    for (; j < count; ++j, ++a, panel += width) {
      if constexpr (fetching) {
        __builtin_prefetch(ahead, 0, 2);
        ahead += ahead_step;
      }
      Floats b[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) b[v] = load<Floats>(panel + v * kLanes);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const Floats x = splat(a[r * kTileStride]);
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) acc[r][v] += x * b[v];
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) store(out[r] + v * kLanes, acc[r][v]);
}

// The cost of each cluster of a vector for a row, given |x-C|^2.
template <Rule rule, bool weighted>
inline Floats cost_of(Floats distance, float weight, const float* factors, const float* inverse) {
  if constexpr (rule == Rule::nearest) return distance;
  if constexpr (!weighted) return distance * load<Floats>(factors);
  return distance / (1.0f + weight * load<Floats>(inverse));
}

// The best cluster of each lane for a row.
struct LaneBest {
  Floats cost;    // infinite for the row's own cluster
  Floats second;  // rule nearest: the second smallest cost
  Ints index;     // the cluster; rule first: its distance from the rotation, or INT32_MAX
};

template <Rule rule, bool weighted>
inline LaneBest lane_best(const TileView& tile, const PanelView& panels, int64_t row, int64_t cluster,
                          Ints id, const float* found) {
  const float weight = weighted ? tile.weights[row] : 1.0f;
  const Floats cost = cost_of<rule, weighted>(load<Floats>(found), weight, panels.factors + cluster,
                                              panels.inverse_weights + cluster);
  const Ints own = splat(tile.own[row]);
  if constexpr (rule == Rule::first) {
    const Ints turned = id - splat(tile.rotation[row]);
    const Ints key = turned < 0 ? turned + panels.n_clusters : turned;
    const Ints better = cost < splat(tile.stay[row]);
    const Ints allowed = better ? key : splat(INT32_MAX);
    return {cost, cost, id == own ? splat(INT32_MAX) : allowed};
  } else {
    return {id == own ? splat(kInfinity) : cost, splat(kInfinity), id};
  }
}

template <Rule rule>
inline LaneBest better_of(const LaneBest& a, const LaneBest& b) {
  if constexpr (rule == Rule::first) {
    return {a.cost, a.second, b.index < a.index ? b.index : a.index};
  } else {
    const Ints swap = b.cost < a.cost;
    Floats second = a.second;
    if constexpr (rule == Rule::nearest)
      second = smaller(smaller(a.second, b.second), larger(a.cost, b.cost));
    return {swap ? b.cost : a.cost, second, swap ? b.index : a.index};
  }
}

template <Rule rule>
inline void update(const LaneState& state, int64_t at, const LaneBest& found) {
  LaneBest old{};
  old.index = load<Ints>(state.index + at);
  if constexpr (rule != Rule::first) old.cost = load<Floats>(state.best + at);
  if constexpr (rule == Rule::nearest) old.second = load<Floats>(state.second + at);
  const LaneBest best = better_of<rule>(old, found);
  store(state.index + at, best.index);
  if constexpr (rule != Rule::first) store(state.best + at, best.cost);
  if constexpr (rule == Rule::nearest) store(state.second + at, best.second);
}

// Computes the same as `distances` for sparse rows, whose dot products are known.
template <int V>
inline void distances_from_dots(const TileView& tile, int64_t row, int64_t first, const float* norms,
                                float (&out)[kRows][V * kLanes]) {
  for (int r = 0; r < kRows; ++r) {
    const float* dots = tile.dots + (row + r) * tile.dots_step + first - tile.dots_first;
#pragma GCC unroll 4
    for (int v = 0; v < V * kLanes; v += kLanes)
      store(out[r] + v, load<Floats>(norms + v) + tile.norms[row + r] +
                            load<Floats>(tile.scales + first + v) * load<Floats>(dots + v));
  }
}

// Uses low precision if the panels and the kernel provide it.
inline void distances_to_panel(const TileView& tile, int64_t row, const PanelView& panels, int64_t first,
                               float (&found)[kRows][kWidth]) {
  if (kMultipliesBytes && panels.quads != nullptr)
    byte_distances(tile, row, panels, first, found);
  else if (tile.dots != nullptr)
    distances_from_dots<kVectors>(tile, row, first, panels.norms + first, found);
  else
    distances<kVectors>(tile, row, panels.values + first * tile.n_features, panels.norms + first, found);
}

// Scans the first vector of a panel, if the other columns are padding.
template <Rule rule, bool weighted>
void scan_narrow(const TileView& tile, const PanelView& panels, int64_t first, Ints ids,
                 const LaneState& state) {
  const float* panel = panels.values + first * tile.n_features;
  for (int64_t row = 0; row < tile.n_rows; row += kRows) {
    alignas(BK_VECTOR) float found[kRows][kLanes];
    distances<1, false, kWidth>(tile, row, panel, panels.norms + first, found);
    for (int r = 0; r < kRows; ++r)
      update<rule>(state, (row + r) * kLanes,
                   lane_best<rule, weighted>(tile, panels, row + r, first, ids, found[r]));
  }
}

template <Rule rule, bool weighted>
void scan_as(const TileView& tile, const PanelView& panels, int64_t begin, int64_t end,
             const LaneState& state) {
  Ints steps;
  for (int i = 0; i < kLanes; ++i) steps[i] = i;
  for (int64_t p = begin; p < end; ++p) {
    const int64_t first = p * kWidth;
    const Ints ids = steps + static_cast<int32_t>(first);
    if (panels.n_clusters - first <= kLanes && panels.quads == nullptr && tile.dots == nullptr) {
      scan_narrow<rule, weighted>(tile, panels, first, ids, state);
      continue;
    }
    for (int64_t row = 0; row < tile.n_rows; row += kRows) {
      alignas(BK_VECTOR) float found[kRows][kWidth];
      distances_to_panel(tile, row, panels, first, found);
      for (int r = 0; r < kRows; ++r) {
        LaneBest best = lane_best<rule, weighted>(tile, panels, row + r, first, ids, found[r]);
#pragma GCC unroll 4
        for (int v = 1; v < kVectors; ++v)
          best =
              better_of<rule>(best, lane_best<rule, weighted>(tile, panels, row + r, first + v * kLanes,
                                                              ids + v * kLanes, found[r] + v * kLanes));
        update<rule>(state, (row + r) * kLanes, best);
      }
    }
  }
}

void scan(Rule rule, bool weighted, const TileView& tile, const PanelView& panels, int64_t begin,
          int64_t end, const LaneState& state) {
  switch (rule) {
    case Rule::nearest: return scan_as<Rule::nearest, false>(tile, panels, begin, end, state);
    case Rule::best:
      return weighted ? scan_as<Rule::best, true>(tile, panels, begin, end, state)
                      : scan_as<Rule::best, false>(tile, panels, begin, end, state);
    case Rule::first:
      return weighted ? scan_as<Rule::first, true>(tile, panels, begin, end, state)
                      : scan_as<Rule::first, false>(tile, panels, begin, end, state);
  }
}

template <bool weighted>
inline int32_t add_hits(const TileView& tile, const PanelView& panels, int64_t row, int64_t first,
                        Ints ids, const float* found, float limit, Hit* hits) {
  int32_t count = 0;
  for (int v = 0; v < kVectors; ++v) {
    const int64_t cluster = first + v * kLanes;
    const float weight = weighted ? tile.weights[row] : 1.0f;
    const Floats cost =
        cost_of<Rule::best, weighted>(load<Floats>(found + v * kLanes), weight, panels.factors + cluster,
                                      panels.inverse_weights + cluster);
    const Ints id = ids + v * kLanes;
    const Ints below = (cost < splat(limit)) & (id != splat(tile.own[row]));
    if (sum_lanes(below) == 0) continue;
    for (int i = 0; i < kLanes; ++i)
      if (below[i] != 0) hits[count++] = {cost[i], id[i]};
  }
  return count;
}

template <bool weighted>
void find_below_as(const TileView& tile, const PanelView& panels, int64_t begin, int64_t end,
                   const float* limits, int64_t step, Hit* hits, int32_t* counts) {
  Ints steps;
  for (int i = 0; i < kLanes; ++i) steps[i] = i;
  for (int64_t row = 0; row < tile.n_rows; ++row) counts[row] = 0;
  for (int64_t p = begin; p < end; ++p) {
    const int64_t first = p * kWidth;
    const Ints ids = steps + static_cast<int32_t>(first);
    for (int64_t row = 0; row < tile.n_rows; row += kRows) {
      alignas(BK_VECTOR) float found[kRows][kWidth];
      distances_to_panel(tile, row, panels, first, found);
      for (int64_t r = row; r < row + kRows; ++r)
        counts[r] += add_hits<weighted>(tile, panels, r, first, ids, found[r - row], limits[r],
                                        hits + r * step + counts[r]);
    }
  }
}

void find_below(bool weighted, const TileView& tile, const PanelView& panels, int64_t begin, int64_t end,
                const float* limits, int64_t step, Hit* hits, int32_t* counts) {
  if (weighted)
    find_below_as<true>(tile, panels, begin, end, limits, step, hits, counts);
  else
    find_below_as<false>(tile, panels, begin, end, limits, step, hits, counts);
}

void score(const TileView& tile, const PanelView& panels, int64_t begin, int64_t end, float* out,
           int64_t stride) {
  for (int64_t p = begin; p < end; ++p, out += kWidth) {
    for (int64_t row = 0; row < tile.n_rows; row += kRows) {
      alignas(BK_VECTOR) float found[kRows][kWidth];
      distances_to_panel(tile, row, panels, p * kWidth, found);
      for (int r = 0; r < kRows; ++r)
        for (int v = 0; v < kWidth; v += kLanes)
          store(out + (row + r) * stride + v, load<Floats>(found[r] + v));
    }
  }
}

void reset(Rule rule, int64_t n_rows, const LaneState& state) {
  const int32_t none = rule == Rule::first ? INT32_MAX : -1;
  for (int64_t i = 0; i < n_rows * kLanes; i += kLanes) {
    store(state.index + i, splat(none));
    if (rule == Rule::first) continue;
    store(state.best + i, splat(kInfinity));
    if (rule == Rule::nearest) store(state.second + i, splat(kInfinity));
  }
}

void reduce_keys(int64_t n_rows, const LaneState& state) {
  for (int64_t at = 0; at < n_rows * kLanes; at += kLanes) {
    Ints key = load<Ints>(state.index + at);
    halve<kLanes / 2>([&](auto step) {
      const Ints other = rotate<step.value>(key);
      key = other < key ? other : key;
    });
    state.index[at] = key[0];
  }
}

template <bool with_second>
void reduce_costs(int64_t n_rows, const LaneState& state) {
  for (int64_t at = 0; at < n_rows * kLanes; at += kLanes) {
    Floats best = load<Floats>(state.best + at);
    Ints index = load<Ints>(state.index + at);
    Floats second = with_second ? load<Floats>(state.second + at) : Floats{};
    halve<kLanes / 2>([&](auto step) {
      const Floats other = rotate<step.value>(best);
      const Ints other_index = rotate<step.value>(index);
      if constexpr (with_second)
        second = smaller(smaller(second, rotate<step.value>(second)), larger(best, other));
      const Ints better = (other < best) | ((other == best) & (other_index < index));
      best = better ? other : best;
      index = better ? other_index : index;
    });
    state.best[at] = best[0];
    state.index[at] = index[0];
    if (with_second) state.second[at] = second[0];
  }
}

void reduce(Rule rule, int64_t n_rows, const LaneState& state) {
  switch (rule) {
    case Rule::nearest: return reduce_costs<true>(n_rows, state);
    case Rule::best: return reduce_costs<false>(n_rows, state);
    case Rule::first: return reduce_keys(n_rows, state);
  }
}

// k-means++

void seed(const TileView& tile, const float* panels, const float* norms, int64_t n_panels,
          int64_t n_real, const char* ahead, int64_t ahead_bytes, float* closest, unsigned char* taken,
          float* potentials) {
  const int64_t n_steps = (n_real + kRows - 1) / kRows * tile.n_features;
  const int64_t ahead_step = (ahead_bytes + n_steps - 1) / n_steps;
  for (int64_t row = 0; row < n_real; row += kRows) {
    const int64_t left = n_real - row;
    const int n_here = static_cast<int>(left < kRows ? left : kRows);
    for (int64_t p = 0; p < n_panels; ++p) {
      alignas(BK_VECTOR) float found[kRows][kLanes];
      const float* panel = panels + p * kLanes * tile.n_features;
      if (tile.dots != nullptr)
        distances_from_dots<1>(tile, row, p * kLanes, norms + p * kLanes, found);
      else if (p == 0)
        distances<1, true>(tile, row, panel, norms, found,
                           ahead + row / kRows * tile.n_features * ahead_step, ahead_step);
      else
        distances<1>(tile, row, panel, norms + p * kLanes, found);
      Floats sums = load<Floats>(potentials + p * kLanes);
      for (int r = 0; r < n_here; ++r) {
        const Floats distance = larger(load<Floats>(found[r]), Floats{});
        float& nearest = closest[row + r];
        if (p == 0) {
          taken[row + r] = distance[0] < nearest;
          nearest = taken[row + r] ? distance[0] : nearest;
        }
        sums += tile.weights[row + r] * smaller(distance, splat(nearest));
      }
      store(potentials + p * kLanes, sums);
    }
  }
}

}  // namespace
}  // namespace boostkmeans
