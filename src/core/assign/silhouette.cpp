#include "assign/silhouette.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "assign/pair_tiles.hpp"
#include "partition/rows_by_cluster.hpp"
#include "rows/dense_rows.hpp"
#include "rows/sparse_rows.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

namespace {

// Number of columns whose distances to a tile are computed before they are added up: a multiple of the
// panel width of every kernel.
constexpr std::int64_t kColumnsAtOnce = 256;

template <class Rows>
class Silhouette {
 public:
  Silhouette(const Rows& rows, RowWeights row_weights, const std::int32_t* labels,
             std::int64_t n_clusters, const SilhouetteOptions& options, std::int64_t first,
             std::int64_t count, ThreadPool& pool)
      : rows_(rows),
        row_weights_(row_weights),
        labels_(labels),
        options_(options),
        first_(first),
        count_(count),
        pool_(pool),
        sorted_(sort_by_cluster(labels, n_clusters, rows.n_rows(), pool)),
        cluster_weights_(static_cast<std::size_t>(n_clusters), 0.0),
        block_(PairColumns<Rows>::suitable_count(rows, kColumnsAtOnce)),
        columns_(rows, std::min(block_, rows.n_rows() + kColumnsAtOnce), pool),
        states_(static_cast<std::size_t>(count)) {
    for (std::int64_t row = 0; row < rows.n_rows(); ++row)
      cluster_weights_[at(labels[row])] += row_weights[row];
    scratch_.reserve(at(pool.size()));
    for (int t = 0; t < pool.size(); ++t) scratch_.push_back(std::make_unique<ThreadScratch>(rows));
  }

  void run(double* out) {
    constexpr std::int64_t kRows = PairTile<Rows>::kRows;
    const std::int64_t n = rows_.n_rows();
    for (std::int64_t begin = 0; begin < n && !pool_.stop_token().stopped(); begin += block_) {
      const std::int64_t end = std::min(n, begin + block_);
      columns_.load(rows_, sorted_.rows.data() + begin, end - begin, pool_);
      pool_.for_each((count_ + kRows - 1) / kRows, [&](std::int64_t tile, int thread) {
        measure(tile * kRows, std::min(kRows, count_ - tile * kRows), begin, end, thread);
      });
    }
    for (std::int64_t i = 0; i < count_; ++i) out[i] = value(states_[at(i)]);
  }

 private:
  struct State {
    double sum = 0.0;   // of the weighted distances to the rows of the current cluster so far
    double own = -1.0;  // mean distance to the other rows of the own cluster; negative if there are none
    double other = std::numeric_limits<double>::infinity();  // smallest mean distance to another cluster
  };
  struct ThreadScratch {
    explicit ThreadScratch(const Rows& rows)
        : tile(rows),
          distances(PairTile<Rows>::kRows * kColumnsAtOnce) {}
    PairTile<Rows> tile;
    Buffer<double> distances;
  };

  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  // Adds the distances of `count` rows, starting with the row `from` of the range, to the columns
  // [begin, end) of all rows sorted by cluster.
  void measure(std::int64_t from, std::int64_t count, std::int64_t begin, std::int64_t end, int thread) {
    ThreadScratch& scratch = *scratch_[at(thread)];
    scratch.tile.load(first_ + from, count);
    for (std::int64_t c = begin; c < end; c += kColumnsAtOnce) {
      if (pool_.stop_token().stop_requested(thread)) return;
      const std::int64_t stop = std::min(end, c + kColumnsAtOnce);
      scratch.tile.squares(columns_, c - begin, stop - begin, scratch.distances.get(), kColumnsAtOnce);
      for (std::int64_t r = 0; r < count; ++r)
        add(first_ + from + r, states_[at(from + r)], scratch.distances.get() + r * kColumnsAtOnce, c,
            stop);
    }
  }

  // Adds the distances of a row to sorted rows [begin, end), given their squares.
  void add(std::int64_t row, State& state, double* values, std::int64_t begin, std::int64_t end) const {
    convert(row, values, begin, end);
    const auto& starts = sorted_.start;
    auto cluster = labels_[sorted_.rows[at(begin)]];
    for (std::int64_t c = begin; c < end; ++cluster) {
      const std::int64_t last = starts[at(cluster) + 1], stop = std::min(end, last);
      for (; c < stop; ++c) state.sum += row_weights_[sorted_.rows[at(c)]] * values[c - begin];
      if (c == last) complete(row, state, cluster);
    }
  }

  // Replaces squares by distances.
  void convert(std::int64_t row, double* values, std::int64_t begin, std::int64_t end) const {
    if (options_.cosine)
      for (std::int64_t i = 0; i < end - begin; ++i) values[i] *= 0.5;
    else
      rows_.kernel().take_roots(values, end - begin);
    const std::int64_t* ids = sorted_.rows.data();
    if (options_.additions != nullptr)
      for (std::int64_t c = begin; c < end; ++c)
        values[c - begin] += options_.additions[row] + options_.additions[ids[c]];
    // The row itself is among the rows of its cluster, which are in ascending order.
    const std::int64_t low = std::max(begin, sorted_.start[at(labels_[row])]);
    const std::int64_t high = std::min(end, sorted_.start[at(labels_[row]) + 1]);
    if (low >= high) return;
    const std::int64_t* own = std::lower_bound(ids + low, ids + high, row);
    if (own != ids + high && *own == row) values[own - ids - begin] = 0.0;
  }

  // All rows of a cluster have been added.
  void complete(std::int64_t row, State& state, std::int32_t cluster) const {
    const double weight = cluster_weights_[at(cluster)];
    if (cluster == labels_[row]) {
      const double others = weight - std::min(1.0, row_weights_[row]);
      if (others > kRounding * weight) state.own = state.sum / others;
    } else if (weight > 0.0) {
      state.other = std::min(state.other, state.sum / weight);
    }
    state.sum = 0.0;
  }

  static double value(const State& state) {
    const double larger = std::max(state.own, state.other);
    return state.own < 0.0 || !(larger > 0.0) ? 0.0 : (state.other - state.own) / larger;
  }

  // Share of the weight of a cluster below which the rest after a subtraction is rounding error.
  static constexpr double kRounding = 1e-12;

  const Rows& rows_;
  RowWeights row_weights_;
  const std::int32_t* labels_;
  SilhouetteOptions options_;
  std::int64_t first_, count_;
  ThreadPool& pool_;
  RowsByCluster sorted_;
  std::vector<double> cluster_weights_;
  std::int64_t block_;  // number of columns that are loaded at a time
  PairColumns<Rows> columns_;
  std::vector<State> states_;
  std::vector<std::unique_ptr<ThreadScratch>> scratch_;  // by thread
};

}  // namespace

template <class Rows>
void silhouette(const Rows& rows, RowWeights row_weights, const std::int32_t* labels,
                std::int64_t n_clusters, const SilhouetteOptions& options, std::int64_t first,
                std::int64_t count, double* out, ThreadPool& pool) {
  Silhouette<Rows>(rows, row_weights, labels, n_clusters, options, first, count, pool).run(out);
}

#define BK_INSTANTIATE(Rows)                                                           \
  template void silhouette(const Rows&, RowWeights, const std::int32_t*, std::int64_t, \
                           const SilhouetteOptions&, std::int64_t, std::int64_t, double*, ThreadPool&)
BK_INSTANTIATE(DenseRows);
BK_INSTANTIATE(SparseRows);
#undef BK_INSTANTIATE

}  // namespace boostkmeans
