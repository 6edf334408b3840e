// Search among the codes of a product quantizer: distances are sums of what tables say, one for each
// subspace.
#pragma once

#include <cstdint>

#include "kernel/kernel.hpp"
#include "parallel/thread_pool.hpp"

namespace boostkmeans {

struct CodeShape {
  std::int64_t n_codes, n_subspaces, n_centroids;
};

// For each query (of which `tables` has n_subspaces x n_centroids distances) the k codes of the smallest
// sums in float32, added from the first subspace on; equal ones by their number. Nearest first.
// `Code` is std::uint8_t or std::uint16_t, below n_centroids; there are at least k codes.
template <class Code>
void search_codes(const Kernel& kernel, const float* tables, std::int64_t n_queries, const Code* codes,
                  const CodeShape& shape, std::int64_t k, std::int64_t* ids, float* distances,
                  Team& team);

}  // namespace boostkmeans
