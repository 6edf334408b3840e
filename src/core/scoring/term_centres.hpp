// The centres of a partition as sparse rows are scored against them: composites in float32, transposed.
//
// Each term has a term_row with its value in all composites. So a row is scored against all clusters by
// adding up the lines of its terms; and as composites are not divided by their weights, a move changes
// no more than the terms of the row in two columns. A term that is in few rows is in few clusters: its
// term_row is a list of these. Most terms are such, so that the lines of all others stay in the cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernel/kernel.hpp"
#include "parallel/thread_pool.hpp"
#include "rows/sparse_rows.hpp"
#include "scoring/cluster_scalars.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

// A cluster in which a term is, and its value there. Side by side, so that they come from memory
// together.
struct TermEntry {
  std::int32_t cluster;
  float value;
};

// The clusters of a term, ascending.
struct SparseTermRow {
  const TermEntry* entries;
  std::int64_t count;

  const TermEntry* end() const { return entries + count; }
  // The first entry of that cluster or a later one.
  const TermEntry* from(std::int64_t cluster) const {
    const auto before = [](const TermEntry& entry, std::int64_t c) { return entry.cluster < c; };
    return std::lower_bound(entries, end(), cluster, before);
  }
};

class TermCentres {
 public:
  TermCentres(const SparseRows& rows, std::int64_t n_clusters);

  // All lines, from the composites (k x d). If `rows_move`, there is room for what moves add to them.
  void fill(const double* composites, bool rows_move, ThreadPool& pool);
  // Weight and |composite|^2 of a cluster; a weight of 0 makes an empty one, which attracts any row.
  void set(std::int64_t cluster, double weight, double square);
  void set_never(std::int64_t cluster);
  void add_penalty(std::int64_t cluster, double penalty) { scalars_.add_penalty(cluster, penalty); }
  // `step` is by how much the value changed: what is left of a sum that was taken away is rounding.
  void set_term(std::int64_t term, std::int64_t cluster, double value, double step);
  void clear(std::int64_t cluster);

  bool has_sparse_term_rows() const { return has_sparse_term_rows_; }
  // The term_row of a term; null if it is short.
  const float* term_row(std::int64_t term) const {
    const std::int64_t at = scratch_[static_cast<std::size_t>(term)];
    return at < 0 ? nullptr : term_rows_.get() + at;
  }
  SparseTermRow sparse_term_row(std::int64_t term) const {
    const std::int64_t at = ~scratch_[static_cast<std::size_t>(term)];
    return {entries_.get() + at, counts_[static_cast<std::size_t>(term)]};
  }
  float value(std::int64_t term, std::int64_t cluster) const;

  const float* scales() const { return scales_.get(); }
  // |x - C|^2, given x . D.
  float distance(float norm, float dot, std::int64_t cluster) const {
    return norm + scalars_.norms[cluster] + scales_[cluster] * dot;
  }
  std::int64_t n_panels() const { return n_panels_; }
  std::int64_t n_clusters() const { return n_clusters_; }
  PanelView view() const;

 private:
  friend class GatheredTermCentres;

  void make_room(bool rows_move, bool may_be_sparse);
  void set_sparse(std::int64_t term, std::int64_t cluster, float value);

  const SparseRows& rows_;
  std::int64_t width_, n_clusters_, n_features_, n_panels_, step_;
  bool has_sparse_term_rows_ = false;
  std::vector<std::int64_t>
      scratch_;  // by term: where its term_row begins; or ~ where its short term_row does
  std::vector<std::int32_t> counts_;      // by term: length of a short term_row ...
  std::vector<std::int32_t> capacities_;  // ... and what there is room for
  Buffer<float> term_rows_;
  Buffer<TermEntry> entries_;  // of the short lines
  ClusterScalars scalars_;
  Buffer<float> scales_;  // -2 / W
};

// Some of these centres, in an order of their own. A term_row is gathered when a row first asks for it.
class GatheredTermCentres {
 public:
  GatheredTermCentres(const SparseRows& rows, std::int64_t n_clusters, std::int64_t max_gathered);

  // At most as many as were announced; the table must stay as it is until the next call.
  void gather(const TermCentres& table, const std::int32_t* clusters, std::int64_t count);

  const float* term_row(std::int64_t term);
  bool has_sparse_term_rows() const { return false; }
  SparseTermRow sparse_term_row(std::int64_t) const { return {nullptr, 0}; }
  const float* scales() const { return scales_.get(); }
  std::int64_t n_panels() const { return n_panels_; }
  std::int64_t n_clusters() const { return n_clusters_; }
  PanelView view() const;

 private:
  static constexpr std::int64_t kTermRowsInBlock = 256;

  float* new_term_row();
  void fill_term_row(std::int64_t term, float* term_row) const;

  const TermCentres* table_ = nullptr;
  const std::int32_t* clusters_ = nullptr;
  std::int64_t width_, step_, n_clusters_ = 0, n_panels_ = 0;
  std::vector<float*> term_row_of_;    // by term; null if not gathered
  std::vector<std::int64_t> terms_;    // that are gathered
  std::vector<Buffer<float>> blocks_;  // of lines, which never move
  std::vector<std::int32_t> column_;   // by cluster; -1 if not among these
  ClusterScalars scalars_;
  Buffer<float> scales_;
};

}  // namespace boostkmeans
