#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "fit/fit_state.hpp"
#include "fit/repair.hpp"
#include "rows/dense_rows.hpp"
#include "support/random.hpp"
#include "sweep/sweep.hpp"

namespace boostkmeans {

namespace {

// These constants have the values, and the reasons, of those in _engine/run.py and _engine/schedule.py.
constexpr double kCertifyBelowMoves = 1.0 / 200.0;
constexpr double kRecomputeAfterFall = 0.5;
constexpr double kInertiaRounding = 1e-9;
constexpr int kMaxSettlingSweeps = 5;
constexpr double kSettled = 1e-4;
constexpr double kMinRepairGain = 0.1;
constexpr std::int64_t kTrialsPerRound = 8;
constexpr double kFrozenBelowMoves = 1e-3;
constexpr std::int64_t kLongAnnealing = 40;
constexpr double kSamePlace = 1e-9;

void copy_partition(const Partition& from, const Partition& to, std::int64_t n_rows) {
  std::copy_n(from.labels, n_rows, to.labels);
  std::copy_n(from.composites, from.n_clusters * from.n_features, to.composites);
  std::copy_n(from.weights, from.n_clusters, to.weights);
  std::copy_n(from.counts, from.n_clusters, to.counts);
}

template <class Rows>
class Optimiser {
 public:
  Optimiser(const Rows& rows, RowWeights row_weights, const Partition& partition, const Partition& best,
            const FitOptions& options, FitState& state, ThreadPool& pool)
      : rows_(rows),
        row_weights_(row_weights),
        partition_(partition),
        best_(best),
        options_(options),
        state_(state),
        pool_(pool),
        began_(std::chrono::steady_clock::now()),
        order_(static_cast<std::size_t>((rows.n_rows() + options.run_rows - 1) / options.run_rows)) {}

  void run(std::int64_t max_records) {
    const auto enough = state_.records.size() + static_cast<std::size_t>(max_records);
    while (state_.phase != FitPhase::end && !state_.coincident && state_.records.size() < enough &&
           !pool_.stop_token().poll())
      step();
  }

 private:
  void step() {
    switch (state_.phase) {
      case FitPhase::beginning: return begin();
      case FitPhase::early_repair: return repair_early();
      case FitPhase::descent: return descend();
      case FitPhase::rest: return rest();
      case FitPhase::repair: return repair();
      case FitPhase::end: return;
    }
  }

  bool stopped() const { return pool_.stop_token().stopped(); }
  EndReason limit_reason() const {
    return state_.n_sweeps >= options_.max_iter ? EndReason::max_iter : EndReason::none;
  }
  bool at_rest() const {
    return state_.end_reason == EndReason::certified || state_.end_reason == EndReason::tol;
  }
  // Annealing ends early if hardly any row is near a border.
  bool is_frozen(std::int64_t moves) const {
    return static_cast<double>(moves) < share_of_rows(kFrozenBelowMoves);
  }
  double share_of_rows(double share) const { return share * static_cast<double>(rows_.n_rows()); }

  // Sweeps at the next temperature. A repair follows the first sweep.
  void begin() {
    if (state_.annealed >= options_.n_beginning) {
      state_.phase = FitPhase::descent;
      return;
    }
    const double temperature = next_temperature();
    if (temperature > 0.0) keep_if_best();
    const SweepResult result = sweep_once(temperature);
    const bool halfway =
        options_.n_beginning >= kLongAnnealing && state_.annealed == options_.n_beginning / 2;
    const bool repair_now = state_.annealed == 0 || halfway;
    ++state_.annealed;
    state_.end_reason = limit_reason();
    if (state_.end_reason != EndReason::none)
      state_.phase = FitPhase::rest;
    else if (repair_now)
      state_.phase = FitPhase::early_repair;
    else if (is_frozen(result.moves))
      state_.phase = FitPhase::descent;
  }

  double next_temperature() const {
    double highest = options_.temperature;
    if (highest > 0.0 && options_.per_explained_square > 0.0) {
      const double explained = explained_share();
      highest = std::min(highest, options_.per_explained_square * explained * explained);
    }
    return highest *
           (1.0 - static_cast<double>(state_.annealed) / static_cast<double>(options_.n_beginning));
  }

  // Performs a sweep that lowers the inertia. Ends the descent once sweeps gain little.
  void descend() {
    const double before = state_.inertia;
    const SweepResult result = sweep_once(0.0);
    if (stopped()) return;
    state_.end_reason = limit_reason();
    if (result.moves == 0 || before - state_.inertia < options_.tol * before) {
      if (confirms_certificate())
        state_.end_reason = EndReason::certified;
      else if (result.moves > 0)
        state_.end_reason = EndReason::tol;
    }
    state_.coincident =
        at_rest() && has_coincident(rows_.kernel(), partition_.composites, partition_.weights,
                                    partition_.n_clusters, partition_.n_features);
    if (state_.end_reason != EndReason::none && !state_.coincident) state_.phase = FitPhase::rest;
  }

