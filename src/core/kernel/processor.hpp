// Abilities of the processor of this machine, beyond the baseline of its architecture.
#pragma once

namespace boostkmeans {

struct Processor {
  bool avx2 = false;          // AVX2 and FMA
  bool avx512 = false;        // AVX-512 F, BW, DQ and VL
  bool avx512_vnni = false;   // products of bytes
  bool avx512_vbmi = false;   // lookup in tables of bytes
  bool dot_products = false;  // arm64: products of bytes (SDOT and UDOT)
};

// Returns the abilities, which are detected once. A set of registers counts only if the operating system
// saves it.
const Processor& this_processor();

}  // namespace boostkmeans
