#include "assign/approximate.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "partition/rows_by_cluster.hpp"
#include "rows/thread_rows.hpp"
#include "scoring/centre_traits.hpp"
#include "scoring/row_batch.hpp"
#include "search/batch_search.hpp"

namespace boostkmeans {

namespace {

// Number of rows of a task, for which a thread gathers the centres of a group once.
constexpr std::int64_t kTaskRows = 8 * kBatchRows;

struct Task {
  std::int64_t group, begin, end;
};

// Calls body(first, last) for the centres of each group in a list.
template <class Body>
void each_listed(const Groups& groups, std::int64_t group, Body body) {
  for (std::int64_t i = 0; i < groups.list_length; ++i) {
    const std::int32_t g = groups.lists[group * groups.list_length + i];
    if (g >= 0) body(groups.order + groups.starts[g], groups.order + groups.starts[g + 1]);
  }
}

std::vector<Task> tasks_of(const RowsByCluster& members) {
  std::vector<Task> tasks;
  for (std::size_t g = 0; g + 1 < members.start.size(); ++g)
    for (std::int64_t at = members.start[g]; at < members.start[g + 1]; at += kTaskRows)
      tasks.push_back(
          {static_cast<std::int64_t>(g), at, std::min(at + kTaskRows, members.start[g + 1])});
  return tasks;
}

// A visit of rows, group by group, with the centres that are listed for their group.
template <class Rows>
class GroupVisit {
 public:
  GroupVisit(const Rows& rows, const double* centres, std::int64_t n_clusters, std::int32_t* row_groups,
             const Groups& groups, ThreadPool& pool)
      : rows_(rows),
        centres_(centres),
        groups_(groups),
        pool_(pool),
        composite_norms_(rows, centres, n_clusters, pool),
        table_(centre_table(rows, n_clusters)),
        members_(sort_by_cluster(row_groups, groups.n_groups, rows.n_rows(), pool)) {
    fill_term_rows(table_, centres, false, pool);
    pool.for_each(n_clusters, [&](std::int64_t c, int) {
      set_centre(table_, c, centre(c).composite, 1.0, composite_norms_.at(c));
    });
    std::int64_t max_centres = 1;
    for (std::int64_t g = 0; g < groups.n_groups; ++g) {
      std::int64_t n = 0;
      each_listed(groups, g,
                  [&](const std::int32_t* first, const std::int32_t* last) { n += last - first; });
      max_centres = std::max(max_centres, n);
    }
    scratch_.reserve(static_cast<std::size_t>(pool.size()));
    for (int t = 0; t < pool.size(); ++t)
      scratch_.push_back(std::make_unique<ThreadScratch>(rows, n_clusters, max_centres));
  }

  // Calls search(thread, ids, count, gathered, list) for batches of rows. Column i of the gathered
  // centres is centre list[i]. The search returns false if a stop was requested.
  template <class Search>
  void run(Search search) {
    const std::vector<Task> tasks = tasks_of(members_);
    pool_.for_each(static_cast<std::int64_t>(tasks.size()), [&](std::int64_t i, int thread) {
      const Task& task = tasks[static_cast<std::size_t>(i)];
      ThreadScratch& scratch = *scratch_[static_cast<std::size_t>(thread)];
      scratch.list.clear();
      each_listed(groups_, task.group, [&](const std::int32_t* first, const std::int32_t* last) {
        scratch.list.insert(scratch.list.end(), first, last);
      });
      const auto n_listed = static_cast<std::int64_t>(scratch.list.size());
      scratch.gathered.gather(table_, scratch.list.data(), n_listed);
      for (std::int64_t at = task.begin; at < task.end; at += kBatchRows)
        if (!search(thread, members_.rows.data() + at, std::min(kBatchRows, task.end - at),
                    scratch.gathered, scratch.list.data()))
          return;
    });
  }

  Centre centre(std::int64_t cluster) const {
    return {centres_ + cluster * rows_.n_features(), 1.0, composite_norms_.at(cluster)};
  }

 private:
  struct ThreadScratch {
    ThreadScratch(const Rows& rows, std::int64_t n_clusters, std::int64_t max_centres)
        : gathered(gathered_centres(rows, n_clusters, max_centres)) {}
    typename CentreTraits<Rows>::Gathered gathered;
    std::vector<std::int32_t> list;
  };

