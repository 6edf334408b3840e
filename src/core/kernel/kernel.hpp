// The seam between the core and its vectorised inner loops.
//
// kernel.cpp is compiled once for each instruction set and each copy fills in one `Kernel`, a table
// of plain functions over plain pointers. This header is included by those copies, so it must not
// pull in inline code from the standard library: the linker would be free to keep the copy that was
// compiled for the newest instruction set.
#pragma once

#include <cstdint>

namespace boostkmeans {

// Rows are scored in pieces of this many; a multiple of every kernel's register block.
constexpr std::int64_t kPieceRows = 48;
// A tile holds its rows in chunks of columns, so that the distance between two rows is a constant
// that the compiler can put into the addresses, and one that does not alias in the cache.
constexpr std::int64_t kChunkColumns = 128;
constexpr std::int64_t kTileStride = kChunkColumns + 16;
constexpr std::int64_t kChunkSize = kPieceRows * kTileStride;
// The same for bytes, four columns in each value.
constexpr std::int64_t kQuadStride = kChunkColumns / 4 + 4;
constexpr std::int64_t kQuadChunkSize = kPieceRows * kQuadStride;
// Entries of a table of bytes: as many as a code of one byte can name.
constexpr std::int64_t kByteCentroids = 256;
// The longest vector of any instruction set, in bytes: the alignment of all buffers.
constexpr std::int64_t kAlignment = 64;

enum class Scalar : int { float64, float32, float16, uint8, int8 };

// Rows as they lie in the user's memory. Strides are in bytes, of any sign and alignment.
struct RowSource {
  const char* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
  std::int64_t n_features;
  Scalar scalar;
};

// x -> (x * row_factor - shift) * scale: where the data lies and how wide it spreads. `scale` is a
// power of two, as a product of two because that of denormal data does not fit into one double.
struct Frame {
  const double* shift;
  const float* shift32;
  double scale[2];
  bool narrow;  // tiles may be loaded in float32 arithmetic: nothing would be rounded twice
};

// Where a row's float32 values go: rows lie `row_step` values apart, chunks of columns `chunk_step`.
struct Layout {
  std::int64_t row_step;
  std::int64_t chunk_step;
};
constexpr Layout kTileLayout{kTileStride, kChunkSize};
// One row after the other, each padded to whole vectors of any instruction set.
constexpr Layout flat_layout(std::int64_t n_features) {
  constexpr std::int64_t kLongest = kAlignment / 4;
  return {(n_features + kLongest - 1) / kLongest * kLongest, kChunkColumns};
}

// A piece of rows in the frame, float32: columns c of row r at values[chunk(c)][r][c % chunk].
struct TileView {
  const float* values;
  const float* norms;            // |x|^2
  const std::int32_t* own;       // cluster that must not be chosen, or -1
  const float* stay;             // rule First: what a cluster has to beat
  const float* weights;          // only read where the scan is weighted
  const std::int32_t* rotation;  // rule First: the cluster where the row begins to look
  std::int64_t n_rows;           // a multiple of the register block; the rest is padding
  std::int64_t n_features;
  // If scored in low precision: the rows' own bytes, as 0 to 255.
  const std::int32_t* quads = nullptr;
  // If the rows are sparse, their values are not here but their dot products with the columns of the
  // panels from `dots_first` on: row r at dots[r * dots_step]. They count `scales` fold.
  const float* dots = nullptr;
  std::int64_t dots_step = 0;
  std::int64_t dots_first = 0;
  const float* scales = nullptr;
};

// Centres packed in panels of `panel_width` columns: -2 * C, feature by feature.
struct PanelView {
  const float* values;
  const float* norms;            // |C|^2, infinity for padding
  const float* factors;          // W / (W + 1)
  const float* inverse_weights;  // 1 / W
  std::int32_t n_clusters;
  // If scored in low precision: q with x . -2 C = scale * (bytes . q - offset), four features in each
  // value.
  const std::int32_t* quads = nullptr;
  const float* byte_scales = nullptr;
  const float* byte_offsets = nullptr;
};

// Per row and lane: the best cluster met so far. Reduced over the lanes by `reduce`.
struct LaneState {
  float* best;
  float* second;
  std::int32_t* index;
};

// nearest: smallest |x-C|^2, and the second smallest; best: smallest W/(W+w) |x-C|^2;
// first: the first cluster from `rotation` on whose W/(W+w) |x-C|^2 is below `stay`.
enum class Rule : int { nearest, best, first };

struct Kernel {
  const char* name;
  std::int64_t lanes;        // float32 values in a vector
  std::int64_t panel_width;  // clusters in a panel
  std::int64_t block_rows;   // rows in the register block
  bool multiplies_bytes;     // whether it can score in low precision

