// The composites of a partition in float32, transposed, for scoring sparse rows.
//
// Each term (column of the data) has a term row with its value in all composites. A row is scored
// against all clusters by adding up the term rows of its terms. Composites are not divided by their
// weights, so a move changes only the terms of the moved row, in two columns. A term that occurs in
// few rows occurs in few clusters, and its term row is sparse. Most term rows are sparse, so the
// few dense ones stay in the cache.
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

// A cluster that contains a term, and the value of the term there. Both are stored together, in the same
// cache line.
struct TermEntry {
  std::int32_t cluster;
  float value;
};

// The entries of a sparse term row, in ascending order of clusters.
struct SparseTermRow {
  const TermEntry* entries;
  std::int64_t count;

  const TermEntry* end() const { return entries + count; }
  // The first entry with this cluster or a larger one.
  const TermEntry* from(std::int64_t cluster) const {
    const auto before = [](const TermEntry& entry, std::int64_t c) { return entry.cluster < c; };
    return std::lower_bound(entries, end(), cluster, before);
  }
};

class TermCentres {
 public:
  TermCentres(const SparseRows& rows, std::int64_t n_clusters);

  // Fills all term rows from the composites (k x d). With `rows_move`, leaves room for entries that
  // moves add.
  void fill(const double* composites, bool rows_move, ThreadPool& pool);
  // Sets weight and |composite|^2 of a cluster. A cluster of weight 0 is empty, and entering it
  // costs nothing.
  void set(std::int64_t cluster, double weight, double square);
  void set_never(std::int64_t cluster);
  void add_penalty(std::int64_t cluster, double penalty) { scalars_.add_penalty(cluster, penalty); }
  // Sets a value of a composite. `step` is the amount by which it changed.
  void set_term(std::int64_t term, std::int64_t cluster, double value, double step);
  void clear(std::int64_t cluster);

  bool has_sparse_term_rows() const { return has_sparse_term_rows_; }
  // The values of a term in all clusters, or null if its term row is sparse.
  const float* term_row(std::int64_t term) const {
    const std::int64_t at = offsets_[static_cast<std::size_t>(term)];
    return at < 0 ? nullptr : term_rows_.get() + at;
  }
  SparseTermRow sparse_term_row(std::int64_t term) const {
    const std::int64_t at = ~offsets_[static_cast<std::size_t>(term)];
    return {entries_.get() + at, counts_[static_cast<std::size_t>(term)]};
  }
  float value(std::int64_t term, std::int64_t cluster) const;

  const float* scales() const { return scales_.get(); }
  // |x - C|^2, given |x|^2 and x . composite.
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
  std::vector<std::int64_t> offsets_;     // by term: offset in term_rows_, or ~offset in entries_
  std::vector<std::int32_t> counts_;      // by term: number of entries of a sparse term row
  std::vector<std::int32_t> capacities_;  // by term: maximum number of entries
  Buffer<float> term_rows_;
  Buffer<TermEntry> entries_;  // of the sparse term rows
  ClusterScalars scalars_;
  Buffer<float> scales_;  // -2 / W
};

// Some columns of TermCentres. A term row is gathered when it is first used.
class GatheredTermCentres {
 public:
  GatheredTermCentres(const SparseRows& rows, std::int64_t n_clusters, std::int64_t max_gathered);

  // Selects clusters, at most as many as the constructor was given. The table must not change until the
  // next call.
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
  std::vector<std::int64_t> terms_;    // terms that are gathered
  std::vector<Buffer<float>> blocks_;  // memory of the term rows, which never moves
  std::vector<std::int32_t> column_;   // by cluster; -1 if it is not selected
  ClusterScalars scalars_;
  Buffer<float> scales_;
};

}  // namespace boostkmeans
