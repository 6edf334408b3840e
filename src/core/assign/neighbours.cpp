#include "assign/neighbours.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "rows/dense_rows.hpp"
#include "scoring/packed_centres.hpp"
#include "scoring/row_batch.hpp"

namespace boostkmeans {

namespace {

// Number of panels that are scored before their scores are examined. The scores must fit into the
// cache.
constexpr std::int64_t kPanelsAtOnce = 16;

// The n smallest scores of a stream, and their columns. Collects scores below a threshold, which falls
// whenever the buffer is full.
class SmallestScores {
 public:
  explicit SmallestScores(std::int64_t n) : n_(static_cast<std::size_t>(n)), found_(2 * n_ + kChunk) {}

  void clear() {
    size_ = 0;
    threshold_ = std::numeric_limits<float>::infinity();
  }
  // Adds the scores of columns [first, first + count).
  void add(const float* values, std::int64_t first, std::int64_t count) {
    for (std::int64_t begin = 0; begin < count; begin += static_cast<std::int64_t>(kChunk)) {
      const std::int64_t end = std::min(count, begin + static_cast<std::int64_t>(kChunk));
      std::size_t size = size_;
      for (std::int64_t i = begin; i < end; ++i) {  // without a branch, which would be hard to predict
        found_[size] = {values[i], static_cast<std::int32_t>(first + i)};
        size += values[i] < threshold_ ? 1 : 0;
      }
      size_ = size;
      if (size_ > 2 * n_) shrink();
    }
  }
  void add_one(float value, std::int32_t column) {
    if (!(value < threshold_)) return;
    found_[size_++] = {value, column};
    if (size_ > 2 * n_) shrink();
  }
  // Smallest first, with ties in the order of columns. Only the first size() entries are valid.
  const std::vector<std::pair<float, std::int32_t>>& sorted() {
    if (size_ > n_) shrink();
    std::sort(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(size_));
    return found_;
  }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kChunk = 64;

  void shrink() {
    std::nth_element(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(n_ - 1),
                     found_.begin() + static_cast<std::ptrdiff_t>(size_));
    threshold_ = found_[n_ - 1].first;
    size_ = n_;
  }

  std::size_t n_, size_ = 0;
  std::vector<std::pair<float, std::int32_t>> found_;
  float threshold_ = std::numeric_limits<float>::infinity();
};

class Neighbours {
 public:
  Neighbours(const Kernel& kernel, const double* centres, std::int64_t n_clusters,
             std::int64_t n_features, const Groups& groups, std::int64_t n_neighbours,
             const std::int32_t* previous, std::int32_t* out, ThreadPool& pool)
      : kernel_(kernel),
        centres_(centres),
        n_clusters_(n_clusters),
        n_features_(n_features),
        groups_(groups),
        n_neighbours_(n_neighbours),
        previous_(previous),
        out_(out),
        pool_(pool),
        rows_(kernel, source(centres, n_features), n_clusters,
              std::vector<double>(static_cast<std::size_t>(n_features), 0.0), 0, nullptr),
        packed_(kernel, pad(), n_features),
        cluster_at_(static_cast<std::size_t>(packed_.n_panels() * kernel.panel_width), -1),
        column_of_(static_cast<std::size_t>(previous == nullptr ? 0 : n_clusters), -1),
        group_of_(column_of_) {}

  void run() {
    pool_.for_each(groups_.n_groups, [this](std::int64_t g, int) { pack_group(g); });
    std::vector<std::unique_ptr<ThreadScratch>> scratch_by_thread;
    scratch_by_thread.reserve(static_cast<std::size_t>(pool_.size()));
    for (int t = 0; t < pool_.size(); ++t)
      scratch_by_thread.push_back(std::make_unique<ThreadScratch>(
          rows_, kernel_, n_neighbours_, previous_ == nullptr ? 0 : n_clusters_,
          previous_ == nullptr ? 0 : groups_.n_groups));
    // group, position of the first row in the order
    std::vector<std::pair<std::int64_t, std::int64_t>> batches;
    for (std::int64_t g = 0; g < groups_.n_groups; ++g)
      for (std::int64_t at = groups_.starts[g]; at < groups_.starts[g + 1]; at += kBatchRows)
        batches.emplace_back(g, at);
    pool_.for_each(static_cast<std::int64_t>(batches.size()), [&](std::int64_t i, int thread) {
      const auto [group, first] = batches[static_cast<std::size_t>(i)];
      search(group, first, *scratch_by_thread[static_cast<std::size_t>(thread)]);
    });
  }