  // Some rows as float32, zero-padded to whole vectors, and |x|^2 of each. `factors` (by row) may be
  // null.
  void (*load_rows)(const RowSource&, const Frame&, const std::int64_t* rows, std::int64_t count,
                    const double* factors, Layout, float* out, float* norms);
  // One row as float64, exactly as the frame says.
  void (*load_row)(const RowSource&, const Frame&, std::int64_t row, double factor, double* out);

  // Flat rows (columns[i] of `table`, `step` values apart) as columns of panels. Only whole
  // vectors are written; those that pad the last one are copies.
  void (*pack)(const float* table, std::int64_t step, const std::int32_t* columns, std::int64_t count,
               std::int64_t n_features, float* panels);
  // |x - C|^2 of a tile and panels [begin, end): row r and the i-th column at out[r * stride + i].
  void (*score)(const TileView&, const PanelView&, std::int64_t begin, std::int64_t end, float* out,
                std::int64_t stride);

  // out[c] := sum over t of values[t] * lines[t][c], for n columns, n whole panels (or vectors): the dot
  // products of a sparse row with many vectors at once, of which it gets one line for each of its terms.
  void (*sparse_dots)(const float* const* lines, const float* values, std::int64_t count, std::int64_t n,
                      float* out);

  // Scores a tile against panels [begin, end); the state carries over from one call to the next.
  void (*scan)(Rule, bool weighted, const TileView&, const PanelView&, std::int64_t begin,
               std::int64_t end, const LaneState&);
  void (*reset)(Rule, std::int64_t n_rows, const LaneState&);
  // Leaves each row's result in lane 0; equal values go to the smaller index.
  void (*reduce)(Rule, std::int64_t n_rows, const LaneState&);

  // k-means++: columns in panels one vector wide; the first is the centre chosen last, the others
  // are candidates. Lowers `closest` to the first, marks the rows that it took in `taken`, and adds
  // weight * min(closest, distance) to the potential of each column.
  // `ahead` is memory that will be read soon, of `ahead_bytes`: asked for little by little.
  void (*seed)(const TileView&, const float* panels, const float* norms, std::int64_t n_panels,
               std::int64_t n_real, const char* ahead, std::int64_t ahead_bytes, float* closest,
               unsigned char* taken, float* potentials);

  // sum (x - D * inverse)^2, in float64; the first takes x from a tile.
  double (*tile_distance)(const float* tile_row, const double* composite, double inverse,
                          std::int64_t n_features);
  double (*distance)(const double* x, const double* composite, double inverse, std::int64_t n_features);
  double (*dot)(const double* x, const double* y, std::int64_t n_features);
  void (*add)(double* composite, const double* x, double weight, std::int64_t n_features);
  // Flat rows of n values, n whole vectors: x -= shift, for which it returns |x|^2; dot products of
  // `count` rows (`step` apart) with one vector; x . D in float64; D += weight * x and its float32 copy.
  float (*flat_shift)(float* x, const float* shift, std::int64_t n);
  // Adds the columns of `count` rows, each times its weight (or 1, if null), to `sums`.
  void (*flat_sum)(const float* rows, std::int64_t step, std::int64_t count, const float* weights,
                   std::int64_t n, double* sums);
  void (*flat_dots)(const float* rows, std::int64_t step, std::int64_t count, const float* vector,
                    std::int64_t n, float* out);
  // out := -2 * C, C = composite * inverse; returns |C|^2 of the centre as it was rounded.
  float (*flat_centre)(const double* composite, double inverse, std::int64_t n_features, float* out);
  double (*flat_dot)(const float* x, const double* composite, std::int64_t n);
  void (*flat_add)(double* composite, float* copy, const float* x, double weight, std::int64_t n);
  // Bit i of `masks` tells whether the bytes that tables (n_subspaces x kByteCentroids) have for the
  // i-th code add up to no more than `limit` (below 255). Codes lie by subspace, `step` apart; `count`
  // is a multiple of 64. Null where the instruction set has no tables of that size.
  void (*sift_codes)(const std::uint8_t* tables, std::int64_t n_subspaces, const std::uint8_t* columns,
                     std::int64_t step, std::int64_t count, std::uint8_t limit, std::uint64_t* masks);
  // Column-wise minimum and maximum; `poison` becomes NaN where a value is not finite.
  void (*describe)(const double* x, std::int64_t n_features, double* low, double* high, double* poison);
  void (*describe_floats)(const char* rows, std::int64_t row_stride, std::int64_t count, std::int64_t n,
                          float* low, float* high, float* poison);
};

// The kernel of that name, or the best one that this machine runs if the name is empty; a null
// pointer if the machine (or this build) does not have it.
const Kernel* find_kernel(const char* name);
// The n-th kernel that this machine runs, from the plainest; a null pointer after the last.
const Kernel* available_kernel(int n);

}  // namespace boostkmeans
