// The centres of a partition as sparse rows are scored against them: composites in float32, transposed.
//
// Each term has a line with its value in all composites. So a row is scored against all clusters by adding
// up the lines of its terms; and as composites are not divided by their weights, a move changes no more
// than the terms of the row in two columns.
#pragma once

#include <cstdint>
#include <vector>

#include "buffer.hpp"
#include "cluster_vectors.hpp"
#include "kernel.hpp"
#include "team.hpp"

namespace boostkmeans {

class SparseRows;

class SparseCentres {
 public:
  // There is no low precision for sparse rows: the last one is always null.
  SparseCentres(const Kernel& kernel, std::int64_t n_clusters, std::int64_t n_features,
                const SparseRows* = nullptr);

  // All lines, from the composites (k x d).
  void fill(const double* composites, Team& team);
  // Weight and |composite|^2 of a cluster; a weight of 0 makes an empty one, which attracts any row.
  void set(std::int64_t cluster, double weight, double square);
  void set_never(std::int64_t cluster);
  void add_price(std::int64_t cluster, double price) { vectors_.add_price(cluster, price); }
  void set_term(std::int64_t term, std::int64_t cluster, double value) {
    lines_[term * step_ + cluster] = static_cast<float>(value);
  }
  void clear(std::int64_t cluster);

  const float* line(std::int64_t term) const { return lines_.get() + term * step_; }
  const float* scales() const { return scales_.get(); }
  // |x - C|^2, given x . D.
  float distance(float norm, float dot, std::int64_t cluster) const {
    return norm + vectors_.norms[cluster] + scales_[cluster] * dot;
  }
  std::int64_t n_panels() const { return n_panels_; }
  std::int64_t n_clusters() const { return n_clusters_; }
  PanelView view() const;

 private:
  friend class GatheredCentres;
  std::int64_t width_, n_clusters_, n_features_, n_panels_, step_;
  Buffer<float> lines_;  // d x step
  ClusterVectors vectors_;
  Buffer<float> scales_;  // -2 / W
};

// Some of these centres, in an order of their own. A line is gathered when a row first asks for it.
class GatheredCentres {
 public:
  GatheredCentres(const Kernel& kernel, std::int64_t most_clusters, std::int64_t n_features);

  // At most as many as were announced; the table must stay as it is until the next call.
  void gather(const SparseCentres& table, const std::int32_t* clusters, std::int64_t count);

  const float* line(std::int64_t term);
  const float* scales() const { return scales_.get(); }
  std::int64_t n_panels() const { return n_panels_; }
  std::int64_t n_clusters() const { return n_clusters_; }
  PanelView view() const;

 private:
  static constexpr std::int64_t kLinesInBlock = 256;

  float* new_line();

  const SparseCentres* table_ = nullptr;
  const std::int32_t* clusters_ = nullptr;
  std::int64_t width_, step_, n_clusters_ = 0, n_panels_ = 0;
  std::vector<float*> line_of_;      // by term; null if not gathered
  std::vector<std::int64_t> terms_;  // that are gathered
  std::vector<Buffer<float>> blocks_;  // of lines, which never move
  ClusterVectors vectors_;
  Buffer<float> scales_;
};

}  // namespace boostkmeans
