// The inner loops, compiled once for each instruction set: CMake sets BK_ISA (a name), BK_VECTOR
// (bytes in a vector), BK_ROWS and BK_VECTORS (the register block: rows, and vectors in a panel).
//
// Written with the compiler's vector types, so that one text serves all of them. Reductions name
// their order themselves: no flag here lets the compiler change what is computed.
#include <utility>  // std::index_sequence: a type, no code

#include "kernel.hpp"

#define BK_NAME2(isa) kernel_##isa
#define BK_NAME(isa) BK_NAME2(isa)
#define BK_TEXT2(isa) #isa
#define BK_TEXT(isa) BK_TEXT2(isa)

namespace boostkmeans {
namespace {

using std::int32_t;
using std::int64_t;

constexpr int kLanes = BK_VECTOR / 4;
constexpr int kWideLanes = BK_VECTOR / 8;
constexpr int kRows = BK_ROWS;
constexpr int kVectors = BK_VECTORS;
constexpr int kWidth = kLanes * kVectors;
static_assert(kPieceRows % kRows == 0 && kChunkColumns % kLanes == 0);

typedef float Floats __attribute__((vector_size(BK_VECTOR)));
typedef int32_t Ints __attribute__((vector_size(BK_VECTOR)));
typedef double Doubles __attribute__((vector_size(BK_VECTOR)));

constexpr float kInfinity = __builtin_inff();

template <class Vector, class T>
inline Vector load(const T* from) {
  Vector v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

template <class Vector, class T>
inline void store(T* to, const Vector& v) {
  __builtin_memcpy(to, &v, sizeof v);
}

// x - 0, not x + 0: that is x itself, even for -0, so that the compiler leaves it away.
inline Floats splat(float x) { return x - Floats{}; }
inline Ints splat(int32_t x) { return x - Ints{}; }
inline Floats smaller(Floats a, Floats b) { return a < b ? a : b; }
inline Floats larger(Floats a, Floats b) { return a > b ? a : b; }

template <int step, class Vector, std::size_t... I>
inline Vector rotate_as(const Vector& v, std::index_sequence<I...>) {
  return __builtin_shufflevector(v, v, ((I + step) % sizeof...(I))...);
}

// Lane i takes the value of lane i + step.
template <int step, class Vector>
inline Vector rotate(const Vector& v) {
  return rotate_as<step>(v, std::make_index_sequence<sizeof(Vector) / sizeof(v[0])>());
}

// fold(step) for step = lanes/2, ..., 2, 1, each a constant.
template <int step, class Fold>
inline void halve(Fold fold) {
  if constexpr (step > 0) {
    fold(std::integral_constant<int, step>());
    halve<step / 2>(fold);
  }
}

template <class Vector>
inline auto sum_lanes(Vector v) {
  halve<sizeof(Vector) / sizeof(v[0]) / 2>([&](auto step) { v += rotate<step.value>(v); });
  return v[0];
}

// ---- values of any type -------------------------------------------------------------------------

struct Half {
  std::uint16_t bits;
};

inline float to_float(float x) { return x; }
inline float to_float(double x) { return static_cast<float>(x); }
inline float to_float(std::uint8_t x) { return x; }
inline float to_float(std::int8_t x) { return x; }
// The exponent is shifted to where float32 has it and then put right by an exact product, which
// serves denormals too; only infinities and NaN need their own exponent.
inline float to_float(Half h) {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(h.bits & 0x7fffu) << 13;
  const std::uint32_t special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u;
  float x;
  __builtin_memcpy(&x, &magnitude, 4);
  x *= 0x1p112f;
  std::uint32_t bits;
  __builtin_memcpy(&bits, &x, 4);
  bits |= special | static_cast<std::uint32_t>(h.bits & 0x8000u) << 16;
  __builtin_memcpy(&x, &bits, 4);
  return x;
}
inline double to_double(double x) { return x; }
template <class T>
inline double to_double(T x) {
  return to_float(x);
}

// Calls body(j, value) for columns [begin, end) of a row; contiguous ones vectorise.
template <class T, class Body>
inline void each_value(const RowSource& source, int64_t row, int64_t begin, int64_t end, Body body) {
  const char* at = source.data + row * source.row_stride;
  const int64_t step = source.column_stride;
  T value;
  if (step == static_cast<int64_t>(sizeof(T))) {
    at += begin * static_cast<int64_t>(sizeof(T));
    const int64_t count = end - begin;
    for (int64_t j = 0; j < count; ++j) {
      __builtin_memcpy(&value, at + j * static_cast<int64_t>(sizeof(T)), sizeof(T));
      body(begin + j, value);
    }
  } else {
    for (int64_t j = begin; j < end; ++j) {
      __builtin_memcpy(&value, at + j * step, sizeof(T));
      body(j, value);
    }
  }
}

// Contiguous float32 rows of a whole number of vectors: the common case, and the one that counts where
// there is little else to do than to load.
inline float load_vectors(const char* from, const float* shift, float scale, int64_t n, float* out) {
  Floats total{};
  for (int64_t begin = 0; begin < n; begin += kChunkColumns, out += kChunkSize) {
    const int64_t count = n - begin < kChunkColumns ? n - begin : kChunkColumns;
    for (int64_t j = 0; j < count; j += kLanes) {
      const Floats x = (load<Floats>(from + (begin + j) * static_cast<int64_t>(sizeof(float))) -
                        load<Floats>(shift + begin + j)) * scale;
      store(out + j, x);
      total += x * x;
    }
  }
  return sum_lanes(total);
}

template <class T>
inline float load_tile_row(const RowSource& source, const Frame& frame, int64_t row, double factor,
                           float* out) {
  // float32 rounds the difference just as float64 rounded to float32 would, as long as nothing was
  // rounded before it: the row and the shift are float32, the row factor is 1.
  const bool narrow = sizeof(T) < 8 && frame.narrow;  // so that no such code is made for float64
  if constexpr (sizeof(T) == 4)
    if (narrow && source.column_stride == static_cast<int64_t>(sizeof(T)) &&
        source.n_features % kLanes == 0)
      return load_vectors(source.data + row * source.row_stride, frame.shift32,
                          static_cast<float>(frame.scale[0]), source.n_features, out);
  Floats total{};
  for (int64_t begin = 0; begin < source.n_features; begin += kChunkColumns) {
    const int64_t left = source.n_features - begin;
    const int64_t count = left < kChunkColumns ? left : kChunkColumns;
    float* __restrict to = out + begin / kChunkColumns * kChunkSize - begin;
    if (narrow) {
      const float scale = static_cast<float>(frame.scale[0]);
      const float* __restrict shift = frame.shift32;
      each_value<T>(source, row, begin, begin + count,
                    [=](int64_t j, T x) { to[j] = (to_float(x) - shift[j]) * scale; });
    } else {
      const double scale = frame.scale[0], rest = frame.scale[1];
      const double* __restrict shift = frame.shift;
      each_value<T>(source, row, begin, begin + count, [=](int64_t j, T x) {
        to[j] = static_cast<float>((to_double(x) * factor - shift[j]) * scale * rest);
      });
    }
    const int64_t padded = (count + kLanes - 1) / kLanes * kLanes;
    for (int64_t j = count; j < padded; ++j) to[begin + j] = 0.0f;
    for (int64_t j = 0; j < padded; j += kLanes) {
      const Floats x = load<Floats>(to + begin + j);
      total += x * x;
    }
  }
  return sum_lanes(total);
}

template <class T>
void load_row_of(const RowSource& source, const Frame& frame, int64_t row, double factor,
                 double* __restrict out) {
  const double scale = frame.scale[0], rest = frame.scale[1];
  const double* __restrict shift = frame.shift;
  each_value<T>(source, row, 0, source.n_features, [=](int64_t j, T x) {
    out[j] = (to_double(x) * factor - shift[j]) * scale * rest;
  });
}

template <class Call>
inline auto dispatch(Scalar scalar, Call call) {
  switch (scalar) {
    case Scalar::float64: return call(double{});
    case Scalar::float32: return call(float{});
    case Scalar::float16: return call(Half{});
    case Scalar::uint8: return call(std::uint8_t{});
    case Scalar::int8: break;
  }
  return call(std::int8_t{});
}

void load_tile(const RowSource& s, const Frame& f, const int64_t* rows, int64_t count,
               const double* factors, float* out, float* norms) {
  dispatch(s.scalar, [&]<class T>(T) {
    for (int64_t r = 0; r < count; ++r)
      norms[r] = load_tile_row<T>(s, f, rows[r], factors == nullptr ? 1.0 : factors[rows[r]],
                                  out + r * kTileStride);
  });
}

void load_row(const RowSource& s, const Frame& f, int64_t row, double factor, double* out) {
  dispatch(s.scalar, [&]<class T>(T) { load_row_of<T>(s, f, row, factor, out); });
}

// ---- scoring ------------------------------------------------------------------------------------

// out[r] = |x_r|^2 + norms + x_r . panel = |x_r - C|^2 for kRows rows from `row` on. A function of its
// own (not inlined) keeps the register block in registers, whatever is done with it afterwards. If
// `fetching`, each feature asks for another bit of memory ahead.
template <int V, bool fetching = false>
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
    for (int64_t j = 0; j < count; ++j, ++a, panel += V * kLanes) {
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

// What a vector of clusters costs a row, given |x-C|^2.
template <Rule rule, bool weighted>
inline Floats cost_of(Floats distance, float weight, const float* factors, const float* inverse) {
  if constexpr (rule == Rule::nearest) return distance;
  if constexpr (!weighted) return distance * load<Floats>(factors);
  return distance / (1.0f + weight * load<Floats>(inverse));
}

// A vector of clusters, one to a lane, as a row sees them.
struct Offer {
  Floats cost;    // best of the clusters that share the lane; infinite for the row's own
  Floats second;  // rule nearest: the second best
  Ints index;     // rule first: how far behind the rotation, or INT32_MAX
};

template <Rule rule, bool weighted>
inline Offer offer(const TileView& tile, const PanelView& panels, int64_t row, int64_t cluster,
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
inline Offer better_of(const Offer& a, const Offer& b) {
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
inline void update(const LaneState& state, int64_t at, const Offer& offer) {
  Offer old{};
  old.index = load<Ints>(state.index + at);
  if constexpr (rule != Rule::first) old.cost = load<Floats>(state.best + at);
  if constexpr (rule == Rule::nearest) old.second = load<Floats>(state.second + at);
  const Offer kept = better_of<rule>(old, offer);
  store(state.index + at, kept.index);
  if constexpr (rule != Rule::first) store(state.best + at, kept.cost);
  if constexpr (rule == Rule::nearest) store(state.second + at, kept.second);
}

template <Rule rule, bool weighted>
void scan_as(const TileView& tile, const PanelView& panels, int64_t begin, int64_t end,
             const LaneState& state) {
  Ints steps;
  for (int i = 0; i < kLanes; ++i) steps[i] = i;
  for (int64_t p = begin; p < end; ++p) {
    const int64_t first = p * kWidth;
    const float* panel = panels.values + first * tile.n_features;
    const Ints ids = steps + static_cast<int32_t>(first);
    for (int64_t row = 0; row < tile.n_rows; row += kRows) {
      alignas(BK_VECTOR) float found[kRows][kWidth];
      distances<kVectors>(tile, row, panel, panels.norms + first, found);
      for (int r = 0; r < kRows; ++r) {
        Offer kept = offer<rule, weighted>(tile, panels, row + r, first, ids, found[r]);
#pragma GCC unroll 4
        for (int v = 1; v < kVectors; ++v)
          kept = better_of<rule>(
              kept, offer<rule, weighted>(tile, panels, row + r, first + v * kLanes,
                                          ids + v * kLanes, found[r] + v * kLanes));
        update<rule>(state, (row + r) * kLanes, kept);
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

// ---- k-means++ ----------------------------------------------------------------------------------

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
      if (p == 0)
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

// ---- float64 ------------------------------------------------------------------------------------

// Sums term(j, lanes) over whole vectors with four accumulators, then the rest one by one.
template <class Term, class Last>
inline double sum_terms(int64_t n, Term term, Last last) {
  Doubles a{}, b{}, c{}, d{};
  int64_t j = 0;
  for (; j + 4 * kWideLanes <= n; j += 4 * kWideLanes) {
    a += term(j);
    b += term(j + kWideLanes);
    c += term(j + 2 * kWideLanes);
    d += term(j + 3 * kWideLanes);
  }
  for (; j + kWideLanes <= n; j += kWideLanes) a += term(j);
  double sum = sum_lanes((a + b) + (c + d));
  for (; j < n; ++j) sum += last(j);
  return sum;
}

double distance(const double* x, const double* composite, double inverse, int64_t n) {
  return sum_terms(
      n,
      [=](int64_t j) {
        const Doubles gap = load<Doubles>(x + j) - load<Doubles>(composite + j) * inverse;
        return gap * gap;
      },
      [=](int64_t j) {
        const double gap = x[j] - composite[j] * inverse;
        return gap * gap;
      });
}

double tile_distance(const float* tile_row, const double* composite, double inverse, int64_t n) {
  typedef float Narrow __attribute__((vector_size(BK_VECTOR / 2)));
  double sum = 0.0;
  for (int64_t begin = 0; begin < n; begin += kChunkColumns) {
    const float* x = tile_row + begin / kChunkColumns * kChunkSize;
    const double* c = composite + begin;
    sum += sum_terms(
        n - begin < kChunkColumns ? n - begin : kChunkColumns,
        [=](int64_t j) {
          const Doubles gap = __builtin_convertvector(load<Narrow>(x + j), Doubles) -
                              load<Doubles>(c + j) * inverse;
          return gap * gap;
        },
        [=](int64_t j) {
          const double gap = static_cast<double>(x[j]) - c[j] * inverse;
          return gap * gap;
        });
  }
  return sum;
}

double dot(const double* x, const double* y, int64_t n) {
  return sum_terms(
      n, [=](int64_t j) { return load<Doubles>(x + j) * load<Doubles>(y + j); },
      [=](int64_t j) { return x[j] * y[j]; });
}

void add(double* __restrict composite, const double* __restrict x, double weight, int64_t n) {
  for (int64_t j = 0; j < n; ++j) composite[j] += weight * x[j];
}

void describe(const double* __restrict x, int64_t n, double* __restrict low, double* __restrict high,
              double* __restrict poison) {
  Doubles trouble{};
  int64_t j = 0;
  for (; j + kWideLanes <= n; j += kWideLanes) trouble += load<Doubles>(x + j) * 0.0;
  double last = sum_lanes(trouble);
  for (; j < n; ++j) last += x[j] * 0.0;
  *poison += last;
  for (j = 0; j < n; ++j) {
    low[j] = x[j] < low[j] ? x[j] : low[j];
    high[j] = x[j] > high[j] ? x[j] : high[j];
  }
}

}  // namespace

extern const Kernel BK_NAME(BK_ISA);
const Kernel BK_NAME(BK_ISA) = {
    BK_TEXT(BK_ISA), kLanes, kWidth, kRows,         load_tile, load_row, scan,
    reset,           reduce, seed,   tile_distance, distance,      dot,      add,
    describe,
};

}  // namespace boostkmeans
