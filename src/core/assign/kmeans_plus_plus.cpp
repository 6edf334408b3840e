#include "assign/kmeans_plus_plus.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "assign/seed_columns.hpp"
#include "scoring/row_batch.hpp"
#include "support/random.hpp"

namespace boostkmeans {

namespace {

// Number of rows whose potentials are summed as one group. It is fixed, so that the draws do not depend
// on the number of threads.
constexpr std::int64_t kGroupRows = 32 * kBatchRows;
// Number of rows per batch. There is little to compute for each row, so memory bandwidth is the
// bottleneck. Short batches and early prefetching overlap memory access and computation.
constexpr std::int64_t kSeedRows = 24;
constexpr std::int64_t kRowsAhead = 2 * kSeedRows;
// Draws may be rejected (see draw_fresh). After this many rejections, another pass updates the
// potentials instead.
constexpr int kMaxRejections = 256;

// Memory of rows to prefetch, see Kernel::seed. Sparse rows are prefetched when they are loaded.
std::pair<const char*, std::int64_t> ahead_of(const DenseRows& rows, std::int64_t first,
                                              std::int64_t count) {
  return rows.extent(first, count);
}
std::pair<const char*, std::int64_t> ahead_of(const SparseRows&, std::int64_t, std::int64_t) {
  return {nullptr, 0};
}

template <class Rows>
class PlusPlus {
 public:
  PlusPlus(const Rows& rows, RowWeights row_weights, std::int64_t n_trials, std::uint64_t seed,
           std::int32_t* labels, ThreadPool& pool)
      : rows_(rows),
        row_weights_(row_weights),
        n_trials_(n_trials),
        random_(seed),
        labels_(labels),
        pool_(pool),
        n_groups_((rows.n_rows() + kGroupRows - 1) / kGroupRows),
        columns_(rows, n_trials + 1),
        potentials_(n_groups_ * columns_.padded()),
        batch_potentials_(pool.size() * columns_.padded()),
        groups_(static_cast<std::size_t>(n_groups_)),
        closest_(rows.n_rows()),
        last_(rows),
        drawn_(rows),
        candidates_(static_cast<std::size_t>(n_trials)) {
    std::fill_n(closest_.get(), rows.n_rows(), std::numeric_limits<float>::infinity());
    batches_.reserve(static_cast<std::size_t>(pool.size()));
    for (int t = 0; t < pool.size(); ++t) batches_.push_back(std::make_unique<RowBatch<Rows>>(rows));
  }

  void run(std::int64_t n_clusters, std::int64_t* chosen) {
    chosen[0] = draw_by_weight();
    apply(chosen[0], 0);
    for (std::int64_t c = 1; c < n_clusters && !pool_.stop_token().stopped(); ++c) {
      draw_candidates(chosen[c - 1], static_cast<std::int32_t>(c - 1));
      pass(columns_.n_panels(), static_cast<std::int32_t>(c - 1));
      chosen[c] = candidates_[static_cast<std::size_t>(best_candidate())];
      settle(chosen[c - 1]);
    }
    apply(chosen[n_clusters - 1], static_cast<std::int32_t>(n_clusters - 1));
  }

 private:
  double potential(std::int64_t row) const { return row_weights_[row] * closest_[row]; }

  // Updates `closest_` and the labels with column 0, the centre chosen last, and sums the potential that
  // each column of the first n_panels panels would leave.
  void pass(std::int64_t n_panels, std::int32_t label) {
    pool_.for_each(n_groups_, [&](std::int64_t g, int thread) {
      std::vector<double> sums(static_cast<std::size_t>(columns_.padded()), 0.0);
      const std::int64_t end = std::min(rows_.n_rows(), (g + 1) * kGroupRows);
      for (std::int64_t first = g * kGroupRows; first < end; first += kSeedRows)
        pass_batch(first, std::min(kSeedRows, end - first), n_panels, label, thread, sums);
      std::copy(sums.begin(), sums.end(), potentials_.get() + g * columns_.padded());
      groups_[static_cast<std::size_t>(g)] = sums[0];
    });
  }

  void pass_batch(std::int64_t first, std::int64_t count, std::int64_t n_panels, std::int32_t label,
                  int thread, std::vector<double>& sums) {
    RowBatch<Rows>& batch = *batches_[static_cast<std::size_t>(thread)];
    batch.load(count, [=](std::int64_t r) { return first + r; });
    const std::int64_t next = first + kRowsAhead;
    const auto [ahead, ahead_bytes] = ahead_of(rows_, next, std::min(count, rows_.n_rows() - next));
    if (row_weights_)
      for (std::int64_t r = 0; r < count; ++r)
        batch.weight(r) = static_cast<float>(row_weights_[first + r]);
    float* potentials = batch_potentials_.get() + thread * columns_.padded();
    std::fill_n(potentials, columns_.padded(), 0.0f);
    columns_.prepare(batch, n_panels);
    unsigned char taken[kBatchRows];
    rows_.kernel().seed(batch.view(), columns_.values(), columns_.norms(), n_panels, count, ahead,
                        ahead_bytes, closest_.get() + first, taken, potentials);
    for (std::int64_t r = 0; r < count; ++r)
      if (taken[r] != 0) labels_[first + r] = label;
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(potentials[i]);
  }

  // Updates `closest_`, labels and potentials with a chosen row, without candidates.
  void apply(std::int64_t row, std::int32_t label) {
    set_last(row);
    pass(1, label);
    settle(row);
  }

