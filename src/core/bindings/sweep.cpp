// Bindings of the sweep, its visit policies, options and result.
#include "sweep/sweep.hpp"

#include <nanobind/stl/variant.h>

#include "bindings/module.hpp"
#include "bindings/partition.hpp"
#include "bindings/projection.hpp"

namespace boostkmeans {
namespace {

// A RowBoundsView together with the arrays that it refers to.
class BoundRowBounds {
 public:
  BoundRowBounds(Vector<float> margins, Vector<double> paths, Matrix<double> centres,
                 Vector<double> totals)
      : margins_(std::move(margins)),
        paths_(std::move(paths)),
        centres_(std::move(centres)),
        totals_(std::move(totals)) {
    require(paths_.shape(0) == centres_.shape(0), "paths and centres must have one entry per cluster");
    require(totals_.shape(0) == 2, "totals must have two values");
  }
  void check(const Rows& rows, const Partition& partition, const SweepOptions& options) const {
    require(length_of(margins_) == rows.n_rows(), "margins must have one value per row");
    require(length_of(paths_) == partition.n_clusters && length_of(centres_, 1) == partition.n_features,
            "paths and centres must match the partition");
    require(!options.first && !options.low_precision && options.temperature == 0.0 && !options.limits &&
                !options.exchange && options.penalties == nullptr,
            "row bounds require a plain sweep");
    require(!options.projected, "row bounds exclude a projection");
  }
  RowBoundsView view() { return {margins_.data(), paths_.data(), centres_.data(), totals_.data()}; }

 private:
  Vector<float> margins_;
  Vector<double> paths_;
  Matrix<double> centres_;
  Vector<double> totals_;
};

// A FullVisit together with the arrays that it refers to.
class BoundFullVisit {
 public:
  BoundFullVisit(Vector<const std::int64_t> order, std::int64_t run_rows, std::int64_t block_rows,
                 std::optional<BoundRowBounds> bounds)
      : order_(std::move(order)),
        bounds_(std::move(bounds)) {
    require(run_rows > 0 && block_rows > 0, "run_rows and block_rows must be positive");
    visit = FullVisit{order_.data(), length_of(order_), run_rows, block_rows,
                      bounds_ ? bounds_->view() : RowBoundsView{}};
  }
  void check(const Rows& rows, const Partition& partition, const SweepOptions& options) const {
    if (bounds_) bounds_->check(rows, partition, options);
  }
  double comparisons_per_row(const Partition& partition) const {
    return static_cast<double>(partition.n_clusters);
  }

  Visit visit;

 private:
  Vector<const std::int64_t> order_;
  std::optional<BoundRowBounds> bounds_;
};

// A CandidateVisit together with the arrays that it refers to.
class BoundCandidateVisit {
 public:
  BoundCandidateVisit(Matrix<const std::int32_t> lists, Vector<std::int64_t> changed,
                      Vector<std::int64_t> visited, std::int64_t clock, Vector<const std::int32_t> order,
                      std::int64_t block_rows, std::optional<Vector<std::int32_t>> runners_up,
                      bool by_runner_up)
      : lists_(std::move(lists)),
        changed_(std::move(changed)),
        visited_(std::move(visited)),
        order_(std::move(order)),
        runners_up_(std::move(runners_up)) {
    require(lists_.shape(1) > 0, "lists must have at least one column");
    require(changed_.shape(0) == lists_.shape(0) && visited_.shape(0) == lists_.shape(0),
            "lists, changed and visited must have one entry per cluster");
    require(block_rows > 0, "block_rows must be positive");
    require(!by_runner_up || runners_up_, "by_runner_up requires runners_up");
    visit = CandidateVisit{
        lists_.data(), length_of(lists_, 1), changed_.data(), visited_.data(),           clock,
        order_.data(), length_of(order_),    block_rows,      data_or_null(runners_up_), by_runner_up};
  }
  void check(const Rows& rows, const Partition& partition, const SweepOptions& options) const {
    require(length_of(lists_) == partition.n_clusters,
            "lists, changed and visited must have one entry per cluster");
    require(!runners_up_ || length_of(*runners_up_) == rows.n_rows(),
            "runners_up must have one value per row");
    require(!options.exact, "an exact sweep requires a FullVisit");
  }
  double comparisons_per_row(const Partition&) const {
    return static_cast<double>(length_of(lists_, 1));
  }
  std::int64_t clock() const { return std::get<CandidateVisit>(visit).clock; }

