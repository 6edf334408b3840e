// Visit policies: the rows that a sweep visits next, and the clusters that it compares them with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "partition/partition.hpp"
#include "scoring/centre_traits.hpp"
#include "support/rows_by_cluster.hpp"
#include "sweep/sweep.hpp"

namespace boostkmeans {

// The cluster to which a row should move, according to the centres at the beginning of its block.
struct Proposal {
  std::int64_t row;
  std::int32_t target;  // -1: stay
  float norm;           // |x|^2
  float regret;         // weight of the row times (cost of moving - cost of staying)
};

// Proposals [first, first + count) of a block, whose rows are compared with the same clusters. One
// thread handles a task.
struct Task {
  std::int64_t first, count;
  std::int32_t list;  // cluster whose neighbours they are compared with, or -1: all clusters
  std::int32_t own;   // cluster of all these rows, or -1 if it differs
};

// Compares every row with all clusters.
template <class Rows>
class FullPolicy {
 public:
  FullPolicy(const Rows& rows, const Partition& partition, const FullVisit& visit, bool low_precision)
      : rows_(rows),
        visit_(visit),
        centres_(all_centres(rows, partition.n_clusters, low_precision)) {}

  // Adds the rows of the next block. Returns false if all rows were visited.
  bool collect(std::vector<Proposal>& proposals, std::vector<Task>& tasks) {
    while (next_run_ < visit_.n_runs &&
           static_cast<std::int64_t>(proposals.size()) < visit_.block_rows) {
      const std::int64_t begin = visit_.order[next_run_++] * visit_.run_rows;
      const std::int64_t end = std::min(begin + visit_.run_rows, rows_.n_rows());
      for (std::int64_t row = begin; row < end; ++row) proposals.push_back({row, -1, 0.0f, 0.0f});
    }
    const auto n = static_cast<std::int64_t>(proposals.size());
    for (std::int64_t at = 0; at < n; at += kBatchRows)
      tasks.push_back({at, std::min(kBatchRows, n - at), -1, -1});
    return n > 0;
  }
  // The centres of all clusters, which the sweep keeps up to date.
  typename CentreTraits<Rows>::All& table() { return centres_; }
  // Called after the rows of a block were decided, and after a row moved.
  void decided() {}
  void moved(std::int32_t, std::int32_t) {}
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
  // Called with the best other cluster of a row.
  void found(std::int64_t, std::int32_t) {}

 private:
  const Rows& rows_;
  const FullVisit& visit_;
  std::int64_t next_run_ = 0;
  typename CentreTraits<Rows>::All centres_;
};

// Compares every row with the neighbours of its cluster. Has the same interface as FullPolicy.
template <class Rows>
class CandidatePolicy {
 public:
  CandidatePolicy(const Rows& rows, const Partition& partition, CandidateVisit& visit, int n_threads)
      : visit_(visit),
        members_(sort_by_cluster(grouping(partition), partition.n_clusters, rows.n_rows())),
        entered_(static_cast<std::size_t>(partition.n_clusters), 0),
        table_(centre_table(rows, partition.n_clusters)) {
    gathered_.reserve(static_cast<std::size_t>(n_threads));
    for (int t = 0; t < n_threads; ++t)
      gathered_.push_back(gathered_centres(rows, partition.n_clusters, visit_.list_length));
  }

  bool collect(std::vector<Proposal>& proposals, std::vector<Task>& tasks) {
    // Maximum number of rows of a task, for which a thread gathers the centres once. A large
    // cluster is divided into several tasks, so that threads can share it.
    constexpr std::int64_t kTaskRows = 8 * kBatchRows;
    while (next_ < visit_.n_clusters &&
           static_cast<std::int64_t>(proposals.size()) < visit_.block_rows) {
      const std::int32_t c = visit_.order[next_];
      const std::int64_t begin = members_.start[static_cast<std::size_t>(c)] + n_taken_;
      const std::int64_t end = members_.start[static_cast<std::size_t>(c) + 1];
      if (begin == end || n_columns(c) == 0 || (n_taken_ == 0 && !begin_visit(c))) {
        ++next_;
        n_taken_ = 0;
        continue;
      }
      const std::int64_t count = std::min(kTaskRows, end - begin);
      tasks.push_back(
          {static_cast<std::int64_t>(proposals.size()), count, c, visit_.by_runner_up ? -1 : c});
      for (std::int64_t i = begin; i < begin + count; ++i)
        proposals.push_back({members_.rows[static_cast<std::size_t>(i)], -1, 0.0f, 0.0f});
      n_taken_ += count;
    }
    return !proposals.empty();
  }
  typename CentreTraits<Rows>::Table& table() { return table_; }
  void decided() { ++visit_.clock; }
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
  void found(std::int64_t row, std::int32_t best) {
    if (visit_.runners_up != nullptr && !visit_.by_runner_up) visit_.runners_up[row] = best;
  }

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
