// The centres of a partition as sparse rows are scored against them: composites in float32, transposed.
//
// Each term has a line with its value in all composites. So a row is scored against all clusters by
// adding up the lines of its terms; and as composites are not divided by their weights, a move changes
// no more than the terms of the row in two columns. A term that is in few rows is in few clusters: its
// line is a list of these. Most terms are such, so that the lines of all others stay in the cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernel/kernel.hpp"
#include "parallel/thread_pool.hpp"
#include "rows/sparse_rows.hpp"
#include "scoring/cluster_terms.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

// A cluster in which a term is, and its value there. Side by side, so that they come from memory
// together.
struct Entry {
  std::int32_t cluster;
  float value;
};

// The clusters of a term, ascending.
struct ShortLine {
  const Entry* entries;
  std::int64_t count;

  const Entry* end() const { return entries + count; }
  // The first entry of that cluster or a later one.
  const Entry* from(std::int64_t cluster) const {
    const auto before = [](const Entry& entry, std::int64_t c) { return entry.cluster < c; };
    return std::lower_bound(entries, end(), cluster, before);
  }
};

class SparseCentres {
 public:
  SparseCentres(const SparseRows& rows, std::int64_t n_clusters);

  // All lines, from the composites (k x d). If `rows_move`, there is room for what moves add to them.
  void fill(const double* composites, bool rows_move, Team& team);
  // Weight and |composite|^2 of a cluster; a weight of 0 makes an empty one, which attracts any row.
  void set(std::int64_t cluster, double weight, double square);
  void set_never(std::int64_t cluster);
  void add_penalty(std::int64_t cluster, double penalty) { vectors_.add_penalty(cluster, penalty); }
  // `step` is by how much the value changed: what is left of a sum that was taken away is rounding.
  void set_term(std::int64_t term, std::int64_t cluster, double value, double step);
  void clear(std::int64_t cluster);

  bool has_short_lines() const { return has_short_lines_; }
  // The line of a term; null if it is short.
  const float* line(std::int64_t term) const {
    const std::int64_t at = places_[static_cast<std::size_t>(term)];
    return at < 0 ? nullptr : lines_.get() + at;
  }
  ShortLine short_line(std::int64_t term) const {
    const std::int64_t at = ~places_[static_cast<std::size_t>(term)];
    return {entries_.get() + at, counts_[static_cast<std::size_t>(term)]};
  }
  float value(std::int64_t term, std::int64_t cluster) const;

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

  void make_room(bool rows_move, bool may_be_short);
  void set_short(std::int64_t term, std::int64_t cluster, float value);

  const SparseRows& rows_;
  std::int64_t width_, n_clusters_, n_features_, n_panels_, step_;
  bool has_short_lines_ = false;
  std::vector<std::int64_t> places_;  // by term: where its line begins; or ~ where its short line does
  std::vector<std::int32_t> counts_;  // by term: length of a short line ...
  std::vector<std::int32_t> most_;    // ... and what there is room for
  Buffer<float> lines_;
  Buffer<Entry> entries_;  // of the short lines
  ClusterVectors vectors_;
  Buffer<float> scales_;  // -2 / W
};

// Some of these centres, in an order of their own. A line is gathered when a row first asks for it.
class GatheredCentres {
 public:
  GatheredCentres(const SparseRows& rows, std::int64_t n_clusters, std::int64_t most_gathered);

  // At most as many as were announced; the table must stay as it is until the next call.
  void gather(const SparseCentres& table, const std::int32_t* clusters, std::int64_t count);

  const float* line(std::int64_t term);
  bool has_short_lines() const { return false; }
  ShortLine short_line(std::int64_t) const { return {nullptr, 0}; }
  const float* scales() const { return scales_.get(); }
  std::int64_t n_panels() const { return n_panels_; }
  std::int64_t n_clusters() const { return n_clusters_; }
  PanelView view() const;

 private:
  static constexpr std::int64_t kLinesInBlock = 256;

  float* new_line();
  void fill_line(std::int64_t term, float* line) const;

  const SparseCentres* table_ = nullptr;
  const std::int32_t* clusters_ = nullptr;
  std::int64_t width_, step_, n_clusters_ = 0, n_panels_ = 0;
  std::vector<float*> line_of_;        // by term; null if not gathered
  std::vector<std::int64_t> terms_;    // that are gathered
  std::vector<Buffer<float>> blocks_;  // of lines, which never move
  std::vector<std::int32_t> column_;   // by cluster; -1 if not among these
  ClusterVectors vectors_;
  Buffer<float> scales_;
};

}  // namespace boostkmeans