  const Rows& rows_;
  const double* centres_;
  const Groups& groups_;
  ThreadPool& pool_;
  const CompositeNorms<Rows> composite_norms_;
  typename CentreTraits<Rows>::Table table_;
  const RowsByCluster members_;
  std::vector<std::unique_ptr<ThreadScratch>> scratch_;  // by thread
};

// Returns one object per thread, made from these arguments.
template <class PerThread, class... Arguments>
std::vector<std::unique_ptr<PerThread>> for_each_thread(const ThreadPool& pool,
                                                        const Arguments&... arguments) {
  std::vector<std::unique_ptr<PerThread>> made;
  made.reserve(static_cast<std::size_t>(pool.size()));
  for (int t = 0; t < pool.size(); ++t) made.push_back(std::make_unique<PerThread>(arguments...));
  return made;
}

}  // namespace

template <class Rows>
void nearest_in_groups(const Rows& rows, const double* centres, std::int64_t n_clusters,
                       std::int32_t* row_groups, const Groups& groups, std::int32_t* labels,
                       ThreadPool& pool) {
  GroupVisit<Rows> visit(rows, centres, n_clusters, row_groups, groups, pool);
  const auto batches = for_each_thread<RowBatch<Rows>>(pool, rows);
  visit.run([&](int thread, const std::int64_t* ids, std::int64_t count, auto& gathered,
                const std::int32_t* list) {
    RowBatch<Rows>& batch = *batches[static_cast<std::size_t>(thread)];
    batch.load(count, [=](std::int64_t r) { return ids[r]; });
    if (!batch.scan(Rule::nearest, false, gathered, pool.stop_token(), thread)) return false;
    for (std::int64_t r = 0; r < count; ++r) labels[ids[r]] = list[std::max(0, batch.index(r))];
    return true;
  });
}

template <class Rows>
void nearest_many_in_groups(const Rows& rows, const double* centres, std::int64_t n_clusters,
                            std::int32_t* row_groups, const Groups& groups, std::int64_t n,
                            std::int32_t* labels, double* distances, ThreadPool& pool) {
  GroupVisit<Rows> visit(rows, centres, n_clusters, row_groups, groups, pool);
  const auto searches = for_each_thread<BatchSearch<Rows>>(pool, rows, n);
  visit.run([&](int thread, const std::int64_t* ids, std::int64_t count, auto& gathered,
                const std::int32_t* list) {
    BatchSearch<Rows>& search = *searches[static_cast<std::size_t>(thread)];
    search.load(count, [=](std::int64_t r) { return ids[r]; });
    for (std::int64_t r = 0; r < count; ++r) search.found[static_cast<std::size_t>(r)].clear();
    if (!search.compare(
            gathered, [&](std::int64_t i) { return visit.centre(list[i]); },
            [=](std::int64_t i) { return list[i]; }, pool.stop_token(), thread))
      return false;
    for (std::int64_t r = 0; r < count; ++r)
      search.found[static_cast<std::size_t>(r)].write(labels + ids[r] * n, distances + ids[r] * n);
    return true;
  });
}

template <class Rows>
void descend(const Rows& rows, const std::int32_t* children, std::int64_t n_nodes,
             std::int64_t n_sections, const double* centres, std::int32_t* leaves, ThreadPool& pool) {
  const std::int64_t d = rows.n_features();
  constexpr std::int64_t kDescendRows = 64;  // per task
  const CompositeNorms<Rows> composite_norms(rows, centres, n_nodes, pool);
  auto fetched = row_for_each_thread(rows, pool);
  pool.for_each((rows.n_rows() + kDescendRows - 1) / kDescendRows, [&](std::int64_t task, int thread) {
    typename Rows::Row& x = fetched[static_cast<std::size_t>(thread)];
    const std::int64_t end = std::min(rows.n_rows(), (task + 1) * kDescendRows);
    for (std::int64_t row = task * kDescendRows; row < end; ++row) {
      rows.fetch(row, x);
      std::int32_t node = 0;
      while (children[node * n_sections] >= 0) {
        double best = std::numeric_limits<double>::infinity();
        std::int32_t next = children[node * n_sections];
        for (std::int64_t s = 0; s < n_sections; ++s) {
          const std::int32_t child = children[node * n_sections + s];
          if (child < 0) break;
          const double distance =
              rows.distance(x, {centres + child * d, 1.0, composite_norms.at(child)});
          if (distance < best) best = distance, next = child;
        }
        node = next;
      }
      leaves[row] = node;
    }
  });
}

#define BK_INSTANTIATE(Rows)                                                                         \
  template void nearest_in_groups(const Rows&, const double*, std::int64_t, std::int32_t*,           \
                                  const Groups&, std::int32_t*, ThreadPool&);                        \
  template void nearest_many_in_groups(const Rows&, const double*, std::int64_t, std::int32_t*,      \
                                       const Groups&, std::int64_t, std::int32_t*, double*,          \
                                       ThreadPool&);                                                 \
  template void descend(const Rows&, const std::int32_t*, std::int64_t, std::int64_t, const double*, \
                        std::int32_t*, ThreadPool&)
BK_INSTANTIATE(DenseRows);
BK_INSTANTIATE(SparseRows);
#undef BK_INSTANTIATE

}  // namespace boostkmeans
