// Bindings of rows, of their statistics, and of the recomputation of partitions.
#include "bindings/rows.hpp"

#include <nanobind/stl/array.h>

#include "bindings/module.hpp"
#include "bindings/partition.hpp"
#include "partition/rows_by_cluster.hpp"
#include "projection/project.hpp"
#include "rows/describe.hpp"
#include "rows/row_checksum.hpp"

namespace boostkmeans {
namespace {

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (int n = 0; const Kernel* kernel = available_kernel(n); ++n) names.emplace_back(kernel->name);
  return names;
}

auto describe_rows(const Rows& rows, int n_threads) {
  Description found;
  run(n_threads, rows.size(), kNoDeadline,
      [&](ThreadPool& pool) { found = describe(rows.dense(), pool); });
  return std::make_tuple(to_numpy(found.low), to_numpy(found.high), found.bad_row);
}

auto norms_of_rows(const Rows& rows, int n_threads, bool by_columns) {
  const NormOrder order = by_columns ? NormOrder::by_columns : NormOrder::fastest;
  return to_numpy<double>(rows.n_rows(), [&](double* norms) {
    run(n_threads, rows.size(), kNoDeadline,
        [&](ThreadPool& pool) { rows.visit([&](const auto& x) { row_norms(x, order, norms, pool); }); });
  });
}

std::uint64_t checksum_of_rows(const Rows& rows, std::int64_t first_row, int n_threads) {
  std::uint64_t found = 0;
  run(n_threads, rows.size(), kNoDeadline, [&](ThreadPool& pool) {
    found = rows.visit([&](const auto& x) { return row_checksum(x, first_row, pool); });
  });
  return found;
}

auto recompute_partition(const Rows& rows, const Weights& row_weights, const PartitionView& view,
                         const std::optional<Vector<double>>& inertias, int n_threads) {
  const Partition partition = view.of(rows);
  const RowWeights w = row_weights_of(row_weights, rows);
  require(!inertias || length_of(*inertias) == partition.n_clusters,
          "inertias must have one value per cluster");
  RecomputeResult result;
  // Number of operations that take as long as reading one value, twice, in the order of the clusters.
  constexpr double kCostOfValue = 8.0;
  run(n_threads, kCostOfValue * rows.size(), kNoDeadline, [&](ThreadPool& pool) {
    result = rows.visit(
        [&](const auto& x) { return recompute(x, w, partition, data_or_null(inertias), pool); });
  });
  return std::make_tuple(result.inertia, result.drift);
}

auto members_of_clusters(const Vector<const std::int32_t>& labels, std::int64_t n_clusters,
                         int n_threads) {
  require(n_clusters > 0, "n_clusters must be positive");
  // Number of operations that take as long as sorting one row.
  constexpr double kCostOfRow = 20.0;
  RowsByCluster sorted;
  run(n_threads, kCostOfRow * static_cast<double>(length_of(labels)), kNoDeadline,
      [&](ThreadPool& pool) {
        sorted = sort_by_cluster(labels.data(), n_clusters, length_of(labels), pool);
      });
  return std::make_tuple(to_numpy(sorted.rows), to_numpy(sorted.start));
}

void project_rows(const Rows& rows, const Matrix<const double>& axes, double scale,
                  const Matrix<float>& out, int n_threads) {
  const std::int64_t n_axes = length_of(axes, 1);
  require(length_of(axes) == rows.n_features(), "axes must have one row per feature");
  require(length_of(out) == rows.n_rows() && length_of(out, 1) == n_axes + 1,
          "out must have one row per row, and one column more than there are axes");
  const DenseRows& dense = rows.dense();
  run(n_threads, rows.size() * static_cast<double>(n_axes), kNoDeadline,
      [&](ThreadPool& pool) { project(dense, axes.data(), n_axes, scale, out.data(), pool); });
}

}  // namespace

