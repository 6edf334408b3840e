// The bound class PartitionView: the arrays of a partition.
#pragma once

#include "bindings/rows.hpp"
#include "partition/partition.hpp"

namespace boostkmeans {

class PartitionView {
 public:
  PartitionView(Vector<std::int32_t> labels, Matrix<double> composites, Vector<double> weights,
                Vector<std::int64_t> counts)
      : labels_(std::move(labels)),
        composites_(std::move(composites)),
        weights_(std::move(weights)),
        counts_(std::move(counts)) {
    require(weights_.shape(0) == composites_.shape(0) && counts_.shape(0) == composites_.shape(0),
            "composites, weights and counts must have one entry per cluster");
  }

  std::int64_t n_clusters() const { return length_of(composites_); }
  // Returns the arrays as a partition of these rows. Checks the shapes, but not the values of the
  // labels.
  Partition of(const Rows& rows) const {
    require(length_of(labels_) == rows.n_rows(), "labels must have one value per row");
    require(length_of(composites_, 1) == rows.n_features(),
            "composites must have one column per feature");
    return {labels_.data(), composites_.data(), weights_.data(),
            counts_.data(), n_clusters(),       rows.n_features()};
  }

 private:
  Vector<std::int32_t> labels_;
  Matrix<double> composites_;
  Vector<double> weights_;
  Vector<std::int64_t> counts_;
};

}  // namespace boostkmeans
