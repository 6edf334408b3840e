// The interface between the core and its vectorised inner loops.
//
// kernel.cpp is compiled once for each instruction set, and each copy fills in one `Kernel`, a table of
// functions of plain pointers. All copies include this header, so it must not include inline code of the
// standard library: the linker might keep the copy that was compiled for the newest instruction set.
#pragma once

#include <cstdint>

namespace boostkmeans {

// Number of rows that are scored at a time: a multiple of the register block of every kernel.
constexpr std::int64_t kBatchRows = 48;
// A tile stores its rows in chunks of columns. The distance between two rows is then a constant, which
// the compiler can put into the addresses and which avoids aliasing in the cache.
constexpr std::int64_t kChunkColumns = 128;
constexpr std::int64_t kTileStride = kChunkColumns + 16;
constexpr std::int64_t kChunkSize = kBatchRows * kTileStride;
// The same constants for tiles of bytes, in which each value has four columns.
constexpr std::int64_t kQuadStride = kChunkColumns / 4 + 4;
constexpr std::int64_t kQuadChunkSize = kBatchRows * kQuadStride;
// Number of rows in the register block of `Kernel::pair_squares`.
constexpr std::int64_t kPairRows = 4;
// Number of entries of a lookup table for one-byte codes.
constexpr std::int64_t kByteCentroids = 256;
// Length in bytes of the longest vector of any instruction set.
constexpr std::int64_t kMaxVectorBytes = 64;

// Largest numbers of features and clusters for which `Kernel::scan_few` is used.
constexpr std::int64_t kMaxFewFeatures = 16;
constexpr std::int64_t kMaxFewClusters = 64;

enum class Scalar : std::uint8_t { float64, float32, float16, uint8, int8 };

// Rows of an array of any layout. Strides are in bytes and may be negative or unaligned. A kernel only
// reads rows whose columns are contiguous; DenseRows copies others.
struct StridedArray {
  const char* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
  std::int64_t n_features;
  Scalar scalar;
};

// The transformation x -> (x * row_factor - shift) * scale. `scale` is a power of two, stored as a
// product of two numbers, because the scale of denormal data does not fit into one float64.
struct Frame {
  const double* shift;
  const float* shift32;
  double scale[2];
  bool narrow;  // true if float32 arithmetic gives the same result as float64 arithmetic rounded once
};

// Memory for the float32 values of rows. Rows are `row_step` values apart, chunks of columns
// `chunk_step`.
struct Layout {
  std::int64_t row_step;
  std::int64_t chunk_step;
};
constexpr Layout kTileLayout{kTileStride, kChunkSize};
// One row after the other, each padded to whole vectors of any instruction set.
constexpr Layout flat_layout(std::int64_t n_features) {
  constexpr std::int64_t kLongest = kMaxVectorBytes / 4;
  return {(n_features + kLongest - 1) / kLongest * kLongest, kChunkColumns};
}

// A batch of rows in the frame, in float32. Column c of row r is values[c / chunk][r][c % chunk].
struct TileView {
  const float* values = nullptr;
  const float* norms = nullptr;            // |x|^2
  const std::int32_t* own = nullptr;       // cluster that must not be chosen, or -1
  const float* stay = nullptr;             // rule first: the cost that a cluster must be below
  const float* weights = nullptr;          // only read if the scan is weighted
  const std::int32_t* rotation = nullptr;  // rule first: the cluster at which the search of a row starts
  std::int64_t n_rows = 0;                 // a multiple of the register block, including padding
  std::int64_t n_features = 0;
  // For low precision: the bytes of the rows, as 0 to 255.
  const std::int32_t* quads = nullptr;
  // For sparse rows: dot products with the columns of the panels, starting from column `dots_first`.
  // Those of row r start at dots[r * dots_step]. They are multiplied by `scales`, which has one value
  // per column.
  const float* dots = nullptr;
  std::int64_t dots_step = 0;
  std::int64_t dots_first = 0;
  const float* scales = nullptr;
};

// Centres packed in panels of `panel_width` columns: -2 * C, feature by feature.
struct PanelView {
  const float* values = nullptr;
  const float* norms = nullptr;            // |C|^2, infinity for padding
  const float* factors = nullptr;          // W / (W + 1)
  const float* inverse_weights = nullptr;  // 1 / W
  std::int32_t n_clusters = 0;
  // For low precision: q with x . -2 C = scale * (bytes . q - offset), four features in each value.
  const std::int32_t* quads = nullptr;
  const float* byte_scales = nullptr;
  const float* byte_offsets = nullptr;
  const std::int32_t* byte_sums = nullptr;  // 128 times the sum of q
};

// The best clusters so far, for each row and lane. `reduce` combines the lanes.
struct LaneState {
  float* best;
  float* second;
  std::int32_t* index;
};

// nearest: the smallest |x-C|^2, and the second smallest.
// best: the smallest W/(W+w) |x-C|^2.
// first: the first cluster, starting from `rotation`, whose W/(W+w) |x-C|^2 is below `stay`.
enum class Rule : std::uint8_t { nearest, best, first };

// A cluster whose cost for a row is below a limit.
struct Hit {
  float cost;
  std::int32_t index;
};

struct Kernel {
  const char* name;
  std::int64_t lanes;        // number of float32 values in a vector
  std::int64_t panel_width;  // number of clusters in a panel
  std::int64_t block_rows;   // number of rows in the register block
  bool multiplies_bytes;     // true if it can score in low precision
  std::int64_t pair_width;   // number of columns in a panel of `pair_squares`