  void set_last(std::int64_t row) {
    rows_.fetch(row, last_);
    columns_.set(0, last_);
  }

  // Sets the distance of a chosen row to 0. The distance computed in float32 may differ from 0.
  void settle(std::int64_t row) {
    groups_[static_cast<std::size_t>(row / kGroupRows)] -= potential(row);
    closest_[row] = 0.0f;
  }

  // Draws a row with probability proportional to its weight.
  std::int64_t draw_by_weight() {
    if (!row_weights_) return random_below(random_.bits(), rows_.n_rows());
    double total = 0.0;
    for (std::int64_t row = 0; row < rows_.n_rows(); ++row) total += row_weights_[row];
    double left = random_.uniform() * total;
    std::int64_t last = 0;
    for (std::int64_t row = 0; row < rows_.n_rows(); ++row) {
      if (row_weights_[row] <= 0.0) continue;
      last = row;
      left -= row_weights_[row];
      if (left < 0.0) break;
    }
    return last;
  }

  // Draws a row with probability proportional to its potential after the last pass, or returns -1 if all
  // potentials are 0.
  std::int64_t draw() {
    double total = 0.0;
    for (const double sum : groups_) total += std::max(sum, 0.0);
    if (!(total > 0.0)) return -1;
    double left = random_.uniform() * total;
    std::int64_t group = -1;
    for (std::int64_t g = 0; g < n_groups_; ++g) {
      const double sum = std::max(groups_[static_cast<std::size_t>(g)], 0.0);
      if (sum <= 0.0) continue;
      group = g;
      if (left < sum) break;
      left -= sum;
    }
    return draw_within(group, left);
  }

  std::int64_t draw_within(std::int64_t group, double left) const {
    const std::int64_t begin = group * kGroupRows;
    const std::int64_t end = std::min(rows_.n_rows(), begin + kGroupRows);
    std::int64_t last = -1;
    for (std::int64_t row = begin; row < end; ++row) {
      const double mass = potential(row);
      if (mass <= 0.0) continue;
      last = row;
      left -= mass;
      if (left < 0.0) break;
    }
    return last;
  }

  // Draws a row by its potential with respect to all chosen centres. The stored potentials do not
  // include the centre chosen last: the next pass includes it and compares the candidates at the
  // same time. A row is therefore drawn by the stored potentials and accepted with probability new
  // / old. Returns -1 after too many rejections.
  std::int64_t draw_fresh() {
    for (int i = 0; i < kMaxRejections; ++i) {
      const std::int64_t row = draw();
      if (row < 0) return -1;
      rows_.fetch(row, drawn_);
      const double fresh = rows_.distance_between(drawn_, last_);
      if (random_.uniform() * static_cast<double>(closest_[row]) < fresh) return row;
    }
    return -1;
  }

  // Draws the candidates for the next centre and sets the columns.
  void draw_candidates(std::int64_t last, std::int32_t label) {
    set_last(last);
    bool fresh = false;
    for (std::int64_t trial = 0; trial < n_trials_; ++trial) {
      std::int64_t row = fresh ? draw() : draw_fresh();
      if (row < 0 && !fresh) {
        apply(last, label);
        fresh = true;
        row = draw();
      }
      if (row < 0) row = draw_by_weight();  // all rows coincide with centres
      candidates_[static_cast<std::size_t>(trial)] = row;
      rows_.fetch(row, drawn_);
      columns_.set(trial + 1, drawn_);
    }
  }

  // The candidate that leaves the smallest potential.
  std::int64_t best_candidate() const {
    std::int64_t best = 0;
    double lowest = std::numeric_limits<double>::infinity();
    for (std::int64_t trial = 0; trial < n_trials_; ++trial) {
      double sum = 0.0;
      for (std::int64_t g = 0; g < n_groups_; ++g) sum += potentials_[g * columns_.padded() + trial + 1];
      if (sum < lowest) lowest = sum, best = trial;
    }
    return best;
  }

  const Rows& rows_;
  RowWeights row_weights_;
  std::int64_t n_trials_;
  Random random_;
  std::int32_t* labels_;
  ThreadPool& pool_;
  std::int64_t n_groups_;
  SeedColumns<Rows> columns_;
  Buffer<double> potentials_;       // by group and column, after the last pass
  Buffer<float> batch_potentials_;  // by thread and column
  std::vector<double> groups_;      // potential of each group: sum of weight * closest
  Buffer<float> closest_;           // by row: squared distance to the nearest chosen centre
  typename Rows::Row last_, drawn_;
  std::vector<std::int64_t> candidates_;
  std::vector<std::unique_ptr<RowBatch<Rows>>> batches_;
};

}  // namespace

template <class Rows>
void plus_plus(const Rows& rows, RowWeights row_weights, std::int64_t n_clusters, std::int64_t n_trials,
               std::uint64_t seed, std::int64_t* chosen, std::int32_t* labels, ThreadPool& pool) {
  PlusPlus<Rows>(rows, row_weights, n_trials, seed, labels, pool).run(n_clusters, chosen);
}

#define BK_INSTANTIATE(Rows)                                                                  \
  template void plus_plus(const Rows&, RowWeights, std::int64_t, std::int64_t, std::uint64_t, \
                          std::int64_t*, std::int32_t*, ThreadPool&)
BK_INSTANTIATE(DenseRows);
BK_INSTANTIATE(SparseRows);
#undef BK_INSTANTIATE

}  // namespace boostkmeans
