// Visit policies: the rows that a sweep visits next, and the clusters that it compares them with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel/thread_pool.hpp"
#include "partition/partition.hpp"
#include "partition/rows_by_cluster.hpp"
#include "scoring/centre_traits.hpp"
#include "sweep/row_bounds.hpp"
#include "sweep/sweep.hpp"

namespace boostkmeans {

// The cluster to which a row should move, according to the centres at the beginning of its block.
struct Proposal {
  std::int64_t row;
  std::int32_t own;     // the cluster of the row
  std::int32_t target;  // -1: stay
  float norm;           // |x|^2
  float regret;         // weight of the row times (cost of moving - cost of staying)
};

// Proposals [first, first + count) of a block, whose rows are compared with the same clusters. One
// thread handles a task.
struct Task {
  std::int64_t first, count;
  std::int64_t source;  // where the policy finds the rows
  std::int64_t n_columns;
  std::int32_t list;  // cluster whose neighbours they are compared with, or -1: all clusters
  std::int32_t own;   // cluster of all these rows, or -1 if it differs
};

// Compares every row with all clusters.
template <class Rows>
class FullPolicy {
 public:
  static constexpr bool kFull = true;

  // Bounds are not used to skip rows if `visits_all`. `heaviest` is the largest weight of a row.
  FullPolicy(const Rows& rows, const Partition& partition, const FullVisit& visit, bool low_precision,
             bool visits_all, double heaviest)
      : rows_(rows),
        visit_(visit),
        visits_all_(visits_all),
        bounds_(partition, visit.bounds, heaviest),
        centres_(all_centres(rows, partition.n_clusters, low_precision)) {}

  // Adds the tasks of the next block. Returns its number of rows, or 0 if all rows were visited.
  std::int64_t collect(std::vector<Task>& tasks) {
    std::int64_t n = 0;
    if (skips())
      while (next_run_ < visit_.n_runs && n == 0) n = collect_unskipped();
    else
      n = collect_block();
    for (std::int64_t at = 0; at < n; at += kBatchRows)
      tasks.push_back({at, std::min(kBatchRows, n - at), at, centres_.n_clusters(), -1, -1});
    return n;
  }
  // Writes the rows [at, at + count) of a task.
  void rows_of(const Task& task, std::int64_t at, std::int64_t count, std::int64_t* out) const {
    if (skips()) {
      std::copy_n(unskipped_.data() + task.source + at, count, out);
      return;
    }
    const std::int64_t first = position(task.source + at);
    std::int64_t run = first_run_ + first / visit_.run_rows, within = first % visit_.run_rows;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = visit_.order[run] * visit_.run_rows + within;
      out[i] = row;
      if (++within == visit_.run_rows || row + 1 == rows_.n_rows()) within = 0, ++run;
    }
  }
  // The centres of all clusters, which the sweep keeps up to date.
  typename CentreTraits<Rows>::All& table() { return centres_; }
  // Called after the rows of a block were decided, and after a row moved.
  void decided(const std::vector<Proposal>& proposals) const {
    if (!bounds_) return;
    for (const Proposal& proposal : proposals) bounds_.cover(proposal.norm);
  }
  void moved(std::int32_t, std::int32_t) {}
  // Called with the cost of staying and the float32 cost of the best other cluster of a row.
  void scored(std::int64_t row, std::int32_t own, double stay, double best, double norm) const {
    if (bounds_) bounds_.store(row, own, stay, best, norm, rows_.n_products(row));
  }
  // The centres with which the rows of a task are compared.
  typename CentreTraits<Rows>::All& centres(std::int64_t, int) { return centres_; }
  // The cluster of a column of these centres, and the number of columns.
  std::int32_t cluster(std::int64_t, std::int64_t column) const {
    return static_cast<std::int32_t>(column);
  }
  std::int64_t n_columns(std::int64_t) const { return centres_.n_clusters(); }
  // The clusters of all columns, or null if these are all clusters.
  const std::int32_t* clusters(std::int64_t) const { return nullptr; }
  // Maximum number of columns, or 0 if these are all clusters.
  std::int64_t list_length() const { return 0; }
  // The column of a cluster, or -1 if it has none.
  std::int32_t column(std::int64_t, std::int32_t cluster) const { return cluster; }
  // Called with the best other cluster of a row, if the policy keeps it.
  void found(std::int64_t, std::int32_t) {}
  static constexpr bool keeps_runners_up() { return false; }

