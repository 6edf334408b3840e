// Bindings of the sweep that optimises one of CLUTO's criteria.
#include "bindings/module.hpp"
#include "bindings/rows.hpp"
#include "criteria/criterion_sweep.hpp"
#include "criteria/most_similar.hpp"

namespace boostkmeans {
namespace {

// TermComposites together with the arrays that they refer to.
class BoundTermComposites {
 public:
  BoundTermComposites(Vector<std::int32_t> labels, Matrix<double> by_term, Vector<double> weights,
                      Vector<std::int64_t> counts)
      : labels_(std::move(labels)),
        by_term_(std::move(by_term)),
        weights_(std::move(weights)),
        counts_(std::move(counts)) {
    require(by_term_.shape(1) > 0 && weights_.shape(0) == by_term_.shape(1) &&
                counts_.shape(0) == by_term_.shape(1),
            "by_term must have one column, weights and counts one entry per cluster");
  }

  // Returns the arrays as the composites of these rows. Checks the shapes, but not the values.
  TermComposites of(const Rows& rows) const {
    require(length_of(labels_) == rows.n_rows(), "labels must have one value per row");
    require(length_of(by_term_) == rows.n_features(), "by_term must have one row per feature");
    return {labels_.data(), by_term_.data(),        weights_.data(),
            counts_.data(), length_of(by_term_, 1), rows.n_features()};
  }
  double n_clusters() const { return static_cast<double>(by_term_.shape(1)); }

 private:
  Vector<std::int32_t> labels_;
  Matrix<double> by_term_;
  Vector<double> weights_;
  Vector<std::int64_t> counts_;
};

struct BoundResult : CriterionSweepResult {
  bool late = false;
};

void sum_rows(const Rows& rows, const Weights& row_weights, const BoundTermComposites& bound,
              int n_threads) {
  const TermComposites composites = bound.of(rows);
  const RowWeights w = row_weights_of(row_weights, rows);
  run(n_threads, rows.size(), kNoDeadline, [&](ThreadPool& pool) {
    rows.visit([&](const auto& x) { sum_by_term(x, w, composites, pool); });
  });
}

void label_rows(const Rows& rows, const BoundTermComposites& bound, int n_threads) {
  const TermComposites composites = bound.of(rows);
  run(n_threads, rows.size() * bound.n_clusters(), kNoDeadline,
      [&](ThreadPool& pool) { rows.visit([&](const auto& x) { most_similar(x, composites, pool); }); });
}

BoundResult sweep_rows(const Rows& rows, const Weights& row_weights, const BoundTermComposites& bound,
                       CriterionName criterion, const Vector<const std::int64_t>& order,
                       std::int64_t block_rows, double seconds_left, int n_threads) {
  require(block_rows > 0, "block_rows must be positive");
  const TermComposites composites = bound.of(rows);
  const RowWeights w = row_weights_of(row_weights, rows);
  const CriterionVisit visit{order.data(), length_of(order), block_rows};
  BoundResult result;
  result.late = run(n_threads, rows.size() * bound.n_clusters(), seconds_left, [&](ThreadPool& pool) {
    static_cast<CriterionSweepResult&>(result) = rows.visit(
        [&](const auto& x) { return criterion_sweep(x, w, composites, criterion, visit, pool); });
  });
  return result;
}

}  // namespace

void bind_criteria(nb::module_& m) {
  using namespace nb::literals;
  nb::enum_<CriterionName>(m, "Criterion", "A criterion of CLUTO.")
      .value("i1", CriterionName::i1)
      .value("i2", CriterionName::i2)
      .value("e1", CriterionName::e1)
      .value("g1", CriterionName::g1)
      .value("h1", CriterionName::h1)
      .value("h2", CriterionName::h2);
  nb::class_<BoundTermComposites>(
      m, "TermComposites",
      "A partition: labels, composites by term (one row per feature, one column per cluster), and "
      "weights and counts of the clusters.")
      .def(nb::init<Vector<std::int32_t>, Matrix<double>, Vector<double>, Vector<std::int64_t>>(),
           nb::kw_only(), "labels"_a.noconvert(), "by_term"_a.noconvert(), "weights"_a.noconvert(),
           "counts"_a.noconvert());
  nb::class_<BoundResult>(m, "CriterionSweepResult", "Summary of a sweep.")
      .def_ro("moves", &BoundResult::moves, "Number of rows that moved.")
      .def_ro("evaluations", &BoundResult::evaluations, "Number of products of rows and composites.")
      .def_prop_ro(
          "within", [](const BoundResult& result) { return result.sums.within; },
          "Sum of the terms that are maximised.")
      .def_prop_ro(
          "between", [](const BoundResult& result) { return result.sums.between; },
          "Sum of the terms that are minimised.")
      .def_ro("late", &BoundResult::late, "True if the sweep ran out of time.");
  m.def("sum_by_term", &sum_rows, "rows"_a, "row_weights"_a.none(), "composites"_a, "n_threads"_a = 1,
        "Compute composites, weights and counts from the labels, in place.");
  m.def("most_similar", &label_rows, "rows"_a, "composites"_a, "n_threads"_a = 1,
        "Set the label of each row to the composite with the largest product, in place. Ties go to the "
        "lower index.");
  m.def("criterion_sweep", &sweep_rows, "rows"_a, "row_weights"_a.none(), "composites"_a, nb::kw_only(),
        "criterion"_a, "order"_a, "block_rows"_a, "seconds_left"_a = kNoDeadline, "n_threads"_a = 1,
        "Visit rows in the given order and move each to a better cluster, in place.");
}

}  // namespace boostkmeans
