#include "partition/recompute_by_cluster.hpp"
#include "partition/recompute_in_order.hpp"

namespace boostkmeans {

template <class Rows>
Recomputed recompute(const Rows& rows, RowWeights row_weights, const Partition& partition,
                     double* inertias, Team& team) {
  if constexpr (!Rows::kSparse)
    if (RecomputationInOrder::n_pieces(rows, partition) > 0)
      return RecomputationInOrder(rows, row_weights, partition, inertias, team).run();
  return RecomputationByCluster<Rows>(rows, row_weights, partition, inertias, team).run();
}

template Recomputed recompute(const DenseRows&, RowWeights, const Partition&, double*, Team&);
template Recomputed recompute(const SparseRows&, RowWeights, const Partition&, double*, Team&);

}  // namespace boostkmeans
