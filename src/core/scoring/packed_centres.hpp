// The centres of a partition, packed in float32 for the kernel. They are what proposals are made
// from; decisions use the composites themselves.
#pragma once

#include <cstdint>

#include "kernel/kernel.hpp"
#include "rows/dense_rows.hpp"
#include "scoring/cluster_terms.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

// Writes -2 * C, C = composite * inverse, feature by feature, `step` values apart; returns |C|^2 of the
// centre as it was rounded.
float pack_column(const double* composite, double inverse, std::int64_t n_features, std::int64_t step,
                  float* column);

// Centres one after the other, as flat float32 rows: -2 * C, and what goes with it.
class CentreTable {
 public:
  CentreTable(const Kernel& kernel, std::int64_t n_clusters, std::int64_t n_features);
  void set(std::int64_t cluster, const double* composite, double weight);
  void set_never(std::int64_t cluster);
  void add_penalty(std::int64_t cluster, double penalty) { vectors_.add_penalty(cluster, penalty); }

 private:
  friend class Centres;
  const Kernel& kernel_;
  std::int64_t n_features_, step_;
  Buffer<float> values_;
  ClusterVectors vectors_;
};

class Centres {
 public:
  // `bytes`: the rows, if they are to be scored in low precision; or null.
  Centres(const Kernel& kernel, std::int64_t n_clusters, std::int64_t n_features,
          const DenseRows* bytes = nullptr);

  // These centres := some of a table, at most as many as there were at first. Not in low precision.
  void gather(const CentreTable& table, const std::int32_t* clusters, std::int64_t count);

  // Centre r := composite / weight; a weight of 0 makes an empty cluster, which attracts any row.
  void set(std::int64_t cluster, const double* composite, double weight);

  void set_never(std::int64_t cluster);
  void add_penalty(std::int64_t cluster, double penalty) { vectors_.add_penalty(cluster, penalty); }

  std::int64_t n_panels() const { return n_panels_; }
  std::int64_t n_clusters() const { return n_clusters_; }
  std::int64_t n_features() const { return n_features_; }
  PanelView view() const;

 private:
  const Kernel& kernel_;
  std::int64_t width_;
  std::int64_t n_clusters_;
  std::int64_t n_features_;
  std::int64_t n_panels_;
  const DenseRows* bytes_;
  Buffer<float> values_;        // empty if in low precision
  Buffer<std::int32_t> quads_;  // empty unless in low precision
  ClusterVectors vectors_;
  Buffer<float> byte_scales_, byte_offsets_;
};

}  // namespace boostkmeans