 private:
  struct ThreadScratch {
    ThreadScratch(const DenseRows& rows, const Kernel& kernel, std::int64_t n_neighbours,
                  std::int64_t n_clusters, std::int64_t n_groups)
        : batch(rows),
          scores(kBatchRows * kPanelsAtOnce * kernel.panel_width),
          searched(static_cast<std::size_t>(n_groups), -1),
          compared(static_cast<std::size_t>(n_clusters), -1) {
      // One more than requested, because each centre also finds itself.
      smallest.reserve(static_cast<std::size_t>(kBatchRows));
      for (std::int64_t r = 0; r < kBatchRows; ++r) smallest.emplace_back(n_neighbours + 1);
    }
    RowBatch<DenseRows> batch;
    Buffer<float> scores;
    std::vector<SmallestScores> smallest;
    std::vector<std::int32_t> searched;  // by group: the last group whose search included it
    std::vector<std::int32_t> compared;  // by centre: the last centre that it was compared with
    std::vector<std::int32_t> others;    // centres to compare
  };

  static StridedArray source(const double* centres, std::int64_t n_features) {
    return {reinterpret_cast<const char*>(centres), n_features * 8, 8, n_features, Scalar::float64};
  }

  // Assigns panels to groups, such that each group starts with a new panel. Returns the number of
  // columns.
  std::int64_t pad() {
    const std::int64_t width = kernel_.panel_width;
    panels_.push_back(0);
    for (std::int64_t g = 0; g < groups_.n_groups; ++g)
      panels_.push_back(panels_.back() +
                        (groups_.starts[g + 1] - groups_.starts[g] + width - 1) / width);
    return std::max<std::int64_t>(1, panels_.back()) * width;
  }

  void pack_group(std::int64_t group) {
    const std::int64_t first = panels_[static_cast<std::size_t>(group)] * kernel_.panel_width;
    const std::int64_t end = panels_[static_cast<std::size_t>(group) + 1] * kernel_.panel_width;
    const std::int64_t count = groups_.starts[group + 1] - groups_.starts[group];
    for (std::int64_t i = 0; i < end - first; ++i) {
      if (i >= count) {
        packed_.set_never(first + i);
        continue;
      }
      const std::int32_t c = groups_.order[groups_.starts[group] + i];
      packed_.set(first + i, centres_ + c * n_features_, 1.0);
      cluster_at_[static_cast<std::size_t>(first + i)] = c;
      if (previous_ != nullptr) {
        column_of_[static_cast<std::size_t>(c)] = static_cast<std::int32_t>(first + i);
        group_of_[static_cast<std::size_t>(c)] = static_cast<std::int32_t>(group);
      }
    }
  }

  void search(std::int64_t group, std::int64_t first, ThreadScratch& scratch) {
    const std::int64_t count = std::min(kBatchRows, groups_.starts[group + 1] - first);
    scratch.batch.load(count, [&](std::int64_t r) { return groups_.order[first + r]; });
    for (std::int64_t r = 0; r < count; ++r) scratch.smallest[static_cast<std::size_t>(r)].clear();
    for (std::int64_t i = 0; i < groups_.list_length; ++i) {
      const std::int32_t other = groups_.lists[group * groups_.list_length + i];
      if (other < 0) continue;
      search_group(other, count, scratch);
      if (previous_ != nullptr)
        scratch.searched[static_cast<std::size_t>(other)] = static_cast<std::int32_t>(group);
    }
    if (previous_ != nullptr)
      for (std::int64_t r = 0; r < count; ++r) search_previous(group, first + r, r, scratch);
    for (std::int64_t r = 0; r < count; ++r)
      write(groups_.order[first + r], scratch.smallest[static_cast<std::size_t>(r)]);
  }

  // Compares a centre with its earlier neighbours and with theirs. Together with groups that differ
  // from search to search, this finds more and more of the nearest centres.
  void search_previous(std::int64_t group, std::int64_t at, std::int64_t r, ThreadScratch& scratch) {
    // Number of nearest neighbours whose neighbours are compared, too, and the number of these.
    constexpr std::int64_t kThrough = 8, kFurther = 16;
    const std::int32_t cluster = groups_.order[at];
    scratch.compared[static_cast<std::size_t>(cluster)] = cluster;
    scratch.others.clear();
    collect(group, cluster, cluster, n_neighbours_, scratch);
    const std::int32_t* own = previous_ + cluster * n_neighbours_;
    for (std::int64_t i = 0; i < std::min(kThrough, n_neighbours_) && own[i] >= 0; ++i)
      collect(group, cluster, own[i], std::min(kFurther, n_neighbours_), scratch);
    const double* x = centres_ + cluster * n_features_;
    for (std::size_t i = 0; i < scratch.others.size(); ++i) {
      if (i + 2 < scratch.others.size()) prefetch(scratch.others[i + 2]);
      const std::int32_t other = scratch.others[i];
      const double distance = kernel_.distance(x, centres_ + other * n_features_, 1.0, n_features_);
      scratch.smallest[static_cast<std::size_t>(r)].add_one(static_cast<float>(distance),
                                                            column_of_[static_cast<std::size_t>(other)]);
    }
  }

