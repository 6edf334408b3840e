// Bindings of splits into sections and of the descent of a cluster tree.
#include <nanobind/stl/optional.h>

#include <limits>
#include <optional>

#include "assign/approximate.hpp"
#include "bindings/centres.hpp"
#include "bindings/module.hpp"
#include "tree/split.hpp"

namespace boostkmeans {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

SectionStart start_named(const std::string& name) {
  if (name == "random-partition") return SectionStart::random_partition;
  if (name == "random") return SectionStart::random;
  require(name == "k-means++", "init must be 'random-partition', 'random' or 'k-means++'");
  return SectionStart::plus_plus;
}

SplitRule rule_named(const std::string& name) {
  if (name == "fast") return SplitRule::fast;
  if (name == "boost") return SplitRule::boost;
  require(name == "lloyd", "rule must be 'fast', 'boost' or 'lloyd'");
  return SplitRule::lloyd;
}

SplitOptions split_options(std::int64_t n_sections, const std::string& init,
                           std::optional<std::int64_t> max_passes, double tol, std::uint64_t seed,
                           bool with_inertias, const std::string& rule, bool sample, bool bounded,
                           std::int64_t max_rows_of_one_thread) {
  require(n_sections >= 2, "n_sections must be at least 2");
  require(rule != "fast" || sample, "the rule 'fast' needs samples");
  return {{n_sections, start_named(init), max_passes.value_or(kNoLimit), tol},
          seed,
          with_inertias,
          rule_named(rule),
          sample,
          bounded,
          max_rows_of_one_thread,
          {}};
}

// Returns the function that reports passes to Python, or an empty one. It is called without the GIL.
AfterPass after_pass_of(const nb::object& report) {
  if (report.is_none()) return {};
  return [&report](std::int64_t n_rows, std::int64_t n_passes, std::int64_t n_moves) {
    const nb::gil_scoped_acquire lock;
    report(n_rows, n_passes, n_moves);
  };
}

// Returns the number of rows in all sets. Checks that each set is a range of members that can be
// split.
std::int64_t rows_in_sets(const Vector<const std::int64_t>& begins,
                          const Vector<const std::int64_t>& ends, std::int64_t n_members,
                          std::int64_t n_sections) {
  require(ends.shape(0) == begins.shape(0), "begins and ends must have one value per set");
  std::int64_t total = 0;
  for (std::size_t i = 0; i < begins.shape(0); ++i) {
    const std::int64_t begin = begins.data()[i], end = ends.data()[i];
    require(begin >= 0 && end <= n_members && end - begin >= n_sections,
            "each set must be a range of at least n_sections members");
    total += end - begin;
  }
  return total;
}

auto split_sets(const Rows& rows, const Weights& row_weights, const Vector<std::int64_t>& members,
                const Vector<const std::int64_t>& begins, const Vector<const std::int64_t>& ends,
                const SplitOptions& given, int n_threads, const nb::object& report) {
  SplitOptions options = given;
  options.after_pass = after_pass_of(report);
  const RowWeights w = row_weights_of(row_weights, rows);
  const std::int64_t n_sets = length_of(begins), size = n_sets * options.sections.n_sections;
  const std::int64_t n_rows =
      rows_in_sets(begins, ends, length_of(members), options.sections.n_sections);
  // Typical number of passes over the rows of a set, to estimate the work.
  constexpr double kPasses = 8.0;
  const double work =
      kPasses * static_cast<double>(n_rows) * rows.size() / static_cast<double>(rows.n_rows());
  std::vector<double> weights(static_cast<std::size_t>(size)), inertias(static_cast<std::size_t>(size));
  std::vector<std::int64_t> passes(static_cast<std::size_t>(n_sets), 0);
  auto found = to_numpy<std::int64_t>(size, [&](std::int64_t* out) {
    const SplitResult result{out, weights.data(), inertias.data(), passes.data()};
    run(n_threads, work, kNoDeadline, [&](ThreadPool& pool) {
      rows.visit([&](const auto& x) {
        split(x, w, members.data(), begins.data(), ends.data(), n_sets, options, result, pool);
      });
    });
  });
  return std::make_tuple(found, to_numpy(weights), to_numpy(inertias), to_numpy(passes));
}

void descend_tree(const Rows& rows, const Matrix<const std::int32_t>& children,
                  const Matrix<const double>& centres, const Vector<std::int32_t>& leaves,
                  int n_threads) {
  const std::int64_t n_nodes = count_centres(centres, rows), n_sections = length_of(children, 1);
  require(length_of(children) == n_nodes && n_sections > 0, "children must have one row per node");
  require(length_of(leaves) == rows.n_rows(), "leaves must have one value per row");
  // Typical depth of a tree, to estimate the work.
  constexpr double kDepth = 20.0;
  run(n_threads, rows.size() * kDepth, kNoDeadline, [&](ThreadPool& pool) {
    rows.visit([&](const auto& x) {
      descend(x, children.data(), n_nodes, n_sections, centres.data(), leaves.data(), pool);
    });
  });
}

}  // namespace

void bind_tree(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<SplitOptions>(m, "SplitOptions", "How sets of rows are split into sections.")
      .def(nb::new_(&split_options), nb::kw_only(), "n_sections"_a, "init"_a, "max_passes"_a.none(),
           "tol"_a, "seed"_a, "with_inertias"_a, "rule"_a = "fast", "sample"_a = true,
           "bounded"_a = true, "max_rows_of_one_thread"_a = 0);
  m.def("split", &split_sets, "rows"_a, "row_weights"_a.none(), "members"_a.noconvert(), "begins"_a,
        "ends"_a, "options"_a, "n_threads"_a, "report"_a.none() = nb::none(),
        "Split sets of rows into sections. Set i is members[begins[i]:ends[i]], which is reordered so "
        "that its sections are ranges. Return (ends, weights, inertias) of the sections, each of "
        "length sets x sections, and the number of passes of each set. The ends are -1 where all rows "
        "of a set are equal. While all threads split a large set, report(rows of the set, passes so "
        "far, moves of the last pass) is called after each pass.");
  m.def("descend", &descend_tree, "rows"_a, "children"_a, "centres"_a, "leaves"_a.noconvert(),
        "n_threads"_a,
        "Find the leaf of each row, in place: from node 0, always to the nearest child. Children "
        "must have larger numbers than their parents; this is not checked.");
}

}  // namespace boostkmeans