 private:
  // Number of runs whose bounds are prefetched, to hide the latency of memory.
  static constexpr std::int64_t kRunsAhead = 4;

  // True if rows that cannot gain are skipped.
  bool skips() const { return !visits_all_; }

  // Takes the runs of the next block, and returns their number of rows.
  std::int64_t collect_block() {
    if (bounds_) bounds_.follow_centres();
    first_run_ = next_run_;
    gap_begin_ = gap_ = 0;
    std::int64_t n = 0;
    while (next_run_ < visit_.n_runs && n < visit_.block_rows) {
      const std::int64_t begin = visit_.order[next_run_++] * visit_.run_rows;
      const std::int64_t length = std::min(visit_.run_rows, rows_.n_rows() - begin);
      n += length;
      if (length < visit_.run_rows) {
        gap_begin_ = n;
        gap_ = visit_.run_rows - length;
      }
    }
    return n;
  }

  // The same with the rows that are not skipped. A block has the same rows with and without bounds, so
  // that they propose from the same centres.
  std::int64_t collect_unskipped() {
    bounds_.follow_centres();
    unskipped_.clear();
    for (std::int64_t n_rows = 0; next_run_ < visit_.n_runs && n_rows < visit_.block_rows;) {
      const std::int64_t begin = visit_.order[next_run_++] * visit_.run_rows;
      const std::int64_t end = std::min(begin + visit_.run_rows, rows_.n_rows());
      n_rows += end - begin;
      if (next_run_ + kRunsAhead < visit_.n_runs) {
        const std::int64_t ahead = visit_.order[next_run_ + kRunsAhead] * visit_.run_rows;
        bounds_.prefetch(ahead, std::min(ahead + visit_.run_rows, rows_.n_rows()));
      }
      for (std::int64_t row = begin; row < end; ++row)
        if (!bounds_.stays(row)) unskipped_.push_back(row);
    }
    return static_cast<std::int64_t>(unskipped_.size());
  }

  // Position of a row in the runs of the block, as if all runs had the same length.
  std::int64_t position(std::int64_t at) const { return gap_ > 0 && at >= gap_begin_ ? at + gap_ : at; }

  const Rows& rows_;
  const FullVisit& visit_;
  const bool visits_all_;
  RowBounds bounds_;
  std::int64_t next_run_ = 0;
  std::int64_t first_run_ = 0;  // of the current block
  std::int64_t gap_begin_ = 0,
               gap_ = 0;  // rows that the last run of the data lacks, if it is in the block
  std::vector<std::int64_t> unskipped_;  // rows of the current block, if some are skipped
  typename CentreTraits<Rows>::All centres_;
};

// Compares every row with the neighbours of its cluster. Has the same interface as FullPolicy.
template <class Rows>
class CandidatePolicy {
 public:
  static constexpr bool kFull = false;

  CandidatePolicy(const Rows& rows, const Partition& partition, CandidateVisit& visit, ThreadPool& pool)
      : visit_(visit),
        members_(sort_by_cluster(grouping(partition), partition.n_clusters, rows.n_rows(), pool)),
        entered_(static_cast<std::size_t>(partition.n_clusters), 0),
        table_(centre_table(rows, partition.n_clusters)) {
    gathered_.reserve(static_cast<std::size_t>(pool.size()));
    for (int t = 0; t < pool.size(); ++t)
      gathered_.push_back(gathered_centres(rows, partition.n_clusters, visit_.list_length));
  }