  Visit visit;

 private:
  Matrix<const std::int32_t> lists_;
  Vector<std::int64_t> changed_, visited_;
  Vector<const std::int32_t> order_;
  std::optional<Vector<std::int32_t>> runners_up_;
};

// SweepOptions together with the arrays of limits and penalties.
class BoundSweepOptions {
 public:
  using PerCluster = std::optional<Vector<const double>>;

  BoundSweepOptions(bool first, bool exact, bool low_precision, double temperature,
                    PerCluster min_weights, PerCluster max_weights, bool exchange, PerCluster penalties,
                    std::uint64_t seed)
      : options{first,
                exact,
                low_precision,
                temperature,
                {data_or_null(min_weights), data_or_null(max_weights)},
                exchange,
                data_or_null(penalties),
                {},
                seed},
        min_weights_(std::move(min_weights)),
        max_weights_(std::move(max_weights)),
        penalties_(std::move(penalties)) {
    require(min_weights_.has_value() == max_weights_.has_value(),
            "min_weights and max_weights must be given together");
    require(temperature >= 0.0 && temperature < 1.0, "temperature must lie in [0, 1)");
    require(!exact || temperature == 0.0, "an exact sweep requires temperature 0");
    require(!exact || !penalties_, "an exact sweep allows no penalties");
    require(!options.limits || !penalties_, "a sweep takes either penalties or limits, not both");
    if (penalties_)
      require(std::all_of(penalties_->data(), penalties_->data() + penalties_->size(),
                          [](double penalty) { return penalty >= 0.0; }),
              "penalties must not be negative");
  }
  void check(const Partition& partition) const {
    for (const PerCluster* values : {&min_weights_, &max_weights_, &penalties_})
      require(!*values || length_of(**values) == partition.n_clusters,
              "limits and penalties must have one value per cluster");
  }

  const SweepOptions options;

