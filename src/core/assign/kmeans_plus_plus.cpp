#include "assign/kmeans_plus_plus.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "scoring/centre_traits.hpp"
#include "scoring/row_batch.hpp"
#include "support/random.hpp"

namespace boostkmeans {

namespace {

// Rows whose potential is summed as one; fixed, so that the draws do not depend on the threads.
constexpr std::int64_t kGroupRows = 32 * kPieceRows;
// Here there is little to compute for each row, so that memory is the limit. Short pieces, with the rows
// to come asked for some pieces ahead, keep both at work.
constexpr std::int64_t kSeedRows = 24;
constexpr std::int64_t kRowsAhead = 2 * kSeedRows;
// Draws may be refused (see draw_fresh). After this many refusals the potentials are brought up to
// date instead, at the price of one pass.
constexpr int kMaxRefusals = 256;

// Columns for the kernel's `seed`: panels of one vector, whatever the width of its usual panels.
template <class Rows>
class Columns;

template <>
class Columns<DenseRows> {
 public:
  Columns(const DenseRows& rows, std::int64_t n_columns)
      : lanes_(rows.kernel().lanes),
        n_features_(rows.n_features()),
        n_panels_((n_columns + lanes_ - 1) / lanes_),
        values_(n_panels_ * lanes_ * n_features_),
        norms_(n_panels_ * lanes_) {
    std::fill_n(values_.get(), n_panels_ * lanes_ * n_features_, 0.0f);
    std::fill_n(norms_.get(), n_panels_ * lanes_, 0.0f);
  }
  void set(std::int64_t column, const DenseRows::Row& x) {
    float* to = values_.get() + column / lanes_ * lanes_ * n_features_ + column % lanes_;
    norms_[column] = pack_column(x.values.get(), 1.0, n_features_, lanes_, to);
  }
  void meet(Piece<DenseRows>&, std::int64_t) const {}
  const float* values() const { return values_.get(); }
  const float* norms() const { return norms_.get(); }
  std::int64_t n_panels() const { return n_panels_; }
  std::int64_t padded() const { return n_panels_ * lanes_; }

 private:
  std::int64_t lanes_, n_features_, n_panels_;
  Buffer<float> values_, norms_;
};

// Lines of a value for each column, one line a term; of which only what is not zero is ever written.
template <>
class Columns<SparseRows> {
 public:
  Columns(const SparseRows& rows, std::int64_t n_columns)
      : lanes_(rows.kernel().lanes),
        step_((n_columns + lanes_ - 1) / lanes_ * lanes_),
        lines_(rows.n_features() * step_),
        norms_(step_),
        scales_(step_),
        terms_(static_cast<std::size_t>(n_columns)) {
    std::fill_n(lines_.get(), rows.n_features() * step_, 0.0f);
    std::fill_n(norms_.get(), step_, 0.0f);
    std::fill_n(scales_.get(), step_, -2.0f);
  }
  void set(std::int64_t column, const SparseRows::Row& x) {
    std::vector<std::int32_t>& terms = terms_[static_cast<std::size_t>(column)];
    for (const std::int32_t j : terms) lines_[j * step_ + column] = 0.0f;
    terms.assign(x.columns.get(), x.columns.get() + x.count);
    for (std::int64_t t = 0; t < x.count; ++t)
      lines_[x.columns[t] * step_ + column] = static_cast<float>(x.values[t]);
    norms_[column] = static_cast<float>(x.norm);
  }
  // Dot products of a piece with the first columns.
  void meet(Piece<SparseRows>& piece, std::int64_t n_vectors) const {
    piece.meet_columns(*this, n_vectors * lanes_);
  }
  const float* line(std::int64_t term) const { return lines_.get() + term * step_; }
  bool has_short_lines() const { return false; }
  ShortLine short_line(std::int64_t) const { return {nullptr, 0}; }
  std::int64_t n_clusters() const { return step_; }
  const float* scales() const { return scales_.get(); }
  const float* values() const { return nullptr; }
  const float* norms() const { return norms_.get(); }
  std::int64_t n_panels() const { return step_ / lanes_; }
  std::int64_t padded() const { return step_; }

 private:
  std::int64_t lanes_, step_;
  Buffer<float> lines_, norms_, scales_;
  std::vector<std::vector<std::int32_t>> terms_;  // of each column
};

// Memory that is read soon, see Kernel::seed. Sparse rows are asked for when they are loaded.
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
           std::int32_t* labels, Team& team)
      : rows_(rows),
        row_weights_(row_weights),
        n_trials_(n_trials),
        random_(seed),
        labels_(labels),
        team_(team),
        n_groups_((rows.n_rows() + kGroupRows - 1) / kGroupRows),
        columns_(rows, n_trials + 1),
        potentials_(n_groups_ * columns_.padded()),
        piece_potentials_(team.size() * columns_.padded()),
        groups_(static_cast<std::size_t>(n_groups_)),
        closest_(rows.n_rows()),
        last_(rows),
        drawn_(rows),
        candidates_(static_cast<std::size_t>(n_trials)) {
    std::fill_n(closest_.get(), rows.n_rows(), std::numeric_limits<float>::infinity());
    for (int t = 0; t < team.size(); ++t) pieces_.push_back(std::make_unique<Piece<Rows>>(rows));
  }

