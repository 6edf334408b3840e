// What a sweep asks for, block by block: which rows are next, and which clusters they look at. All
// clusters, or the candidates of a neighbourhood.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "partition/partition.hpp"
#include "scoring/centre_traits.hpp"
#include "support/rows_by_cluster.hpp"
#include "sweep/sweep.hpp"

namespace boostkmeans {

// Where a row would go, as far as is known when its block begins.
struct Proposal {
  std::int64_t row;
  std::int32_t target;  // -1: stay
  float norm;
  float regret;  // what going there costs more than staying, by the weight of the row
};

// Some proposals of a block that look at the same clusters: what one thread takes on at a time.
struct Task {
  std::int64_t first, count;
  std::int32_t list;  // whose neighbours they look at; -1: all clusters
  std::int32_t own;   // cluster of all these rows, or -1
};

// Every row looks at all clusters. Tells a sweep which rows are next, and what they look at.
template <class Rows>
class AllClusters {
 public:
  // `low`: rows are scored in low precision.
  AllClusters(const Rows& rows, const Partition& partition, const FullVisit& visit, bool low)
      : rows_(rows),
        visit_(visit),
        centres_(all_centres(rows, partition.n_clusters, low)) {}

  // The rows of the next block; false if there is none.
  bool collect(std::vector<Proposal>& proposals, std::vector<Task>& tasks) {
    while (next_run_ < visit_.n_runs &&
           static_cast<std::int64_t>(proposals.size()) < visit_.block_rows) {
      const std::int64_t begin = visit_.order[next_run_++] * visit_.run_rows;
      const std::int64_t end = std::min(begin + visit_.run_rows, rows_.n_rows());
      for (std::int64_t row = begin; row < end; ++row) proposals.push_back({row, -1, 0.0f, 0.0f});
    }
    const auto n = static_cast<std::int64_t>(proposals.size());
    for (std::int64_t at = 0; at < n; at += kPieceRows)
      tasks.push_back({at, std::min(kPieceRows, n - at), -1, -1});
    return n > 0;
  }
  // Where centres are kept, to be brought up to date.
  typename Kind<Rows>::All& table() { return centres_; }
  void decided() {}
  void moved(std::int32_t, std::int32_t) {}
  // What the rows of a list are scored against.
  typename Kind<Rows>::All& centres(std::int64_t, int) { return centres_; }
  // The cluster of a column in a list, and how many columns that has.
  std::int32_t cluster(std::int64_t, std::int64_t column) const {
    return static_cast<std::int32_t>(column);
  }
  std::int64_t n_columns(std::int64_t) const { return centres_.n_clusters(); }
  // The column of a cluster in a list, or -1 if it has none.
  std::int32_t column(std::int64_t, std::int32_t cluster) const { return cluster; }
  void found(std::int64_t, std::int32_t) {}

 private:
  const Rows& rows_;
  const FullVisit& visit_;
  std::int64_t next_run_ = 0;
  typename Kind<Rows>::All centres_;
};

// Every row looks at the neighbours of its cluster.
template <class Rows>
class Candidates {
 public:
  Candidates(const Rows& rows, const Partition& partition, CandidateVisit& visit, int n_threads)
      : visit_(visit),
        members_(sort_by_cluster(grouped_by(partition), partition.n_clusters, rows.n_rows())),
        entered_(static_cast<std::size_t>(partition.n_clusters), 0),
        table_(centre_table(rows, partition.n_clusters)) {
    for (int t = 0; t < n_threads; ++t)
      gathered_.push_back(gathered_centres(rows, partition.n_clusters, visit_.list_length));
  }