void bind_rows(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<CsrMatrix>(
      m, "CsrMatrix",
      "CSR matrix that keeps its arrays. The constructor checks all indices, in parallel, so that "
      "several Rows can be built from it without further checks.")
      .def(nb::init<nb::handle, nb::handle, nb::handle, std::int64_t, int>(), nb::kw_only(), "values"_a,
           "columns"_a, "starts"_a, "n_features"_a, "n_threads"_a = 1);
  nb::class_<Rows>(
      m, "Rows",
      "Rows of an array or a CSR matrix, read as (x * factor - shift) * 2**exponent. Rows of a CSR "
      "matrix stay sparse if shift is None; otherwise they are expanded when they are read.")
      .def(nb::init<nb::handle, const Rows::Shift&, int, Rows::Factors, const std::string&>(), "array"_a,
           nb::kw_only(), "shift"_a.none(), "exponent"_a = 0, "factors"_a = nb::none(), "isa"_a = "")
      .def_prop_ro("n_rows", &Rows::n_rows)
      .def_prop_ro("n_features", &Rows::n_features)
      .def_prop_ro("isa", [](const Rows& rows) { return std::string(rows.kernel().name); });
  nb::class_<PartitionView>(
      m, "PartitionView",
      "Labels, composites, weights and counts of a partition, which native functions change in place. "
      "Labels must lie in [0, n_clusters); this is not checked.")
      .def(nb::init<Vector<std::int32_t>, Matrix<double>, Vector<double>, Vector<std::int64_t>>(),
           nb::kw_only(), "labels"_a.noconvert(), "composites"_a.noconvert(), "weights"_a.noconvert(),
           "counts"_a.noconvert())
      .def_prop_ro("n_clusters", &PartitionView::n_clusters);
  m.def(
      "simulated_cores", [] { return kSimulatedCores; },
      "Return the numbers of processors for which section_times reports upper bounds.");
  m.def(
      "section_times",
      [] {
        const SectionTimes& times = section_times();
        return std::make_tuple(times.wall, times.busy, times.simulated);
      },
      "Return the seconds that calls from the current thread have spent in parallel sections so far: "
      "the elapsed time, the sum over all threads, and upper bounds of the time on simulated_cores().");
  m.def("instruction_sets", &instruction_sets,
        "Return the names of the instruction sets that this machine supports, the baseline first.");
  m.def("describe", &describe_rows, "rows"_a, "n_threads"_a,
        "Return the minimum and the maximum of each column, and the first row with a value that is "
        "not finite, or -1.");
  m.def(
      "row_norms", &norms_of_rows, "rows"_a, "n_threads"_a, "by_columns"_a = false,
      "Return the Euclidean length of each row. With by_columns, squares are added in the order of the "
      "columns, so that dense rows and sparse rows of the same data have equal lengths.");
  m.def("row_checksum", &checksum_of_rows, "rows"_a, "first_row"_a, "n_threads"_a,
        "Return the checksum of the values of all rows, whose numbers begin with first_row. The sum of "
        "the checksums of blocks, modulo 2**64, is that of all rows.");
  m.def("recompute", &recompute_partition, "rows"_a, "row_weights"_a.none(), "partition"_a,
        "inertias"_a.noconvert().none(), "n_threads"_a,
        "Recompute composites, weights and counts (and the inertia of each cluster) from the labels, "
        "in place. Return (inertia, drift).");
  m.def("project", &project_rows, "rows"_a, "axes"_a, "scale"_a, "out"_a.noconvert(), "n_threads"_a,
        "Compute the products of all rows with the axes, times scale, in place. The last column of out "
        "receives the length of the rest of each row, times scale.");
  m.def("members", &members_of_clusters, "labels"_a, "n_clusters"_a, "n_threads"_a = 1,
        "Return the row numbers sorted by cluster, and the start of each cluster in them, followed "
        "by their number.");
}

}  // namespace boostkmeans