  // Loads rows as float32 in the frame, zero-padded to whole vectors, and computes |x|^2 of each.
  // `factors` (one per row of the array) may be null.
  void (*load_rows)(const StridedArray&, const Frame&, const std::int64_t* rows, std::int64_t count,
                    const double* factors, Layout, float* out, float* norms);
  // Loads one row as float64 in the frame.
  void (*load_row)(const StridedArray&, const Frame&, std::int64_t row, double factor, double* out);

  // Packs flat rows columns[0], columns[1], ... of `table` (`step` values apart) as columns of panels.
  // Writes whole vectors only; the last vector is filled up with copies of the last column.
  void (*pack)(const float* table, std::int64_t step, const std::int32_t* columns, std::int64_t count,
               std::int64_t n_features, float* panels);
  // Computes |x-C|^2 of a tile and panels [begin, end). Row r and column i are at out[r * stride + i].
  void (*score)(const TileView&, const PanelView&, std::int64_t begin, std::int64_t end, float* out,
                std::int64_t stride);

  // Computes out[c] = sum over t of values[t] * term_rows[t][c] for n columns, a multiple of the vector
  // length. These are the dot products of a sparse row, which has values[t] in its t-th term, with n
  // vectors.
  void (*sparse_dots)(const float* const* term_rows, const float* values, std::int64_t count,
                      std::int64_t n, float* out);

  // Scores a tile against panels [begin, end) and updates the state.
  void (*scan)(Rule, bool weighted, const TileView&, const PanelView&, std::int64_t begin,
               std::int64_t end, const LaneState&);
  // The same as `reset`, `scan` of all panels and `reduce` together, bit for bit, for dense rows of at
  // most kMaxFewFeatures features and the rules nearest and best. Faster for few clusters.
  void (*scan_few)(Rule, bool weighted, const TileView&, const PanelView&, const LaneState&);
  // Finds all clusters other than `own` whose cost W/(W+w) |x-C|^2 is below the limit of the row. Those
  // of row r start at hits[r * step], and counts[r] is their number.
  void (*find_below)(bool weighted, const TileView&, const PanelView&, std::int64_t begin,
                     std::int64_t end, const float* limits, std::int64_t step, Hit* hits,
                     std::int32_t* counts);
  // Initialises the state of n_rows rows.
  void (*reset)(Rule, std::int64_t n_rows, const LaneState&);
  // Combines the lanes of each row into lane 0. Ties go to the smaller index.
  void (*reduce)(Rule, std::int64_t n_rows, const LaneState&);

