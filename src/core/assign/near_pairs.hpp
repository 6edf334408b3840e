// All pairs of rows within a distance of each other, without comparing all rows with each other.
//
// Rows have coordinates in a few dimensions in which no distance is longer than in all dimensions (see
// projection/project.hpp), and they belong to the nearest of some centres. If x belongs to the centre A
// and y to B, the distance of x and y is at least that of their projections onto the line through A and
// B. The line is divided by the plane between A and B, so that |x - y| >= s(x) + s(y) with the distance
// to the plane s(x) = (|x - B|^2 - |x - A|^2) / (2 |A - B|). Rows that are too far from the plane are
// left out. The coordinates of the others are compared in float32, and the remaining pairs in all
// dimensions, in float64. All rounding errors are bounded, so that no pair is missed.
#pragma once

#include <cstdint>
#include <vector>

#include "assign/pair_tally.hpp"
#include "parallel/thread_pool.hpp"
#include "rows/dense_rows.hpp"

namespace boostkmeans {

// Rows whose coordinates are in the order of their clusters.
class PairSide {
 public:
  // `values` has n x step coordinates: n_axes coordinates, the length of the rest, and zeros up to whole
  // vectors. Position p holds row order[p] of `rows`, and the positions of cluster c are
  // [starts[c], starts[c + 1]).
  PairSide(const DenseRows& rows, const float* values, std::int64_t step, std::int64_t n_axes,
           const std::int64_t* order, const std::int64_t* starts, std::int64_t n_clusters);

  const DenseRows& rows() const { return rows_; }
  const DenseRows& coordinates() const { return coordinates_; }
  std::int64_t n_clusters() const { return static_cast<std::int64_t>(errors_.size()); }
  std::int64_t n_columns() const { return coordinates_.n_features(); }
  std::int64_t step() const { return step_; }
  std::int64_t begin(std::int64_t cluster) const { return starts_[cluster]; }
  std::int64_t end(std::int64_t cluster) const { return starts_[cluster + 1]; }
  std::int64_t row(std::int64_t position) const { return order_[position]; }
  const float* values(std::int64_t position) const { return values_ + position * step_; }
  // |x|^2 of the coordinates.
  float norm(std::int64_t position) const { return norms_[static_cast<std::size_t>(position)]; }
  // Largest length of the coordinates of a row of the cluster, and largest rounding error of them.
  double length(std::int64_t cluster) const { return lengths_[static_cast<std::size_t>(cluster)]; }
  double error(std::int64_t cluster) const { return errors_[static_cast<std::size_t>(cluster)]; }

 private:
  const DenseRows& rows_;
  const float* values_;
  std::int64_t step_;
  const std::int64_t* order_;
  const std::int64_t* starts_;
  DenseRows coordinates_;
  std::vector<float> norms_;
  std::vector<double> lengths_, errors_;
};

// Clusters that are compared with each cluster: those of cluster c are
// members[starts[c]] ... members[starts[c + 1] - 1]. Null pointers stand for all clusters.
struct ComparedClusters {
  const std::int64_t* starts = nullptr;
  const std::int32_t* members = nullptr;
};

struct PairRequest {
  const double* centres;  // n_clusters x n_columns
  ComparedClusters compared;
  double radius;             // largest distance in the units of the coordinates
  double square;             // largest squared distance in the frame of the rows
  std::int64_t first, last;  // clusters of the left side to process
};

// Finds the pairs of a left and a right row, or those of two left rows if `right` is null. The left rows
// are the first rows of the tally, and the right rows follow them.
void near_pairs(const PairSide& left, const PairSide* right, const PairRequest& request,
                const PairTally& tally, ThreadPool& pool);

}  // namespace boostkmeans