  // Continues from the best partition so far or with a repair, or ends the fit.
  void rest() {
    const bool may_continue = at_rest() && limit_reason() == EndReason::none;
    if (return_to_best() && may_continue) {
      state_.end_reason = EndReason::none;
      state_.phase = FitPhase::descent;
    } else {
      state_.phase = may_continue ? FitPhase::repair : FitPhase::end;
    }
  }

  void repair_early() {
    if (repair_round() || stopped()) return;
    state_.phase = state_.end_reason == EndReason::none ? FitPhase::beginning : FitPhase::rest;
    // Neither the annealed sweep nor the repair found anything to change.
    if (!state_.changed && is_frozen(state_.last_moves)) state_.phase = FitPhase::descent;
    state_.changed = false;
  }

  void repair() {
    if (repair_round() || stopped()) return;
    const FitPhase then = state_.end_reason == EndReason::none ? FitPhase::descent : FitPhase::rest;
    state_.phase = state_.changed ? then : FitPhase::end;
    state_.changed = false;
  }

  // Swaps clusters. Returns true if another round may follow.
  bool repair_round() {
    if (state_.repair_rounds <= 0 || limit_reason() != EndReason::none) return false;
    const double min_share = at_rest() && state_.trial_swaps > 0 ? kMinTrialShare : 1.0;
    const Repair<Rows> found(rows_, row_weights_, partition_, state_.inertia, min_share, draw(), pool_);
    if (stopped()) return false;
    --state_.repair_rounds;
    const double min_gain = std::max(kMinRepairGain * options_.tol, kInertiaRounding) * state_.inertia;
    const Swaps swaps = improving_swaps(found.gains(), found.merges(), min_gain);
    if (!swaps.chosen.empty())
      swap(found, swaps, std::numeric_limits<double>::infinity());
    else if (!at_rest() || !try_swaps(found, min_gain))
      return false;
    state_.changed = true;
    state_.end_reason = limit_reason();
    return state_.end_reason == EndReason::none;
  }

  // Tries swaps that raise the inertia at first. Keeps the first whose sweeps make it a gain.
  bool try_swaps(const Repair<Rows>& found, double min_gain) {
    const double before = state_.inertia;
    const auto n_trials = std::min(state_.trial_swaps, kTrialsPerRound);
    for (const Swaps& swaps : trial_swaps(found.gains(), found.merges(), n_trials)) {
      --state_.trial_swaps;
      state_.has_best = false;
      keep_if_best();
      swap(found, swaps, before - min_gain);
      if (state_.inertia < before - min_gain) {
        state_.has_best = false;
        return true;
      }
      return_to_best();
      if (stopped()) return false;
    }
    return false;
  }

  // Swaps clusters and sweeps until the partition has settled. Records it if the inertia falls below a
  // bound.
  void swap(const Repair<Rows>& found, const Swaps& swaps, double record_below) {
    found.apply(swaps, partition_);
    account({0, swaps.gain, 0});
    state_.moves_since_recompute += 1.0;  // the sums of the halves are recomputed, the inertia is not
    StepRecord record{StepKind::repair};
    for (int i = 0; i < kMaxSettlingSweeps; ++i) {
      const SweepResult result = visit_all({options_.first});
      record.moves += result.moves;
      record.evaluations += result.evaluations;
      account(result);
      if (stopped() || result.gain <= kSettled * state_.inertia) break;
    }
    record.swaps = static_cast<std::int64_t>(swaps.chosen.size());
    if (state_.inertia < record_below) append(record);
  }

  // Performs one sweep and records it.
  SweepResult sweep_once(double temperature) {
    SweepOptions options{options_.first};
    options.temperature = temperature;
    options.exact = temperature == 0.0 && may_certify();
    const SweepResult result = visit_all(options);
    account(result);
    append({options.exact ? StepKind::certify : StepKind::sweep, result.moves, result.evaluations, 0.0,
            temperature});
    return result;
  }

  // A sweep should decide in float64 if it may be the last one.
  bool may_certify() const {
    if (state_.last_moves < 0) return false;
    if (options_.first) return state_.last_moves == 0;
    return static_cast<double>(state_.last_moves) <= share_of_rows(kCertifyBelowMoves);
  }

  SweepResult visit_all(SweepOptions options) {
    std::iota(order_.begin(), order_.end(), 0);
    Random random(draw());
    for (std::size_t i = order_.size(); i > 1; --i)
      std::swap(
          order_[i - 1],
          order_[static_cast<std::size_t>(random_below(random.bits(), static_cast<std::int64_t>(i)))]);
    options.seed = draw();
    Visit visit = FullVisit{order_.data(), static_cast<std::int64_t>(order_.size()), options_.run_rows,
                            options_.block_rows};
    return sweep(rows_, row_weights_, partition_, visit, options, pool_);
  }

