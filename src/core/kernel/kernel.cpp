// The inner loops, compiled once for each instruction set. CMake sets BK_ISA (its name), BK_VECTOR
// (bytes per vector), BK_ROWS and BK_VECTORS (the register block: rows, and vectors per panel).
//
// The code uses the vector types of the compiler, so the same source is used for all instruction
// sets. The order of reductions is explicit, because the compiler flags do not allow reordering
// sums.
#include "kernel/code_tables.hpp"
#include "kernel/few_columns.hpp"
#include "kernel/flat_rows.hpp"
#include "kernel/load_rows.hpp"
#include "kernel/pack.hpp"
#include "kernel/pairs.hpp"
#include "kernel/scores.hpp"
#include "kernel/sparse_dots.hpp"
#include "kernel/sums.hpp"

#define BK_NAME2(isa) kernel_##isa
#define BK_NAME(isa) BK_NAME2(isa)
#define BK_TEXT2(isa) #isa
#define BK_TEXT(isa) BK_TEXT2(isa)

namespace boostkmeans {

extern const Kernel BK_NAME(BK_ISA);
const Kernel BK_NAME(BK_ISA) = {
    .name = BK_TEXT(BK_ISA),
    .lanes = kLanes,
    .panel_width = kWidth,
    .block_rows = kRows,
    .multiplies_bytes = kMultipliesBytes,
    .pair_width = kPairWidth,
    .load_rows = load_rows,
    .load_row = load_row,
    .pack = pack,
    .score = score,
    .sparse_dots = sparse_dots,
    .scan = scan,
    .scan_few = scan_few,
    .find_below = find_below,
    .reset = reset,
    .reduce = reduce,
    .seed = seed,
    .tile_distance = tile_distance,
    .distance = distance,
    .dot = dot,
    .add = add,
    .flat_shift = flat_shift,
    .flat_sum = flat_sum,
    .flat_dots = flat_dots,
    .flat_centre = flat_centre,
    .flat_dot = flat_dot,
    .flat_add = flat_add,
    .pair_squares = pair_squares,
    .take_roots = take_roots,
    .sift_codes = kSiftCodes,
    .describe = describe,
    .describe_floats = describe_floats,
};

}  // namespace boostkmeans