  // Adds the first centres of an earlier list to `others`, except for those in searched groups.
  void collect(std::int64_t group, std::int32_t cluster, std::int32_t list, std::int64_t count,
               ThreadScratch& scratch) const {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int32_t other = previous_[list * n_neighbours_ + i];
      if (other < 0) return;
      const auto o = static_cast<std::size_t>(other);
      if (scratch.compared[o] == cluster) continue;
      scratch.compared[o] = cluster;
      if (scratch.searched[static_cast<std::size_t>(group_of_[o])] != group)
        scratch.others.push_back(other);
    }
  }

  // The centres of a list are scattered in memory.
  void prefetch(std::int32_t cluster) const {
    constexpr std::int64_t kLine = 8;  // values per cache line
    const double* centre = centres_ + cluster * n_features_;
    for (std::int64_t j = 0; j < n_features_; j += kLine) __builtin_prefetch(centre + j);
  }

  void search_group(std::int64_t group, std::int64_t count, ThreadScratch& scratch) {
    const std::int64_t end = panels_[static_cast<std::size_t>(group) + 1];
    const std::int64_t width = kernel_.panel_width, stride = kPanelsAtOnce * width;
    for (std::int64_t p = panels_[static_cast<std::size_t>(group)]; p < end; p += kPanelsAtOnce) {
      const std::int64_t stop = std::min(end, p + kPanelsAtOnce);
      kernel_.score(scratch.batch.view(), packed_.view(), p, stop, scratch.scores.get(), stride);
      for (std::int64_t r = 0; r < count; ++r)
        scratch.smallest[static_cast<std::size_t>(r)].add(scratch.scores.get() + r * stride, p * width,
                                                          (stop - p) * width);
    }
  }

  void write(std::int32_t cluster, SmallestScores& smallest) const {
    std::int32_t* out = out_ + cluster * n_neighbours_;
    std::int64_t n = 0;
    const auto& found = smallest.sorted();
    for (std::size_t i = 0; i < smallest.size() && n < n_neighbours_; ++i) {
      const std::int32_t other = cluster_at_[static_cast<std::size_t>(found[i].second)];
      if (other != cluster) out[n++] = other;
    }
    std::fill(out + n, out + n_neighbours_, -1);
  }

  const Kernel& kernel_;
  const double* centres_;
  std::int64_t n_clusters_, n_features_;
  const Groups& groups_;
  std::int64_t n_neighbours_;
  const std::int32_t* previous_;  // null if there are no earlier lists
  std::int32_t* out_;
  ThreadPool& pool_;
  DenseRows rows_;
  std::vector<std::int64_t> panels_;  // by group: its first panel
  PackedCentres packed_;
  std::vector<std::int32_t> cluster_at_;            // by column: its centre, or -1
  std::vector<std::int32_t> column_of_, group_of_;  // by centre; empty without earlier lists
};

}  // namespace

void neighbours(const Kernel& kernel, const double* centres, std::int64_t n_clusters,
                std::int64_t n_features, const Groups& groups, std::int64_t n_neighbours,
                const std::int32_t* previous, std::int32_t* out, ThreadPool& pool) {
  Neighbours(kernel, centres, n_clusters, n_features, groups, n_neighbours, previous, out, pool).run();
}

void pair_distances(const Kernel& kernel, const double* composites, const double* weights,
                    std::int64_t n_features, const std::int64_t* a, const std::int64_t* b,
                    std::int64_t n_pairs, double* out, ThreadPool& pool) {
  const auto weight = [=](std::int64_t c) { return weights[c] > 0.0 ? weights[c] : 1.0; };
  pool.for_each(n_pairs, [&](std::int64_t i, int) {
    const double u = weight(a[i]), v = weight(b[i]);
    const double scaled = kernel.distance(composites + a[i] * n_features, composites + b[i] * n_features,
                                          u / v, n_features);
    out[i] = scaled / (u * u);
  });
}

}  // namespace boostkmeans
