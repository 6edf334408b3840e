#include "criteria/criterion_sweep.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "criteria/cluster_states.hpp"
#include "rows/thread_rows.hpp"

namespace boostkmeans {

namespace {

template <class Rows, class Criterion>
class CriterionSweep {
 public:
  CriterionSweep(const Rows& rows, RowWeights row_weights, const TermComposites& composites,
                 ThreadPool& pool)
      : rows_(rows),
        row_weights_(row_weights),
        composites_(composites),
        pool_(pool),
        states_(composites, pool),
        fetched_(row_for_each_thread(rows, pool)),
        dots_(static_cast<std::size_t>(pool.size()),
              std::vector<double>(static_cast<std::size_t>(composites.n_clusters))) {}

  CriterionSweepResult run(const CriterionVisit& visit) {
    for (std::int64_t begin = 0; begin < visit.n_rows; begin += visit.block_rows) {
      const std::int64_t count = std::min(visit.block_rows, visit.n_rows - begin);
      propose(visit.order + begin, count);
      if (pool_.stop_token().stopped()) break;  // the proposals of the block are incomplete
      result_.evaluations += count * composites_.n_clusters;
      decide(visit.order + begin, count);
      if (pool_.stop_token().stopped()) break;
    }
    result_.sums = states_.sums();
    return result_;
  }

 private:
  // Number of rows that a thread takes at a time.
  static constexpr std::int64_t kRowsPerItem = 16;
  static constexpr std::int64_t kDecisionsBetweenPolls = 256;
  static constexpr std::int32_t kNowhere = -1;

  // Finds the best other cluster of each row.
  void propose(const std::int64_t* order, std::int64_t count) {
    targets_.resize(static_cast<std::size_t>(count));
    pool_.for_each((count + kRowsPerItem - 1) / kRowsPerItem, [&](std::int64_t item, int thread) {
      const std::int64_t end = std::min(count, (item + 1) * kRowsPerItem);
      for (std::int64_t i = item * kRowsPerItem; i < end; ++i)
        targets_[static_cast<std::size_t>(i)] = best_target(order[i], thread);
    });
  }

  // Returns the cluster with the largest gain, or kNowhere if no move is a gain. Ties go to the smaller
  // index.
  std::int32_t best_target(std::int64_t row, int thread) {
    const std::int32_t own = composites_.labels[row];
    if (!may_leave(row, own)) return kNowhere;
    typename Rows::Row& x = fetched_[static_cast<std::size_t>(thread)];
    rows_.fetch(row, x);
    const RowProducts products = products_of(row, x);
    const double* dots = dots_of(x, products.weight, thread);
    const CriterionSums left = Criterion::terms(without_row(states_.numbers(own), products, dots[own]));
    std::int32_t best = kNowhere;
    double most = -std::numeric_limits<double>::infinity();
    for (std::int32_t c = 0; c < composites_.n_clusters; ++c) {
      if (c == own) continue;
      const CriterionSums joined = Criterion::terms(with_row(states_.numbers(c), products, dots[c]));
      const Gain gain =
          Criterion::gain(states_.terms(own) + states_.terms(c), left + joined, states_.sums());
      if (gain.improves() && gain.value > most) best = c, most = gain.value;
    }
    return best;
  }

  // Makes the proposed moves that are still a gain when their turn comes.
  void decide(const std::int64_t* order, std::int64_t count) {
    std::int64_t n_decided = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int32_t to = targets_[static_cast<std::size_t>(i)];
      if (to == kNowhere) continue;
      decide_one(order[i], to);
      if (++n_decided % kDecisionsBetweenPolls == 0 && pool_.stop_token().poll()) return;
    }
  }

