// Lower bounds of the distances between rows and centres, from a few dimensions.
//
// A vector y has coordinates y' = axes^T y and a rest of length s(y) = sqrt(|y|^2 - |y'|^2). As the axes
// lengthen no vector, |x - C|^2 >= |x' - C'|^2 + (s(x) - s(C))^2. The right side is the squared distance
// between (x', s(x)) and (C', s(C)), so the kernel computes it like any other distance.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"
#include "projection/projector.hpp"
#include "rows/dense_rows.hpp"
#include "scoring/packed_centres.hpp"

namespace boostkmeans {

// Rows with coordinates and rests, as computed by `project`.
struct ProjectedRows {
  const DenseRows* rows = nullptr;  // n x (n_axes + 1); null if bounds are not used
  const float* values = nullptr;    // the values of `rows`, one row after the other
  const double* axes = nullptr;     // n_features x n_axes
  double scale = 1.0;
  explicit operator bool() const { return rows != nullptr; }
  std::int64_t n_axes() const { return rows->n_features() - 1; }
};

// The clusters of a partition as (C', s(C)), in units of `scale`.
class LowerBounds {
 public:
  // `list_length` is the number of clusters with which a row is compared, or 0 for all clusters.
  LowerBounds(const ProjectedRows& projected, const Partition& partition, std::int64_t list_length,
              ThreadPool& pool);

  const DenseRows& rows() const { return *projected_.rows; }
  // Projects the centres of these clusters, which have changed.
  void update(const std::vector<std::int64_t>& clusters, ThreadPool& pool);
  // Excludes a cluster from all comparisons until its next update.
  void set_never(std::int64_t cluster);
  // Returns the packed centres of `count` listed clusters, or of all clusters if the list is null.
  const PackedCentres& centres(const std::int32_t* list, std::int64_t count, int thread);

  // Returns a limit such that a cluster whose bound is above it costs more than `cost`, in spite of
  // rounding errors. `square` is the squared length of the projected row, and `rest` the length of its
  // rest.
  float exact_limit(double cost, double square, double rest) const;
  // Returns the limit for a cost, without rounding errors.
  float limit(double cost) const { return static_cast<float>(cost * square_scale_); }

 private:
  void update_batch(const std::int64_t* clusters, std::int64_t count, int thread);
  // Bound on the distance between a computed projection and the exact one.
  double error(double length, double rest) const;

  const ProjectedRows projected_;
  const Partition& partition_;
  double square_scale_;
  std::int64_t n_features_;
  Projector projector_;
  std::vector<double> inverse_weights_;  // by cluster
  std::vector<double> errors_;           // by cluster
  double largest_error_ = 0.0;
  DenseRows centre_rows_;
  std::unique_ptr<PackedCentres> all_;
  std::unique_ptr<CentreTable> table_;
  std::vector<PackedCentres> gathered_;                        // by thread
  std::vector<std::unique_ptr<RowBatch<DenseRows>>> batches_;  // by thread
  std::vector<Buffer<float>> products_;                        // by thread
  std::vector<Buffer<double>> points_;                         // by thread
};

}  // namespace boostkmeans
