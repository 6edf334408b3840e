// The exact nearest centre of each row. It is found by float32 distances, and checked by float64
// distances if float32 errors could hide another one. Ties go to the smaller index.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/thread_pool.hpp"
#include "rows/dense_rows.hpp"

namespace boostkmeans {

// `centres` is k x d in the frame of the rows. `exclude` (or null) has one centre per row to skip,
// for example the nearest one to find the second nearest. `distances` (or null) receives |x-C|^2.
template <class Rows>
void nearest(const Rows& rows, const double* centres, std::int64_t n_clusters,
             const std::int32_t* exclude, std::int32_t* labels, double* distances, ThreadPool& pool);

// The same for each subspace of the rows. `centres` has the centroids of each subspace in its frame, one
// subspace after the other. The code of row i in subspace j is codes[i * n_subspaces + j].
template <class Code>
void encode(const std::vector<const DenseRows*>& subspaces, const double* centres,
            std::int64_t n_centroids, Code* codes, ThreadPool& pool);

// Computes |x-C|^2 of all pairs in float64. Row i and centre j are at out[i * n_clusters + j].
template <class Rows>
void all_distances(const Rows& rows, const double* centres, std::int64_t n_clusters, double* out,
                   ThreadPool& pool);

// Computes |x-C|^2 of each row and the centre of its label, and |x|^2.
template <class Rows>
void distances_to_assigned(const Rows& rows, const double* centres, std::int64_t n_clusters,
                           const std::int32_t* labels, double* distances, double* norms,
                           ThreadPool& pool);

}  // namespace boostkmeans
