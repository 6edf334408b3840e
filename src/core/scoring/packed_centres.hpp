// The centres of a partition in float32, packed for the kernel. Proposals are made from them. Decisions
// use the float64 composites.
#pragma once

#include <cstdint>

#include "kernel/kernel.hpp"
#include "rows/dense_rows.hpp"
#include "scoring/cluster_scalars.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

// Writes -2 * C with C = composite * inverse, feature by feature, `step` values apart. Returns |C|^2 of
// the rounded centre.
float pack_column(const double* composite, double inverse, std::int64_t n_features, std::int64_t step,
                  float* column);

// Centres as flat float32 rows, -2 * C each, together with their scalars.
class CentreTable {
 public:
  CentreTable(const Kernel& kernel, std::int64_t n_clusters, std::int64_t n_features);
  void set(std::int64_t cluster, const double* composite, double weight);
  void set_never(std::int64_t cluster);
  void add_penalty(std::int64_t cluster, double penalty) { scalars_.add_penalty(cluster, penalty); }

 private:
  friend class PackedCentres;
  const Kernel& kernel_;
  std::int64_t n_features_, step_;
  Buffer<float> values_;
  ClusterScalars scalars_;
};

class PackedCentres {
 public:
  // `bytes` points to the rows if they are scored in low precision, and is null otherwise.
  PackedCentres(const Kernel& kernel, std::int64_t n_clusters, std::int64_t n_features,
                const DenseRows* bytes = nullptr);

  // Replaces all centres by some centres of a table, at most as many as the constructor was given.
  // Not available in low precision.
  void gather(const CentreTable& table, const std::int32_t* clusters, std::int64_t count);

  // Sets a centre to composite / weight. A cluster of weight 0 is empty, and entering it costs
  // nothing.
  void set(std::int64_t cluster, const double* composite, double weight);

  void set_never(std::int64_t cluster);
  void add_penalty(std::int64_t cluster, double penalty) { scalars_.add_penalty(cluster, penalty); }

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
  Buffer<float> values_;        // empty for low precision
  Buffer<std::int32_t> quads_;  // empty unless for low precision
  ClusterScalars scalars_;
  Buffer<float> byte_scales_, byte_offsets_;
  Buffer<std::int32_t> byte_sums_;
};

}  // namespace boostkmeans