  // One step of k-means++. Columns are packed in panels of one vector. Column 0 is the centre
  // chosen last, the others are candidates. Updates `closest` with column 0, marks the rows for
  // which it is the closest centre in `taken`, and adds weight * min(closest, distance) to the
  // potential of each column. Prefetches `ahead_bytes` bytes starting at `ahead`, spread over the
  // computation.
  void (*seed)(const TileView&, const float* panels, const float* norms, std::int64_t n_panels,
               std::int64_t n_real, const char* ahead, std::int64_t ahead_bytes, float* closest,
               unsigned char* taken, float* potentials);

  // Return |x - composite * inverse|^2 in float64. `tile_row` is a row of a tile.
  double (*tile_distance)(const float* tile_row, const double* composite, double inverse,
                          std::int64_t n_features);
  double (*distance)(const double* x, const double* composite, double inverse, std::int64_t n_features);
  double (*dot)(const double* x, const double* y, std::int64_t n_features);
  // composite += weight * x
  void (*add)(double* composite, const double* x, double weight, std::int64_t n_features);

  // Functions of flat rows: n float32 values, a multiple of the vector length.
  // x -= shift. Returns |x|^2.
  float (*flat_shift)(float* x, const float* shift, std::int64_t n);
  // Adds `count` rows, each multiplied by its weight (or 1, if weights is null), to `sums`.
  void (*flat_sum)(const float* rows, std::int64_t step, std::int64_t count, const float* weights,
                   std::int64_t n, double* sums);
  // Computes the dot products of `count` rows (`step` values apart) with a vector.
  void (*flat_dots)(const float* rows, std::int64_t step, std::int64_t count, const float* vector,
                    std::int64_t n, float* out);
  // out = -2 * C with C = composite * inverse. Returns |C|^2 of the rounded centre.
  float (*flat_centre)(const double* composite, double inverse, std::int64_t n_features, float* out);
  // Returns the dot product of x and a composite in float64.
  double (*flat_dot)(const float* x, const double* composite, std::int64_t n);
  // composite += weight * x. `copy` receives the composite in float32.
  void (*flat_add)(double* composite, float* copy, const float* x, double weight, std::int64_t n);

  // Computes |x-y|^2 in float64 of n_rows rows, a multiple of kPairRows, and columns that are packed in
  // panels of pair_width, feature by feature. Row r and column i are at out[r * stride + i].
  void (*pair_squares)(const double* rows, std::int64_t n_rows, const double* panels,
                       std::int64_t n_panels, std::int64_t n_features, double* out, std::int64_t stride);
  // Replaces values by their square roots.
  void (*take_roots)(double* values, std::int64_t n);

  // Sets bit i of `masks` if the table entries of code i add up to at most `limit`, which is below
  // 255. `tables` has shape n_subspaces x kByteCentroids. The codes of subspace j start at columns
  // + j * step; `count` is a multiple of 64. The pointer is null if the instruction set cannot look
  // up tables of this size.
  void (*sift_codes)(const std::uint8_t* tables, std::int64_t n_subspaces, const std::uint8_t* columns,
                     std::int64_t step, std::int64_t count, std::uint8_t limit, std::uint64_t* masks);
  // Update the minimum and the maximum of each column. `poison` is set to NaN if a value is not
  // finite. `describe` takes one row, `describe_floats` takes `count` float32 rows.
  void (*describe)(const double* x, std::int64_t n_features, double* low, double* high, double* poison);
  void (*describe_floats)(const char* rows, std::int64_t row_stride, std::int64_t count, std::int64_t n,
                          float* low, float* high, float* poison);
};

// Returns the kernel of this name, or the fastest kernel that this machine supports if the name is
// empty. Returns null if the machine or this build does not support it.
const Kernel* find_kernel(const char* name);
// Returns the n-th kernel that this machine supports, starting with the baseline, or null after the
// last.
const Kernel* available_kernel(int n);

}  // namespace boostkmeans