  void decide_one(std::int64_t row, std::int32_t to) {
    const std::int32_t from = composites_.labels[row];
    if (!may_leave(row, from)) return;
    typename Rows::Row& x = fetched_[0];
    rows_.fetch(row, x);
    const RowProducts products = products_of(row, x);
    double dot_from = 0.0, dot_to = 0.0;
    for_each_term(rows_, x, [&](std::int64_t column, double value) {
      dot_from += value * composites_.term(column)[from];
      dot_to += value * composites_.term(column)[to];
    });
    const double w = products.weight;
    const ClusterNumbers left = without_row(states_.numbers(from), products, w * dot_from);
    const ClusterNumbers joined = with_row(states_.numbers(to), products, w * dot_to);
    const Gain gain = Criterion::gain(states_.terms(from) + states_.terms(to),
                                      Criterion::terms(left) + Criterion::terms(joined), states_.sums());
    if (!gain.improves()) return;
    for_each_term(rows_, x, [&](std::int64_t column, double value) {
      composites_.term(column)[from] -= w * value;
      composites_.term(column)[to] += w * value;
    });
    move(row, from, to, w);
    states_.set(from, left);
    states_.set(to, joined);
  }

  void move(std::int64_t row, std::int32_t from, std::int32_t to, double weight) {
    composites_.labels[row] = to;
    composites_.weights[from] -= weight;
    composites_.weights[to] += weight;
    --composites_.counts[from];
    ++composites_.counts[to];
    ++result_.moves;
  }

  bool may_leave(std::int64_t row, std::int32_t cluster) const {
    return row_weights_[row] > 0.0 && composites_.counts[cluster] > 1;
  }

  RowProducts products_of(std::int64_t row, const typename Rows::Row& x) const {
    const double w = row_weights_[row];
    double square = 0.0, product = 0.0;
    // Not `rows_.norm(x)`, which dense and sparse rows add in different orders.
    for_each_term(rows_, x, [&](std::int64_t, double value) { square += value * value; });
    if constexpr (Criterion::kUsesTotal) {
      const double* total = states_.total();
      for_each_term(rows_, x,
                    [&](std::int64_t column, double value) { product += value * total[column]; });
    }
    return {w * w * square, w * product, w};
  }

  // Returns w x . D_r of all clusters.
  const double* dots_of(const typename Rows::Row& x, double weight, int thread) {
    std::vector<double>& dots = dots_[static_cast<std::size_t>(thread)];
    std::fill(dots.begin(), dots.end(), 0.0);
    add_dots(rows_, x, weight, composites_, dots.data());
    return dots.data();
  }

  const Rows& rows_;
  RowWeights row_weights_;
  const TermComposites& composites_;
  ThreadPool& pool_;
  ClusterStates<Criterion> states_;
  std::vector<typename Rows::Row> fetched_;  // by thread
  std::vector<std::vector<double>> dots_;    // by thread
  std::vector<std::int32_t> targets_;        // by row of the block
  CriterionSweepResult result_;
};

}  // namespace

template <class Rows>
CriterionSweepResult criterion_sweep(const Rows& rows, RowWeights row_weights,
                                     const TermComposites& composites, CriterionName criterion,
                                     const CriterionVisit& visit, ThreadPool& pool) {
  const auto run = [&]<class Criterion>(Criterion) {
    return CriterionSweep<Rows, Criterion>(rows, row_weights, composites, pool).run(visit);
  };
  switch (criterion) {
    case CriterionName::i1: return run(I1{});
    case CriterionName::i2: return run(I2{});
    case CriterionName::e1: return run(E1{});
    case CriterionName::g1: return run(G1{});
    case CriterionName::h1: return run(H1{});
    case CriterionName::h2: return run(H2{});
  }
  return {};
}

template CriterionSweepResult criterion_sweep(const DenseRows&, RowWeights, const TermComposites&,
                                              CriterionName, const CriterionVisit&, ThreadPool&);
template CriterionSweepResult criterion_sweep(const SparseRows&, RowWeights, const TermComposites&,
                                              CriterionName, const CriterionVisit&, ThreadPool&);

}  // namespace boostkmeans