  bool collect(std::vector<Proposal>& proposals, std::vector<Task>& tasks) {
    // Rows that share one gathering of centres; a large cluster is shared between threads, and blocks.
    constexpr std::int64_t kTaskRows = 8 * kPieceRows;
    while (next_ < visit_.n_clusters &&
           static_cast<std::int64_t>(proposals.size()) < visit_.block_rows) {
      const std::int32_t c = visit_.order[next_];
      const std::int64_t begin = members_.start[static_cast<std::size_t>(c)] + taken_;
      const std::int64_t end = members_.start[static_cast<std::size_t>(c) + 1];
      if (begin == end || n_columns(c) == 0 || (taken_ == 0 && !begin_visit(c))) {
        ++next_;
        taken_ = 0;
        continue;
      }
      const std::int64_t count = std::min(kTaskRows, end - begin);
      tasks.push_back(
          {static_cast<std::int64_t>(proposals.size()), count, c, visit_.by_runner_up ? -1 : c});
      for (std::int64_t i = begin; i < begin + count; ++i)
        proposals.push_back({members_.rows[static_cast<std::size_t>(i)], -1, 0.0f, 0.0f});
      taken_ += count;
    }
    return !proposals.empty();
  }
  typename Kind<Rows>::Table& table() { return table_; }
  void decided() { ++visit_.clock; }
  void moved(std::int32_t from, std::int32_t to) {
    visit_.changed[from] = visit_.changed[to] = visit_.clock;
    // The row is not among the members that this sweep visits there: that takes another visit.
    visit_.visited[to] = -1;
    entered_[static_cast<std::size_t>(to)] = 1;
  }
  typename Kind<Rows>::Gathered& centres(std::int64_t owner, int thread) {
    Gathered& gathered = gathered_[static_cast<std::size_t>(thread)];
    gathered.gather(table_, list(owner), n_columns(owner));
    return gathered;
  }
  std::int32_t cluster(std::int64_t owner, std::int64_t column) const { return list(owner)[column]; }
  std::int64_t n_columns(std::int64_t owner) const {
    const std::int32_t* first = list(owner);
    return std::find(first, first + visit_.list_length, -1) - first;
  }
  std::int32_t column(std::int64_t owner, std::int32_t cluster) const {
    if (!visit_.by_runner_up) return -1;  // no cluster is in its own list
    const std::int32_t *first = list(owner), *last = first + visit_.list_length;
    const std::int32_t* at = std::find(first, last, cluster);
    return at == last ? -1 : static_cast<std::int32_t>(at - first);
  }
  void found(std::int64_t row, std::int32_t best) {
    if (visit_.runners_up != nullptr && !visit_.by_runner_up) visit_.runners_up[row] = best;
  }

 private:
  using Gathered = typename Kind<Rows>::Gathered;

  const std::int32_t* list(std::int64_t cluster) const {
    return visit_.lists + cluster * visit_.list_length;
  }

  const std::int32_t* grouped_by(const Partition& partition) const {
    return visit_.by_runner_up ? visit_.runners_up : partition.labels;
  }

  // Whether a cluster is to be visited; if so, it counts as visited from the first of its rows on.
  bool begin_visit(std::int64_t cluster) {
    if (visit_.by_runner_up) return true;
    if (!worth_a_visit(cluster)) return false;
    visit_.visited[cluster] = entered_[static_cast<std::size_t>(cluster)] ? -1 : visit_.clock;
    return true;
  }

  bool worth_a_visit(std::int64_t cluster) const {
    const std::int64_t last = visit_.visited[cluster];
    if (last < 0 || visit_.changed[cluster] >= last) return true;
    const std::int32_t* first = list(cluster);
    return std::any_of(first, first + n_columns(cluster),
                       [=, this](std::int32_t c) { return visit_.changed[c] >= last; });
  }

  CandidateVisit& visit_;
  Members members_;
  std::vector<unsigned char> entered_;  // clusters that rows entered in this sweep
  std::int64_t next_ = 0;               // cluster in the order ...
  std::int64_t taken_ = 0;              // ... and its rows that are in earlier blocks
  typename Kind<Rows>::Table table_;
  std::vector<Gathered> gathered_;  // by thread
};

}  // namespace boostkmeans
