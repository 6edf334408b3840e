// Part of kernel.cpp: scores rows of few features against few centres.
#pragma once

#include "kernel/scores.hpp"
#include "kernel/vectors.hpp"

namespace boostkmeans {
namespace {

static_assert(kMaxFewFeatures <= kChunkColumns && kBatchRows % kLanes == 0);

// Number of centres that are scored at once, which hides the latency of the arithmetic.
constexpr int kColumnsAtOnce = 4;
static_assert(kWidth % kColumnsAtOnce == 0);

// The best clusters so far of as many rows as a vector has lanes.
struct RowsBest {
  Floats cost, second;
  Ints index;
};

template <Rule rule>
inline void consider(RowsBest& best, Floats cost, int32_t cluster, Ints own) {
  const Ints id = splat(cluster);
  cost = id == own ? splat(kInfinity) : cost;
  const Ints better = cost < best.cost;
  if constexpr (rule == Rule::nearest) best.second = smaller(best.second, better ? best.cost : cost);
  best.index = better ? id : best.index;
  best.cost = better ? cost : best.cost;
}

// Each lane has a row. In contrast to `scan`, no lanes have to be combined for a row, which takes longer
// than few products.
template <Rule rule, bool weighted>
void scan_few_as(const TileView& tile, const PanelView& panels, const LaneState& state) {
  const int64_t d = tile.n_features;
  for (int64_t row = 0; row < tile.n_rows; row += kLanes) {
    alignas(BK_VECTOR) float columns[kMaxFewFeatures][kLanes];
    for (int r = 0; r < kLanes; ++r)
      for (int64_t j = 0; j < d; ++j) columns[j][r] = tile.values[(row + r) * kTileStride + j];
    const Floats norms = load<Floats>(tile.norms + row);
    const Floats weights = weighted ? load<Floats>(tile.weights + row) : Floats{};
    const Ints own = load<Ints>(tile.own + row);
    RowsBest best{splat(kInfinity), splat(kInfinity), splat(-1)};
    for (int64_t c = 0; c < panels.n_clusters; c += kColumnsAtOnce) {
      const float* panel = panels.values + c / kWidth * kWidth * d + c % kWidth;
      Floats acc[kColumnsAtOnce];
#pragma GCC unroll 4
      for (int i = 0; i < kColumnsAtOnce; ++i) acc[i] = splat(panels.norms[c + i]) + norms;
      for (int64_t j = 0; j < d; ++j) {
        const Floats x = load<Floats>(columns[j]);
#pragma GCC unroll 4
        for (int i = 0; i < kColumnsAtOnce; ++i) acc[i] += x * splat(panel[j * kWidth + i]);
      }
#pragma GCC unroll 4
      for (int i = 0; i < kColumnsAtOnce; ++i) {
        Floats cost = acc[i];
        if constexpr (rule == Rule::best && weighted)
          cost = cost / (1.0f + weights * splat(panels.inverse_weights[c + i]));
        if constexpr (rule == Rule::best && !weighted) cost = cost * splat(panels.factors[c + i]);
        consider<rule>(best, cost, static_cast<int32_t>(c + i), own);
      }
    }
    for (int r = 0; r < kLanes && row + r < tile.n_rows; ++r) {
      const int64_t at = (row + r) * kLanes;
      state.best[at] = best.cost[r];
      state.index[at] = best.index[r];
      if constexpr (rule == Rule::nearest) state.second[at] = best.second[r];
    }
  }
}

void scan_few(Rule rule, bool weighted, const TileView& tile, const PanelView& panels,
              const LaneState& state) {
  if (rule == Rule::nearest) return scan_few_as<Rule::nearest, false>(tile, panels, state);
  weighted ? scan_few_as<Rule::best, true>(tile, panels, state)
           : scan_few_as<Rule::best, false>(tile, panels, state);
}

}  // namespace
}  // namespace boostkmeans
