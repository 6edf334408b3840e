// The core as Python sees it: arrays in, arrays out. Checks shapes, releases the lock, answers Ctrl-C.
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "assign/approximate.hpp"
#include "bindings/arrays.hpp"
#include "rows/describe.hpp"
#include "support/rows_by_cluster.hpp"
#include "assign/nearest.hpp"
#include "assign/neighbours.hpp"
#include "assign/online.hpp"
#include "partition/partition.hpp"
#include "assign/kmeans_plus_plus.hpp"
#include "tree/split.hpp"
#include "sweep/sweep.hpp"

namespace boostkmeans {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

template <class T>
auto copied(const std::vector<T>& from) {
  return to_numpy<T>(static_cast<std::int64_t>(from.size()),
                     [&](T* to) { std::copy(from.begin(), from.end(), to); });
}

auto describe_rows(const Rows& rows, int n_threads) {
  Description found;
  run(n_threads, size_of(rows), kNoDeadline,
      [&](Team& team) { found = describe(rows.dense(), team); });
  return std::make_tuple(copied(found.low), copied(found.high), found.bad_row);
}

auto norms_of_rows(const Rows& rows, int n_threads) {
  return to_numpy<double>(rows.n_rows(), [&](double* norms) {
    run(n_threads, size_of(rows), kNoDeadline,
        [&](Team& team) { rows.visit([&](const auto& x) { row_norms(x, norms, team); }); });
  });
}

auto recompute_partition(const Rows& rows, Weights row_weights, Vector<std::int32_t> labels,
                         Matrix<double> composites, Vector<double> weights,
                         Vector<std::int64_t> counts, std::optional<Vector<double>> inertias,
                         int n_threads) {
  const Partition partition = partition_of(rows, labels, composites, weights, counts);
  const RowWeights w = row_weights_of(row_weights, rows);
  require(!inertias || inertias->shape(0) == weights.shape(0), "inertias must have one for each cluster");
  Recomputed result;
  run(n_threads, size_of(rows), kNoDeadline,
      [&](Team& team) {
        result = rows.visit([&](const auto& x) {
          return recompute(x, w, partition, inertias ? inertias->data() : nullptr, team);
        });
      });
  return std::make_tuple(result.inertia, result.drift);
}

auto members_of_clusters(Vector<const std::int32_t> labels, std::int64_t n_clusters) {
  require(n_clusters > 0, "there must be clusters");
  check_numbers(labels.data(), labels.size(), 0, n_clusters, "labels must name clusters");
  const Members sorted =
      sort_by_cluster(labels.data(), n_clusters, static_cast<std::int64_t>(labels.size()));
  return std::make_tuple(copied(sorted.rows), copied(sorted.start));
}

void check_prices(const Partition& partition, const std::optional<Vector<const double>>& prices,
                  const Limits& limits) {
  if (!prices) return;
  require(static_cast<std::int64_t>(prices->shape(0)) == partition.n_clusters,
          "prices must have one value for each cluster");
  require(!limits, "there are either prices or limits");
  for (std::int64_t c = 0; c < partition.n_clusters; ++c)
    require(prices->data()[c] >= 0.0, "prices must not be negative");
}

auto sweep_partition(const Rows& rows, Weights row_weights, Vector<std::int32_t> labels,
                     Matrix<double> composites, Vector<double> weights, Vector<std::int64_t> counts,
                     Vector<const std::int64_t> order, std::int64_t run_rows,
                     std::int64_t block_rows, bool first, std::uint64_t seed, bool exact,
                     bool low, double seconds_left, int n_threads, double temperature, double least,
                     double most, bool exchange, std::optional<Vector<const double>> prices) {
  const Partition partition = partition_of(rows, labels, composites, weights, counts);
  const RowWeights w = row_weights_of(row_weights, rows);
  require(temperature >= 0.0 && temperature < 1.0 && (temperature == 0.0 || !exact),
          "temperature must lie in [0, 1), and be 0 for a certificate");
  require(run_rows > 0 && block_rows > 0, "run_rows and block_rows must be positive");
  const auto n_runs = static_cast<std::int64_t>(order.shape(0));
  for (std::int64_t i = 0; i < n_runs; ++i)
    require(order.data()[i] >= 0 && order.data()[i] * run_rows < rows.n_rows(),
            "order names a run outside of the rows");
  const Visit visit{order.data(), n_runs, run_rows, block_rows};
  require(!(prices && exact), "there are no prices in a certificate");
  check_prices(partition, prices, {least, most});
  const SweepOptions options{first, seed, exact, low, temperature, {least, most}, exchange,
                             prices ? prices->data() : nullptr};
  SweepResult result;
  const bool late = run(
      n_threads, size_of(rows) * static_cast<double>(partition.n_clusters), seconds_left,
      [&](Team& team) {
        result = rows.visit([&](const auto& x) { return sweep(x, w, partition, visit, options, team); });
      });
  return std::make_tuple(result.moves, result.gain, result.evaluations, late);
}

auto sweep_candidates(const Rows& rows, Weights row_weights, Vector<std::int32_t> labels,
                      Matrix<double> composites, Vector<double> weights,
                      Vector<std::int64_t> counts, Matrix<const std::int32_t> lists,
                      Vector<std::int64_t> changed, Vector<std::int64_t> visited, std::int64_t clock,
                      Vector<const std::int32_t> order, std::int64_t block_rows,
                      std::optional<Vector<std::int32_t>> runners_up, bool by_runner_up, bool first,
                      std::uint64_t seed, double seconds_left, int n_threads, double temperature,
                      double least, double most, bool exchange,
                      std::optional<Vector<const double>> prices) {
  const Partition partition = partition_of(rows, labels, composites, weights, counts);
  const RowWeights w = row_weights_of(row_weights, rows);
  const auto k = static_cast<std::size_t>(partition.n_clusters);
  require(lists.shape(0) == k && lists.shape(1) > 0 && changed.shape(0) == k && visited.shape(0) == k,
          "lists, changed and visited must have one entry for each cluster");
  check_numbers(lists.data(), lists.size(), -1, partition.n_clusters, "lists must name clusters, or -1");
  check_numbers(order.data(), order.size(), 0, partition.n_clusters, "order must name clusters");
  require(block_rows > 0, "block_rows must be positive");
  require(temperature >= 0.0 && temperature < 1.0, "temperature must lie in [0, 1)");
  Neighbourhoods near{lists.data(), static_cast<std::int64_t>(lists.shape(1)), changed.data(),
                      visited.data(), clock};
  require(!by_runner_up || runners_up, "there are no runners-up to go by");
  if (runners_up) {
    require(static_cast<std::int64_t>(runners_up->shape(0)) == rows.n_rows(),
            "runners_up must have one cluster for each row");
    check_numbers(runners_up->data(), runners_up->size(), 0, partition.n_clusters,
                  "runners_up must name clusters");
  }
  const CandidateVisit visit{order.data(), static_cast<std::int64_t>(order.shape(0)), block_rows,
                             runners_up ? runners_up->data() : nullptr, by_runner_up};
  check_prices(partition, prices, {least, most});
  const SweepOptions options{first, seed, false, false, temperature, {least, most}, exchange,
                             prices ? prices->data() : nullptr};
  SweepResult result;
  const bool late = run(
      n_threads, size_of(rows) * static_cast<double>(near.length), seconds_left,
      [&](Team& team) {
        result = rows.visit(
            [&](const auto& x) { return sweep(x, w, partition, visit, near, options, team); });
      });
  return std::make_tuple(result.moves, result.gain, result.evaluations, late, near.clock);
}

Groups groups_of(std::int64_t n_centres, const Vector<const std::int32_t>& order,
                 const Vector<const std::int64_t>& starts, const Matrix<const std::int32_t>& lists) {
  const auto n_groups = static_cast<std::int64_t>(lists.shape(0));
  require(static_cast<std::int64_t>(order.shape(0)) == n_centres && n_groups > 0 && lists.shape(1) > 0 &&
              static_cast<std::int64_t>(starts.shape(0)) == n_groups + 1 && starts.data()[0] == 0 &&
              starts.data()[n_groups] == n_centres &&
              std::is_sorted(starts.data(), starts.data() + n_groups + 1),
          "order and starts must divide the centres into groups");
  check_numbers(order.data(), order.size(), 0, n_centres, "order must name centres");
  check_numbers(lists.data(), lists.size(), -1, n_groups, "lists must name groups, or -1");
  return {order.data(), starts.data(), lists.data(), n_groups, static_cast<std::int64_t>(lists.shape(1))};
}

void find_neighbours(Matrix<const double> centres, Vector<const std::int32_t> order,
                     Vector<const std::int64_t> starts, Matrix<const std::int32_t> lists,
                     Matrix<std::int32_t> out, const std::string& isa, int n_threads) {
  const auto k = static_cast<std::int64_t>(centres.shape(0));
  const Groups groups = groups_of(k, order, starts, lists);
  require(static_cast<std::int64_t>(out.shape(0)) == k && out.shape(1) > 0,
          "out must have a list for each centre");
  run(n_threads, static_cast<double>(k) * static_cast<double>(k * out.shape(1)), kNoDeadline,
      [&](Team& team) {
        neighbours(kernel_named(isa), centres.data(), k, static_cast<std::int64_t>(centres.shape(1)),
                   groups, static_cast<std::int64_t>(out.shape(1)), out.data(), team);
      });
}

void find_pair_gaps(Matrix<const double> composites, Vector<const double> weights,
                    Vector<const std::int64_t> a, Vector<const std::int64_t> b, Vector<double> out,
                    const std::string& isa, int n_threads) {
  const auto k = static_cast<std::int64_t>(composites.shape(0));
  require(weights.shape(0) == composites.shape(0) && a.shape(0) == b.shape(0) && out.shape(0) == a.shape(0),
          "weights must have one value for each composite, a, b and out one for each pair");
  check_numbers(a.data(), a.size(), 0, k, "a must name composites");
  check_numbers(b.data(), b.size(), 0, k, "b must name composites");
  const auto d = static_cast<std::int64_t>(composites.shape(1));
  run(n_threads, static_cast<double>(a.size()) * static_cast<double>(d), kNoDeadline, [&](Team& team) {
    pair_gaps(kernel_named(isa), composites.data(), weights.data(), d, a.data(), b.data(),
              static_cast<std::int64_t>(a.shape(0)), out.data(), team);
  });
}

std::int64_t check_centres(const Rows& rows, const Matrix<const double>& centres) {
  require(centres.shape(0) > 0 &&
              static_cast<std::int64_t>(centres.shape(1)) == rows.n_features(),
          "centres must have as many columns as the rows");
  return static_cast<std::int64_t>(centres.shape(0));
}

void nearest_centres(const Rows& rows, Matrix<const double> centres, Vector<std::int32_t> labels,
                     std::optional<Vector<double>> distances,
                     std::optional<Vector<const std::int32_t>> exclude, int n_threads) {
  const std::int64_t k = check_centres(rows, centres);
  const auto n = static_cast<std::size_t>(rows.n_rows());
  require(labels.shape(0) == n && (!distances || distances->shape(0) == n) &&
              (!exclude || exclude->shape(0) == n),
          "labels, distances and exclude must have one value for each row");
  require(!exclude || k > 1, "excluding a centre leaves none");
  run(n_threads, size_of(rows) * static_cast<double>(k), kNoDeadline, [&](Team& team) {
    rows.visit([&](const auto& x) {
      nearest(x, centres.data(), k, exclude ? exclude->data() : nullptr, labels.data(),
              distances ? distances->data() : nullptr, team);
    });
  });
}

void distances_to_centres(const Rows& rows, Matrix<const double> centres, Matrix<double> out,
                          int n_threads) {
  const std::int64_t k = check_centres(rows, centres);
  require(static_cast<std::int64_t>(out.shape(0)) == rows.n_rows() &&
              static_cast<std::int64_t>(out.shape(1)) == k,
          "out must be n_rows x n_clusters");
  run(n_threads, size_of(rows) * static_cast<double>(k), kNoDeadline, [&](Team& team) {
    rows.visit([&](const auto& x) { all_distances(x, centres.data(), k, out.data(), team); });
  });
}

void nearest_of_groups(const Rows& rows, Matrix<const double> centres, Vector<std::int32_t> row_groups,
                       Vector<const std::int32_t> order, Vector<const std::int64_t> starts,
                       Matrix<const std::int32_t> lists, Vector<std::int32_t> labels, int n_threads) {
  const std::int64_t k = check_centres(rows, centres);
  const auto n = static_cast<std::size_t>(rows.n_rows());
  const Groups groups = groups_of(k, order, starts, lists);
  require(row_groups.shape(0) == n && labels.shape(0) == n,
          "row_groups and labels must have one value for each row");
  check_numbers(row_groups.data(), n, 0, groups.n_groups, "row_groups must lie in [0, n_groups)");
  for (std::int64_t g = 0; g < groups.n_groups; ++g) {
    const std::int32_t first = groups.lists[g * groups.list_length];
    require(first >= 0 && groups.starts[first] < groups.starts[first + 1], "a list must not be empty");
  }
  run(n_threads, size_of(rows) * static_cast<double>(groups.list_length), kNoDeadline,
      [&](Team& team) {
        rows.visit([&](const auto& x) {
          nearest_in_groups(x, centres.data(), k, row_groups.data(), groups, labels.data(), team);
        });
      });
}

void descend_tree(const Rows& rows, Matrix<const std::int32_t> children, Matrix<const double> centres,
                  Vector<std::int32_t> leaves, int n_threads) {
  const std::int64_t n_nodes = check_centres(rows, centres);
  const auto n_sections = static_cast<std::int64_t>(children.shape(1));
  require(static_cast<std::int64_t>(children.shape(0)) == n_nodes && n_sections > 0 &&
              static_cast<std::int64_t>(leaves.shape(0)) == rows.n_rows(),
          "children must have a line for each node, leaves a value for each row");
  for (std::int64_t i = 0; i < n_nodes * n_sections; ++i) {
    const std::int32_t child = children.data()[i];
    // A child comes after its parent, so that no way down is endless.
    require(child == -1 || (child > i / n_sections && child < n_nodes), "children must follow their parents");
  }
  run(n_threads, size_of(rows) * 20.0, kNoDeadline, [&](Team& team) {
    rows.visit([&](const auto& x) {
      descend(x, children.data(), n_nodes, n_sections, centres.data(), leaves.data(), team);
    });
  });
}

void distances_to_own(const Rows& rows, Matrix<const double> centres, Vector<const std::int32_t> labels,
                      Vector<double> distances, Vector<double> norms, int n_threads) {
  const std::int64_t k = check_centres(rows, centres);
  const auto n = static_cast<std::size_t>(rows.n_rows());
  require(labels.shape(0) == n && distances.shape(0) == n && norms.shape(0) == n,
          "labels, distances and norms must have one value for each row");
  check_numbers(labels.data(), n, 0, k, "labels must name centres");
  run(n_threads, size_of(rows), kNoDeadline, [&](Team& team) {
    rows.visit([&](const auto& x) {
      own_distances(x, centres.data(), k, labels.data(), distances.data(), norms.data(), team);
    });
  });
}

std::int64_t pass_online(const Rows& rows, Matrix<double> centres, Vector<const std::int64_t> order,
                         double rate) {
  require(static_cast<std::int64_t>(centres.shape(1)) == rows.n_features() && centres.shape(0) > 0,
          "centres must have as many columns as the rows");
  require(rate >= 0.0 && rate < 1.0, "rate must lie in [0, 1)");
  check_numbers(order.data(), order.size(), 0, rows.n_rows(), "order must name rows");
  std::int64_t visited = 0;
  run(1, 0.0, kNoDeadline, [&](Team& team) {
    visited = rows.visit([&](const auto& x) {
      return online_pass(x, centres.data(), static_cast<std::int64_t>(centres.shape(0)), order.data(),
                         static_cast<std::int64_t>(order.shape(0)), rate, team.watch());
    });
  });
  return visited;
}

auto seed_plus_plus(const Rows& rows, Weights row_weights, std::int64_t n_clusters,
                    std::int64_t n_trials, std::uint64_t seed, int n_threads) {
  const std::int64_t n = rows.n_rows();
  require(n_clusters > 0 && n_clusters <= n && n_trials > 0,
          "n_clusters must lie in [1, n_rows] and n_trials must be positive");
  const RowWeights w = row_weights_of(row_weights, rows);
  std::vector<std::int64_t> chosen(static_cast<std::size_t>(n_clusters), 0);
  auto labels = to_numpy<std::int32_t>(n, [&](std::int32_t* to) {
    std::fill_n(to, n, 0);
    run(n_threads, size_of(rows) * static_cast<double>(n_trials), kNoDeadline,
        [&](Team& team) {
          rows.visit([&](const auto& x) {
            plus_plus(x, w, n_clusters, n_trials, seed, chosen.data(), to, team);
          });
        });
  });
  auto rows_chosen = to_numpy<std::int64_t>(
      n_clusters, [&](std::int64_t* to) { std::copy(chosen.begin(), chosen.end(), to); });
  return std::make_tuple(rows_chosen, labels);
}

auto split_sets(const Rows& rows, Weights row_weights, Vector<std::int64_t> members,
                Vector<const std::int64_t> begins, Vector<const std::int64_t> ends,
                std::int64_t n_sections, int start, std::int64_t max_passes, double tol,
                std::uint64_t seed, bool measured, int n_threads) {
  const auto n_sets = static_cast<std::int64_t>(begins.shape(0));
  require(ends.shape(0) == begins.shape(0) && n_sections >= 2 && start >= 0 && start <= 2,
          "begins and ends must have one value for each set, and n_sections be at least 2");
  const auto n_members = static_cast<std::int64_t>(members.shape(0));
  double n_rows = 0.0;
  for (std::int64_t i = 0; i < n_sets; ++i) {
    const std::int64_t begin = begins.data()[i], end = ends.data()[i];
    require(begin >= 0 && end <= n_members && end - begin >= n_sections,
            "a set must be a range of members with at least n_sections of them");
    n_rows += static_cast<double>(end - begin);
  }
  check_numbers(members.data(), members.size(), 0, rows.n_rows(), "members must be row numbers");
  const RowWeights w = row_weights_of(row_weights, rows);
  const SplitOptions options{{n_sections, static_cast<SectionStart>(start), max_passes, tol}, seed, measured};
  const auto size = n_sets * n_sections;
  std::vector<double> weights(static_cast<std::size_t>(size)), inertias(static_cast<std::size_t>(size));
  auto found = to_numpy<std::int64_t>(size, [&](std::int64_t* out) {
    const SplitResult result{out, weights.data(), inertias.data()};
    run(n_threads, n_rows * size_of(rows) / static_cast<double>(rows.n_rows()), kNoDeadline, [&](Team& team) {
      rows.visit([&](const auto& x) {
        split(x, w, members.data(), begins.data(), ends.data(), n_sets, options, result, team);
      });
    });
  });
  return std::make_tuple(found, copied(weights), copied(inertias));
}

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (int n = 0; const Kernel* kernel = available_kernel(n); ++n) names.emplace_back(kernel->name);
  return names;
}

}  // namespace
}  // namespace boostkmeans

