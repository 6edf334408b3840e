// Search among the codes of a product quantizer. Distances are sums of table entries, one per subspace.
#pragma once

#include <cstdint>

#include "kernel/kernel.hpp"
#include "parallel/thread_pool.hpp"

namespace boostkmeans {

struct CodeShape {
  std::int64_t n_codes, n_subspaces, n_centroids;
};

// Finds the k codes with the smallest sums for each query, nearest first, with ties ordered by
// index. `tables` has n_subspaces x n_centroids distances per query. Sums are in float32, in the
// order of the subspaces. `Code` is std::uint8_t or std::uint16_t. Codes must be below n_centroids,
// and there must be at least k codes.
template <class Code>
void search_codes(const Kernel& kernel, const float* tables, std::int64_t n_queries, const Code* codes,
                  const CodeShape& shape, std::int64_t k, std::int64_t* ids, float* distances,
                  ThreadPool& pool);

}  // namespace boostkmeans