  void run(std::int64_t n_clusters, std::int64_t* chosen) {
    chosen[0] = draw_by_weight();
    apply(chosen[0], 0);
    for (std::int64_t c = 1; c < n_clusters && !team_.watch().stopped(); ++c) {
      draw_candidates(chosen[c - 1], static_cast<std::int32_t>(c - 1));
      pass(columns_.n_panels(), static_cast<std::int32_t>(c - 1));
      chosen[c] = candidates_[static_cast<std::size_t>(best_candidate())];
      settle(chosen[c - 1]);
    }
    apply(chosen[n_clusters - 1], static_cast<std::int32_t>(n_clusters - 1));
  }

 private:
  double potential(std::int64_t row) const { return row_weights_[row] * closest_[row]; }

  // Lowers `closest` to the first column and sums up the potentials of the first n_panels panels.
  void pass(std::int64_t n_panels, std::int32_t label) {
    team_.for_each(n_groups_, [&](std::int64_t g, int thread) {
      std::vector<double> sums(static_cast<std::size_t>(columns_.padded()), 0.0);
      const std::int64_t end = std::min(rows_.n_rows(), (g + 1) * kGroupRows);
      for (std::int64_t first = g * kGroupRows; first < end; first += kSeedRows)
        pass_piece(first, std::min(kSeedRows, end - first), n_panels, label, thread, sums);
      std::copy(sums.begin(), sums.end(), potentials_.get() + g * columns_.padded());
      groups_[static_cast<std::size_t>(g)] = sums[0];
    });
  }

  void pass_piece(std::int64_t first, std::int64_t count, std::int64_t n_panels, std::int32_t label,
                  int thread, std::vector<double>& sums) {
    Piece<Rows>& piece = *pieces_[static_cast<std::size_t>(thread)];
    piece.load(count, [=](std::int64_t r) { return first + r; });
    const std::int64_t next = first + kRowsAhead;
    const auto [ahead, ahead_bytes] = ahead_of(rows_, next, std::min(count, rows_.n_rows() - next));
    if (row_weights_)
      for (std::int64_t r = 0; r < count; ++r)
        piece.weight(r) = static_cast<float>(row_weights_[first + r]);
    float* potentials = piece_potentials_.get() + thread * columns_.padded();
    std::fill_n(potentials, columns_.padded(), 0.0f);
    columns_.meet(piece, n_panels);
    unsigned char taken[kPieceRows];
    rows_.kernel().seed(piece.view(), columns_.values(), columns_.norms(), n_panels, count, ahead,
                        ahead_bytes, closest_.get() + first, taken, potentials);
    for (std::int64_t r = 0; r < count; ++r)
      if (taken[r]) labels_[first + r] = label;
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(potentials[i]);
  }

  // Takes a chosen row into account, without candidates.
  void apply(std::int64_t row, std::int32_t label) {
    set_last(row);
    pass(1, label);
    settle(row);
  }

  void set_last(std::int64_t row) {
    rows_.fetch(row, last_);
    columns_.set(0, last_);
  }

  // A chosen row is at distance 0 from itself, which float32 may have missed.
  void settle(std::int64_t row) {
    groups_[static_cast<std::size_t>(row / kGroupRows)] -= potential(row);
    closest_[row] = 0.0f;
  }

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

  // A row with probability proportional to its potential as of the last pass.
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

  // The potentials do not yet know the centre chosen last (the next pass will tell them, so that one
  // pass does both). A draw by the old potentials, kept with probability new / old, is a draw by the
  // new ones. Returns -1 after too many refusals.
  std::int64_t draw_fresh() {
    for (int i = 0; i < kMaxRefusals; ++i) {
      const std::int64_t row = draw();
      if (row < 0) return -1;
      rows_.fetch(row, drawn_);
      const double fresh = rows_.gap(drawn_, last_);
      if (random_.uniform() * static_cast<double>(closest_[row]) < fresh) return row;
    }
    return -1;
  }

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
      if (row < 0) row = draw_by_weight();  // every row lies on a centre: any will do
      candidates_[static_cast<std::size_t>(trial)] = row;
      rows_.fetch(row, drawn_);
      columns_.set(trial + 1, drawn_);
    }
  }

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
  Team& team_;
  std::int64_t n_groups_;
  Columns<Rows> columns_;
  Buffer<double> potentials_;       // by group and column
  Buffer<float> piece_potentials_;  // by thread and column
  std::vector<double> groups_;      // potential of each group as it is
  Buffer<float> closest_;
  typename Rows::Row last_, drawn_;
  std::vector<std::int64_t> candidates_;
  std::vector<std::unique_ptr<Piece<Rows>>> pieces_;
};

}  // namespace

template <class Rows>
void plus_plus(const Rows& rows, RowWeights row_weights, std::int64_t n_clusters, std::int64_t n_trials,
               std::uint64_t seed, std::int64_t* chosen, std::int32_t* labels, Team& team) {
  PlusPlus<Rows>(rows, row_weights, n_trials, seed, labels, team).run(n_clusters, chosen);
}

#define BK_INSTANTIATE(Rows)                                                                  \
  template void plus_plus(const Rows&, RowWeights, std::int64_t, std::int64_t, std::uint64_t, \
                          std::int64_t*, std::int32_t*, Team&)
BK_INSTANTIATE(DenseRows);
BK_INSTANTIATE(SparseRows);
#undef BK_INSTANTIATE

}  // namespace boostkmeans