 private:
  PerCluster min_weights_, max_weights_, penalties_;
};

struct BoundSweepResult : SweepResult {
  bool late = false;
};

BoundSweepResult sweep_partition(const Rows& rows, const Weights& row_weights, const PartitionView& view,
                                 std::variant<BoundFullVisit*, BoundCandidateVisit*> bound_visit,
                                 const BoundSweepOptions& bound_options,
                                 const BoundProjection* projection, double seconds_left, int n_threads) {
  const Partition partition = view.of(rows);
  const RowWeights w = row_weights_of(row_weights, rows);
  SweepOptions options = bound_options.options;
  bound_options.check(partition);
  if (projection != nullptr) {
    projection->check(rows);
    require(!options.exchange && options.penalties == nullptr,
            "a projection excludes exchange and penalties");
    options.projected = projection->view();
    options.low_precision = false;
  }
  return std::visit(
      [&](auto* bound) {
        bound->check(rows, partition, options);
        BoundSweepResult result;
        result.late = run(n_threads, rows.size() * bound->comparisons_per_row(partition), seconds_left,
                          [&](ThreadPool& pool) {
                            static_cast<SweepResult&>(result) = rows.visit([&](const auto& x) {
                              return sweep(x, w, partition, bound->visit, options, pool);
                            });
                          });
        return result;
      },
      bound_visit);
}

}  // namespace

void bind_sweep(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<BoundRowBounds>(
      m, "RowBounds",
      "Bounds that show which rows cannot gain by a move. Sweeps update the arrays: margins starts with "
      "-inf, the others with 0. If the label of a row changes between two sweeps, its margin must be "
      "set to -inf.")
      .def(nb::init<Vector<float>, Vector<double>, Matrix<double>, Vector<double>>(), nb::kw_only(),
           "margins"_a.noconvert(), "paths"_a.noconvert(), "centres"_a.noconvert(),
           "totals"_a.noconvert());
  nb::class_<BoundFullVisit>(m, "FullVisit",
                             "Visit of rows that are compared with all clusters. Runs of run_rows "
                             "neighbouring rows are visited in the given order; block_rows rows "
                             "propose before the first of them is decided. With bounds, rows that "
                             "cannot gain are skipped, unless the sweep is exact.")
      .def(nb::init<Vector<const std::int64_t>, std::int64_t, std::int64_t,
                    std::optional<BoundRowBounds>>(),
           nb::kw_only(), "order"_a, "run_rows"_a, "block_rows"_a, "bounds"_a = nb::none());
  nb::class_<BoundCandidateVisit>(
      m, "CandidateVisit",
      "Visit of rows, cluster by cluster, that are compared with the clusters in the list of their "
      "cluster only. Clusters are skipped if nothing in their list changed since they were visited. "
      "With by_runner_up, rows are visited with their runner-up and compared with its list.")
      .def(nb::init<Matrix<const std::int32_t>, Vector<std::int64_t>, Vector<std::int64_t>, std::int64_t,
                    Vector<const std::int32_t>, std::int64_t, std::optional<Vector<std::int32_t>>,
                    bool>(),
           nb::kw_only(), "lists"_a, "changed"_a.noconvert(), "visited"_a.noconvert(), "clock"_a,
           "order"_a, "block_rows"_a, "runners_up"_a.noconvert() = nb::none(), "by_runner_up"_a = false)
      .def_prop_ro("clock", &BoundCandidateVisit::clock,
                   "Number of blocks decided so far. A sweep advances it.");
  nb::class_<BoundSweepOptions>(
      m, "SweepOptions",
      "Rules by which the rows of a sweep move. The constructor raises ValueError for values that "
      "exclude each other.")
      .def(nb::init<bool, bool, bool, double, BoundSweepOptions::PerCluster,
                    BoundSweepOptions::PerCluster, bool, BoundSweepOptions::PerCluster, std::uint64_t>(),
           nb::kw_only(), "first"_a = false, "exact"_a = false, "low_precision"_a = false,
           "temperature"_a = 0.0, "min_weights"_a = nb::none(), "max_weights"_a = nb::none(),
           "exchange"_a = false, "penalties"_a = nb::none(), "seed"_a = 0);
  nb::class_<BoundProjection>(
      m, "Projection",
      "Rows in the coordinates of a few axes, and the length of the rest of each row in the last column, "
      "as computed by `project`. Sweeps use it to skip clusters that are too far away.")
      .def(nb::init<Matrix<const float>, Matrix<const double>, double, const std::string&>(),
           nb::kw_only(), "values"_a, "axes"_a, "scale"_a, "isa"_a = "");
  nb::class_<BoundSweepResult>(m, "SweepResult", "Summary of a sweep.")
      .def_ro("moves", &BoundSweepResult::moves, "Number of rows that moved.")
      .def_ro("gain", &BoundSweepResult::gain, "Decrease of the inertia.")
      .def_ro("evaluations", &BoundSweepResult::evaluations, "Number of distances computed.")
      .def_ro("late", &BoundSweepResult::late, "True if the sweep ran out of time.");
  m.def("sweep", &sweep_partition, "rows"_a, "row_weights"_a.none(), "partition"_a, "visit"_a,
        "options"_a, nb::kw_only(), "projection"_a.none() = nb::none(), "seconds_left"_a = kNoDeadline,
        "n_threads"_a = 1, "Visit the rows once and move each to a better cluster, in place.");
}

}  // namespace boostkmeans
