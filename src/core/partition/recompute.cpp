#include "partition/recompute_by_cluster.hpp"
#include "partition/recompute_in_order.hpp"

namespace boostkmeans {

template <class Rows>
RecomputeResult recompute(const Rows& rows, RowWeights row_weights, const Partition& partition,
                          double* inertias, ThreadPool& pool) {
  if constexpr (!Rows::kSparse)
    if (RecomputationInOrder::n_slices(rows, partition) > 0)
      return RecomputationInOrder(rows, row_weights, partition, inertias, pool).run();
  return RecomputationByCluster<Rows>(rows, row_weights, partition, inertias, pool).run();
}

template RecomputeResult recompute(const DenseRows&, RowWeights, const Partition&, double*, ThreadPool&);
template RecomputeResult recompute(const SparseRows&, RowWeights, const Partition&, double*,
                                   ThreadPool&);

}  // namespace boostkmeans
