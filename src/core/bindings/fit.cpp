// Bindings of whole fits of small data.
#include <nanobind/stl/vector.h>

#include "bindings/module.hpp"
#include "bindings/partition.hpp"
#include "fit/fit_state.hpp"

namespace boostkmeans {
namespace {

FitOptions fit_options(bool first, double tol, std::int64_t max_iter, std::int64_t n_beginning,
                       double temperature, double per_explained_square, std::int64_t run_rows,
                       std::int64_t block_rows, std::uint64_t seed) {
  require(temperature >= 0.0 && temperature < 1.0, "temperature must lie in [0, 1)");
  require(run_rows > 0 && block_rows > 0, "run_rows and block_rows must be positive");
  return {first,    tol,        max_iter, n_beginning, temperature, per_explained_square,
          run_rows, block_rows, seed};
}

// Returns true if the fit ran out of time. A single thread does all the work.
bool advance_fit(const Rows& rows, const Weights& row_weights, const PartitionView& view,
                 const PartitionView& best_view, const FitOptions& options, FitState& state,
                 std::int64_t max_records, double seconds_left) {
  const Partition partition = view.of(rows), best = best_view.of(rows);
  require(best.n_clusters == partition.n_clusters, "partition and best must have the same shape");
  const RowWeights w = row_weights_of(row_weights, rows);
  const DenseRows& dense = rows.dense();
  return run(1, 0.0, seconds_left, [&](ThreadPool& pool) {
    advance(dense, w, partition, best, options, state, max_records, pool);
  });
}

bool any_coincident(const Matrix<const double>& composites, const Vector<const double>& weights,
                    const std::string& isa) {
  require(length_of(composites) == length_of(weights), "weights must have one value per cluster");
  return has_coincident(kernel_named(isa), composites.data(), weights.data(), length_of(composites),
                        length_of(composites, 1));
}

void bind_state(nb::module_& m) {
  nb::class_<StepRecord>(m, "StepRecord", "One sweep or repair round of a fit.")
      .def_prop_ro("kind", [](const StepRecord& record) { return static_cast<int>(record.kind); })
      .def_ro("moves", &StepRecord::moves)
      .def_ro("evaluations", &StepRecord::evaluations)
      .def_ro("inertia", &StepRecord::inertia)
      .def_ro("temperature", &StepRecord::temperature)
      .def_ro("swaps", &StepRecord::swaps)
      .def_ro("seconds", &StepRecord::seconds);
  nb::class_<FitState>(m, "FitState", "The state of a fit between two steps.")
      .def(nb::init<>())
      .def_prop_rw(
          "phase", [](const FitState& state) { return static_cast<int>(state.phase); },
          [](FitState& state, int phase) { state.phase = static_cast<FitPhase>(phase); })
      .def_prop_rw(
          "end_reason", [](const FitState& state) { return static_cast<int>(state.end_reason); },
          [](FitState& state, int reason) { state.end_reason = static_cast<EndReason>(reason); })
      .def_prop_rw(
          "last_kind", [](const FitState& state) { return static_cast<int>(state.last_kind); },
          [](FitState& state, int kind) { state.last_kind = static_cast<StepKind>(kind); })
      .def_rw("annealed", &FitState::annealed)
      .def_rw("repair_rounds", &FitState::repair_rounds)
      .def_rw("trial_swaps", &FitState::trial_swaps)
      .def_rw("changed", &FitState::changed)
      .def_rw("n_sweeps", &FitState::n_sweeps)
      .def_rw("last_moves", &FitState::last_moves)
      .def_rw("inertia", &FitState::inertia)
      .def_rw("total_squares", &FitState::total_squares)
      .def_rw("moves_since_recompute", &FitState::moves_since_recompute)
      .def_rw("drift", &FitState::drift)
      .def_rw("has_best", &FitState::has_best)
      .def_rw("best_inertia", &FitState::best_inertia)
      .def_rw("n_draws", &FitState::n_draws)
      .def_ro("coincident", &FitState::coincident)
      .def_ro("records", &FitState::records, "Records of the steps since the state was created.");
}

}  // namespace

void bind_fit(nb::module_& m) {
  using namespace nb::literals;
  bind_state(m);
  nb::class_<FitOptions>(m, "FitOptions", "The plan of a fit.")
      .def(nb::new_(&fit_options), nb::kw_only(), "first"_a, "tol"_a, "max_iter"_a, "n_beginning"_a,
           "temperature"_a, "per_explained_square"_a, "run_rows"_a, "block_rows"_a, "seed"_a);
  m.def("advance", &advance_fit, "rows"_a, "row_weights"_a.none(), "partition"_a, "best"_a, "options"_a,
        "state"_a, nb::kw_only(), "max_records"_a, "seconds_left"_a = kNoDeadline,
        "Perform steps of a fit, in place, until it ends or max_records steps were recorded. Return "
        "True if the deadline stopped it.");
  m.def("has_coincident", &any_coincident, "composites"_a, "weights"_a, nb::kw_only(), "isa"_a,
        "Return True if two clusters have the same centre up to rounding.");
}

}  // namespace boostkmeans
