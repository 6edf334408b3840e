// The inner loops, compiled once for each instruction set: CMake sets BK_ISA (a name), BK_VECTOR
// (bytes in a vector), BK_ROWS and BK_VECTORS (the register block: rows, and vectors in a panel).
//
// Written with the compiler's vector types, so that one text serves all of them. Reductions name
// their order themselves: no flag here lets the compiler change what is computed.
#include "kernel/code_tables.hpp"
#include "kernel/flat_rows.hpp"
#include "kernel/load_rows.hpp"
#include "kernel/pack.hpp"
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
    BK_TEXT(BK_ISA),
    kLanes,
    kWidth,
    kRows,
    kMultipliesBytes,
    load_rows,
    load_row,
    pack,
    score,
    sparse_dots,
    scan,
    reset,
    reduce,
    seed,
    tile_distance,
    distance,
    dot,
    add,
    flat_shift,
    flat_sum,
    flat_dots,
    flat_centre,
    flat_dot,
    flat_add,
    kSiftCodes,
    describe,
    describe_floats,
};

}  // namespace boostkmeans