namespace boostkmeans {
void bind_search(nb::module_& m);  // in bindings_search.cpp
}

NB_MODULE(_core, m) {
  using namespace boostkmeans;
  using namespace nb::literals;
  nb::set_leak_warnings(false);  // a daemon thread may be at work when the interpreter ends
  m.doc() = "The compiled core of boostkmeans. Private: it trusts what the package hands it.";
  nb::class_<Rows>(m, "Rows",
                   "Rows of an array, seen as (x * factor - shift) * 2**scale_exponent; or those of a CSR "
                   "matrix, which are expanded when they are loaded if there is a shift, and else stay sparse.")
      .def(nb::init<nb::handle, std::vector<double>, int, Factors, const std::string&>(),
           "array"_a, "shift"_a, "scale_exponent"_a, "factors"_a = nb::none(), "isa"_a = "")
      .def(nb::init<nb::handle, nb::handle, nb::handle, std::int64_t, std::optional<std::vector<double>>,
                    int, Factors, const std::string&>(),
           "values"_a, "columns"_a, "starts"_a, "n_features"_a, "shift"_a.none(), "scale_exponent"_a,
           "factors"_a = nb::none(), "isa"_a = "")
      .def_prop_ro("n_rows", &Rows::n_rows)
      .def_prop_ro("n_features", &Rows::n_features)
      .def_prop_ro("isa", [](const Rows& rows) { return std::string(rows.kernel().name); });
  m.def("instruction_sets", &instruction_sets,
        "Names of the instruction sets that this machine runs, the plainest first.");
  m.def("describe", &describe_rows, "rows"_a, "n_threads"_a,
        "Lowest and highest value of each column; the first row that is not finite, or -1.");
  m.def("row_norms", &norms_of_rows, "rows"_a, "n_threads"_a, "Euclidean length of each row.");
  m.def("recompute", &recompute_partition, "rows"_a, "row_weights"_a.none(), "labels"_a.noconvert(),
        "composites"_a.noconvert(), "weights"_a.noconvert(), "counts"_a.noconvert(),
        "inertias"_a.noconvert().none(), "n_threads"_a,
        "Composites, weights, counts (and inertias) of the clusters from the labels, in place. Returns "
        "(inertia, drift).");
  m.def("members", &members_of_clusters, "labels"_a, "n_clusters"_a,
        "Row numbers, cluster by cluster, and where each cluster begins and the last one ends.");
  m.def("sweep", &sweep_partition, "rows"_a, "row_weights"_a.none(), "labels"_a.noconvert(), "composites"_a.noconvert(),
        "weights"_a.noconvert(), "counts"_a.noconvert(), "order"_a, "run_rows"_a, "block_rows"_a, "first"_a, "seed"_a,
        "exact"_a, "low"_a, "seconds_left"_a, "n_threads"_a, "temperature"_a = 0.0, "least"_a = 0.0,
        "most"_a = kNoLimit, "exchange"_a = false, "prices"_a = nb::none(),
        "One sweep, in place. Returns (moves, gain, evaluations, whether time ran out).");
  m.def("sweep_candidates", &sweep_candidates, "rows"_a, "row_weights"_a.none(), "labels"_a.noconvert(),
        "composites"_a.noconvert(), "weights"_a.noconvert(), "counts"_a.noconvert(), "lists"_a,
        "changed"_a.noconvert(), "visited"_a.noconvert(), "clock"_a, "order"_a, "block_rows"_a,
        "runners_up"_a.noconvert().none(), "by_runner_up"_a, "first"_a, "seed"_a, "seconds_left"_a,
        "n_threads"_a, "temperature"_a = 0.0, "least"_a = 0.0, "most"_a = kNoLimit, "exchange"_a = false, "prices"_a = nb::none(),
        "One sweep, cluster by cluster, over lists of neighbours, in place. Returns (moves, gain, "
        "evaluations, whether time ran out, clock).");
  m.def("neighbours", &find_neighbours, "centres"_a, "order"_a, "starts"_a, "lists"_a,
        "out"_a.noconvert(), "isa"_a, "n_threads"_a,
        "Nearest other centres of each centre, nearest first, -1 where there are no more, in place. "
        "Centres come in groups and look into the groups of their group's list.");
  m.def("pair_gaps", &find_pair_gaps, "composites"_a, "weights"_a, "a"_a, "b"_a, "out"_a.noconvert(),
        "isa"_a, "n_threads"_a, "Squared distances of pairs of centres, in place.");
  m.def("nearest", &nearest_centres, "rows"_a, "centres"_a, "labels"_a.noconvert(), "distances"_a.noconvert().none(),
        "exclude"_a.none(), "n_threads"_a,
        "Exact nearest centre (other than `exclude`) and squared distance of each row, in place.");
  m.def("distances", &distances_to_centres, "rows"_a, "centres"_a, "out"_a.noconvert(), "n_threads"_a,
        "Squared distances of all rows to all centres, in place.");
  m.def("own_distances", &distances_to_own, "rows"_a, "centres"_a, "labels"_a, "distances"_a.noconvert(),
        "norms"_a.noconvert(), "n_threads"_a,
        "Squared distance of each row to the centre that its label names, and its squared length, in place.");
  m.def("online_pass", &pass_online, "rows"_a, "centres"_a.noconvert(), "order"_a, "rate"_a,
        "Row by row, the nearest centre moves towards the row, in place. Returns the number of rows.");
  m.def("nearest_in_groups", &nearest_of_groups, "rows"_a, "centres"_a, "row_groups"_a.noconvert(),
        "order"_a, "starts"_a, "lists"_a, "labels"_a.noconvert(), "n_threads"_a,
        "Nearest of the centres in the groups that are listed for the group of each row, in place.");
  m.def("descend", &descend_tree, "rows"_a, "children"_a, "centres"_a, "leaves"_a.noconvert(),
        "n_threads"_a, "The leaf of each row, from node 0 on by the nearest child, in place.");
  m.def("plus_plus", &seed_plus_plus, "rows"_a, "row_weights"_a.none(), "n_clusters"_a,
        "n_trials"_a, "seed"_a, "n_threads"_a,
        "Greedy k-means++. Returns (chosen rows, label of each row).");
  m.def("split", &split_sets, "rows"_a, "row_weights"_a.none(), "members"_a.noconvert(), "begins"_a,
        "ends"_a, "n_sections"_a, "start"_a, "max_passes"_a, "tol"_a, "seed"_a, "measured"_a,
        "n_threads"_a,
        "Splits ranges of members, which are reordered. Returns (ends, weights, inertias), each flat: "
        "sets x sections. Ends are -1 where all rows of a set are equal.");
  bind_search(m);
}
