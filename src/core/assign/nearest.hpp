// The nearest centre of each row, exactly: float32 finds it, and wherever its error could have hidden
// another one, float64 decides. Equal distances go to the smaller index.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/thread_pool.hpp"
#include "rows/dense_rows.hpp"

namespace boostkmeans {

// `centres` is k x d in the frame of the rows. `exclude` (or null) names a centre per row that does not
// count: with the nearest one there, the second nearest is found. `distances` (or null) gets |x-C|^2.
template <class Rows>
void nearest(const Rows& rows, const double* centres, std::int64_t n_clusters,
             const std::int32_t* exclude, std::int32_t* labels, double* distances, Team& team);

// The same for the parts of rows, each with centroids of its own (in its frame, one part after the
// other): row i, part j at codes[i * parts + j].
template <class Code>
void encode(const std::vector<const DenseRows*>& parts, const double* centres, std::int64_t n_centroids,
            Code* codes, Team& team);

// |x-C|^2 of all pairs, in float64: row i, centre j at out[i * n_clusters + j].
template <class Rows>
void all_distances(const Rows& rows, const double* centres, std::int64_t n_clusters, double* out,
                   Team& team);

// |x-C|^2 of each row and the centre that `labels` names, and |x|^2.
template <class Rows>
void own_distances(const Rows& rows, const double* centres, std::int64_t n_clusters,
                   const std::int32_t* labels, double* distances, double* norms, Team& team);

}  // namespace boostkmeans