  void append(StepRecord record) {
    record.inertia = state_.inertia;
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    state_.records.push_back(record);
    state_.last_kind = record.kind;
    state_.last_moves = record.moves;
    ++state_.n_sweeps;
  }

  // Updates the inertia. Recomputes it if the difference would be too inaccurate.
  void account(const SweepResult& result) {
    state_.moves_since_recompute += static_cast<double>(result.moves);
    const bool steep = result.gain > kRecomputeAfterFall * state_.inertia;
    state_.inertia = std::max(0.0, state_.inertia - result.gain);
    if (!stopped() && (steep || state_.moves_since_recompute > share_of_rows(1.0))) recompute_all();
  }

  void recompute_all() {
    const RecomputeResult found = recompute(rows_, row_weights_, partition_, nullptr, pool_);
    if (stopped()) return;  // the result is incomplete; the sums are consistent
    state_.inertia = found.inertia;
    if (state_.n_sweeps > 0) state_.drift = std::max(state_.drift, found.drift);
    state_.total_squares = state_.inertia + objective();
    state_.moves_since_recompute = 0.0;
  }

  // Returns true if the last sweep proves a local optimum. If the composites are not recent, recomputes
  // them, so that the next sweep can prove it.
  bool confirms_certificate() {
    if (state_.last_kind != StepKind::certify || state_.last_moves != 0) return false;
    const bool fresh = state_.moves_since_recompute == 0.0;
    if (!fresh) recompute_all();
    return fresh;
  }

  double square(const double* sum) const { return rows_.kernel().dot(sum, sum, partition_.n_features); }
  double objective() const {
    double total = 0.0;
    for (std::int64_t c = 0; c < partition_.n_clusters; ++c)
      if (partition_.weights[c] > 0.0) total += square(partition_.composite(c)) / partition_.weights[c];
    return total;
  }
  // Share of the total inertia of all rows that the clusters explain.
  double explained_share() const {
    std::vector<double> sum(static_cast<std::size_t>(partition_.n_features), 0.0);
    double weight = 0.0;
    for (std::int64_t c = 0; c < partition_.n_clusters; ++c) {
      if (partition_.weights[c] <= 0.0) continue;
      rows_.kernel().add(sum.data(), partition_.composite(c), 1.0, partition_.n_features);
      weight += partition_.weights[c];
    }
    const double total = state_.total_squares - square(sum.data()) / weight;
    return total > 0.0 ? std::max(0.0, 1.0 - state_.inertia / total) : 1.0;
  }

  void keep_if_best() {
    if (state_.has_best && state_.inertia >= state_.best_inertia) return;
    copy_partition(partition_, best_, rows_.n_rows());
    state_.best_inertia = state_.inertia;
    state_.has_best = true;
  }
  // Restores the best partition if it is better than the current one. Returns true if it was restored.
  bool return_to_best() {
    if (!state_.has_best) return false;
    state_.has_best = false;
    if (state_.best_inertia * (1.0 + kInertiaRounding) >= state_.inertia) return false;
    copy_partition(best_, partition_, rows_.n_rows());
    state_.inertia = state_.best_inertia;
    state_.moves_since_recompute += 1.0;  // it may not have been recomputed
    return true;
  }

  std::uint64_t draw() { return random_at(options_.seed, state_.n_draws++); }

  const Rows& rows_;
  RowWeights row_weights_;
  const Partition &partition_, &best_;
  const FitOptions& options_;
  FitState& state_;
  ThreadPool& pool_;
  std::chrono::steady_clock::time_point began_;
  std::vector<std::int64_t> order_;  // of the rows in a sweep
};

}  // namespace

bool has_coincident(const Kernel& kernel, const double* composites, const double* weights,
                    std::int64_t n_clusters, std::int64_t n_features) {
  const auto inverse = [=](std::int64_t c) { return weights[c] > 0.0 ? 1.0 / weights[c] : 1.0; };
  std::vector<double> centre(static_cast<std::size_t>(n_features));
  for (std::int64_t a = 0; a < n_clusters; ++a) {
    for (std::size_t j = 0; j < centre.size(); ++j)
      centre[j] = composites[a * n_features + static_cast<std::int64_t>(j)] * inverse(a);
    const double norm = kernel.dot(centre.data(), centre.data(), n_features);
    for (std::int64_t b = 0; b < n_clusters; ++b) {
      const double gap =
          kernel.distance(centre.data(), composites + b * n_features, inverse(b), n_features);
      if (a != b && gap <= kSamePlace * kSamePlace * norm) return true;
    }
  }
  return false;
}

template <class Rows>
void advance(const Rows& rows, RowWeights row_weights, const Partition& partition, const Partition& best,
             const FitOptions& options, FitState& state, std::int64_t max_records, ThreadPool& pool) {
  Optimiser<Rows>(rows, row_weights, partition, best, options, state, pool).run(max_records);
}

template void advance(const DenseRows&, RowWeights, const Partition&, const Partition&,
                      const FitOptions&, FitState&, std::int64_t, ThreadPool&);

}  // namespace boostkmeans