  std::int64_t collect(std::vector<Task>& tasks) {
    // Maximum number of rows of a task, for which a thread gathers the centres once. A large
    // cluster is divided into several tasks, so that threads can share it.
    constexpr std::int64_t kTaskRows = 8 * kBatchRows;
    std::int64_t n = 0;
    while (next_ < visit_.n_clusters && n < visit_.block_rows) {
      const std::int32_t c = visit_.order[next_];
      const std::int64_t begin = members_.start[static_cast<std::size_t>(c)] + n_taken_;
      const std::int64_t end = members_.start[static_cast<std::size_t>(c) + 1];
      const std::int64_t length = begin == end ? 0 : n_columns(c);
      if (length == 0 || (n_taken_ == 0 && !begin_visit(c))) {
        ++next_;
        n_taken_ = 0;
        continue;
      }
      const std::int64_t count = std::min(kTaskRows, end - begin);
      tasks.push_back({n, count, begin, length, c, visit_.by_runner_up ? -1 : c});
      n += count;
      n_taken_ += count;
    }
    return n;
  }
  void rows_of(const Task& task, std::int64_t at, std::int64_t count, std::int64_t* out) const {
    std::copy_n(members_.rows.data() + task.source + at, count, out);
  }
  typename CentreTraits<Rows>::Table& table() { return table_; }
  void decided(const std::vector<Proposal>&) { ++visit_.clock; }
  void moved(std::int32_t from, std::int32_t to) {
    visit_.changed[from] = visit_.changed[to] = visit_.clock;
    // The row is not among the members that this sweep visits with cluster `to`: another visit is
    // needed.
    visit_.visited[to] = -1;
    entered_[static_cast<std::size_t>(to)] = 1;
  }
  typename CentreTraits<Rows>::Gathered& centres(std::int64_t owner, int thread) {
    Gathered& gathered = gathered_[static_cast<std::size_t>(thread)];
    gathered.gather(table_, list(owner), n_columns(owner));
    return gathered;
  }
  std::int32_t cluster(std::int64_t owner, std::int64_t column) const { return list(owner)[column]; }
  std::int64_t n_columns(std::int64_t owner) const {
    const std::int32_t* first = list(owner);
    return std::find(first, first + visit_.list_length, -1) - first;
  }
  const std::int32_t* clusters(std::int64_t owner) const { return list(owner); }
  std::int64_t list_length() const { return visit_.list_length; }
  std::int32_t column(std::int64_t owner, std::int32_t cluster) const {
    if (!visit_.by_runner_up) return -1;  // no list contains its own cluster
    const std::int32_t *first = list(owner), *last = first + visit_.list_length;
    const std::int32_t* at = std::find(first, last, cluster);
    return at == last ? -1 : static_cast<std::int32_t>(at - first);
  }
  void scored(std::int64_t, std::int32_t, double, double, double) const {}
  void found(std::int64_t row, std::int32_t best) {
    if (keeps_runners_up()) visit_.runners_up[row] = best;
  }
  bool keeps_runners_up() const { return visit_.runners_up != nullptr && !visit_.by_runner_up; }

 private:
  using Gathered = typename CentreTraits<Rows>::Gathered;

  const std::int32_t* list(std::int64_t cluster) const {
    return visit_.lists + cluster * visit_.list_length;
  }

  // The cluster with which each row is visited.
  const std::int32_t* grouping(const Partition& partition) const {
    return visit_.by_runner_up ? visit_.runners_up : partition.labels;
  }

  // Returns true if the rows of a cluster should be visited, and marks it as visited.
  bool begin_visit(std::int64_t cluster) {
    if (visit_.by_runner_up) return true;
    if (!needs_visit(cluster)) return false;
    visit_.visited[cluster] = entered_[static_cast<std::size_t>(cluster)] != 0 ? -1 : visit_.clock;
    return true;
  }

  // Returns true if the cluster or one of its neighbours changed since the last visit.
  bool needs_visit(std::int64_t cluster) const {
    const std::int64_t last = visit_.visited[cluster];
    if (last < 0 || visit_.changed[cluster] >= last) return true;
    const std::int32_t* first = list(cluster);
    return std::any_of(first, first + n_columns(cluster),
                       [=, this](std::int32_t c) { return visit_.changed[c] >= last; });
  }

  CandidateVisit& visit_;
  RowsByCluster members_;
  std::vector<unsigned char> entered_;  // by cluster: whether a row entered it in this sweep
  std::int64_t next_ = 0;               // current position in the order of clusters
  std::int64_t n_taken_ = 0;            // rows of the current cluster that were already visited
  typename CentreTraits<Rows>::Table table_;
  std::vector<Gathered> gathered_;  // by thread
};

}  // namespace boostkmeans
