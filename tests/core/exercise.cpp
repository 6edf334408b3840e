// Runs all functions of the core on small random data, with every scalar type, every instruction set and
// several threads, for the sanitizers (make sanitize) and for other processors (make test-arm). Scores
// of kernels are compared with plain loops; other results are only checked for consistency.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "assign/approximate.hpp"
#include "assign/kmeans_plus_plus.hpp"
#include "assign/near_pairs.hpp"
#include "assign/nearest.hpp"
#include "assign/neighbours.hpp"
#include "assign/silhouette.hpp"
#include "baselines/online.hpp"
#include "criteria/criterion_sweep.hpp"
#include "criteria/most_similar.hpp"
#include "kernel/processor.hpp"
#include "kernel_checks.hpp"
#include "partition/partition.hpp"
#include "projection/project.hpp"
#include "rows/describe.hpp"
#include "search/code_search.hpp"
#include "search/exact_search.hpp"
#include "sweep/sweep.hpp"
#include "tree/split.hpp"

using namespace boostkmeans;

namespace {

void check(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}

struct Problem {
  std::int64_t n, d, k;
  Scalar scalar;
  std::int64_t item;
};

std::vector<unsigned char> random_bytes(const Problem& p, std::mt19937& random) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(p.n * p.d * p.item));
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  // Floating-point types: set the top bits of the exponent, so that all values are finite and moderate.
  const unsigned char top = p.scalar == Scalar::float64 ? 0x3f : 0x3b;
  if (p.scalar == Scalar::float64 || p.scalar == Scalar::float32 || p.scalar == Scalar::float16)
    for (std::size_t i = static_cast<std::size_t>(p.item) - 1; i < bytes.size();
         i += static_cast<std::size_t>(p.item))
      bytes[i] = static_cast<unsigned char>((bytes[i] & 0x80) | top);
  return bytes;
}

// Neighbour lists from groups of three centres, sweeps over these lists, and the nearest centre in a
// list.
template <class Rows>
void exercise_candidates(const Rows& rows, RowWeights w, const Partition& partition, ThreadPool& pool) {
  const std::int64_t k = partition.n_clusters, length = std::min<std::int64_t>(4, k - 1);
  std::vector<std::int32_t> order(static_cast<std::size_t>(k)),
      lists(static_cast<std::size_t>(k * length));
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::int64_t> starts;
  for (std::int64_t at = 0; at < k; at += 3) starts.push_back(at);
  const auto n_groups = static_cast<std::int64_t>(starts.size());
  starts.push_back(k);
  std::vector<std::int32_t> everywhere;
  everywhere.reserve(static_cast<std::size_t>(n_groups * n_groups));
  for (std::int64_t i = 0; i < n_groups * n_groups; ++i)
    everywhere.push_back(static_cast<std::int32_t>(i % n_groups));
  neighbours(rows.kernel(), partition.composites, k, partition.n_features,
             {order.data(), starts.data(), everywhere.data(), n_groups, n_groups}, length, nullptr,
             lists.data(), pool);
  std::vector<std::int32_t> only_own(static_cast<std::size_t>(n_groups)), again(lists.size());
  std::iota(only_own.begin(), only_own.end(), 0);
  neighbours(rows.kernel(), partition.composites, k, partition.n_features,
             {order.data(), starts.data(), only_own.data(), n_groups, 1}, length, lists.data(),
             again.data(), pool);
  // Nearly equal distances may change the order within a list.
  std::vector<std::int32_t> sorted = lists;
  for (std::int64_t c = 0; c < k; ++c) {
    std::sort(sorted.begin() + c * length, sorted.begin() + (c + 1) * length);
    std::sort(again.begin() + c * length, again.begin() + (c + 1) * length);
  }
  check(again == sorted, "earlier neighbours are found again");
  std::vector<std::int64_t> changed(order.size(), -1), visited(order.size(), -1);
  std::vector<std::int32_t> runners_up(static_cast<std::size_t>(rows.n_rows()), 0);
  CandidateVisit visit{lists.data(),      length, changed.data(), visited.data(), 0, order.data(), k, 64,
                       runners_up.data(), false};
  double inertia = recompute(rows, w, partition, nullptr, pool).inertia;
  for (int s = 0; s < 4; ++s) {
    visit.by_runner_up = s == 2;
    Visit by_list = visit;
    sweep(rows, w, partition, by_list, {.first = s == 1, .seed = 5}, pool);
    visit.clock = std::get<CandidateVisit>(by_list).clock;
    const double after = recompute(rows, w, partition, nullptr, pool).inertia;
    check(after <= inertia * (1 + 1e-12), "a sweep over candidates lowers the inertia");
    inertia = after;
  }
  std::vector<std::int32_t> row_groups(runners_up.size());
  for (std::size_t i = 0; i < row_groups.size(); ++i)
    row_groups[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) % n_groups);
  nearest_in_groups(rows, partition.composites, k, row_groups.data(),
                    {order.data(), starts.data(), everywhere.data(), n_groups, n_groups},
                    runners_up.data(), pool);
}

// Sweeps with a temperature, with penalties, and within size limits with exchanges.
template <class Rows>
void exercise_limits(const Rows& rows, RowWeights w, const Partition& partition, Visit& visit,
                     ThreadPool& pool) {
  const std::int64_t k = partition.n_clusters;
  sweep(rows, w, partition, visit, {.temperature = 0.3, .seed = 5}, pool);
  std::vector<double> penalties;
  penalties.reserve(static_cast<std::size_t>(k));
  for (std::int64_t c = 0; c < k; ++c) penalties.push_back(0.01 * static_cast<double>(c % 3));
  sweep(rows, w, partition, visit, {.penalties = penalties.data(), .seed = 5}, pool);
  double inertia = recompute(rows, w, partition, nullptr, pool).inertia;
  const auto [min_weight, max_weight] = std::minmax_element(partition.weights, partition.weights + k);
  const std::vector<double> least(static_cast<std::size_t>(k), *min_weight),
      most(least.size(), *max_weight);
  const SizeLimits limits{least.data(), most.data()};
  for (int s = 0; s < 6; ++s) {
    sweep(rows, w, partition, visit,
          {.first = s == 2, .exact = s == 5, .limits = limits, .exchange = s % 2 == 0, .seed = 5}, pool);
    for (std::int64_t c = 0; c < k; ++c) check(limits.allow(c, partition.weights[c]), "limits hold");
    const double after = recompute(rows, w, partition, nullptr, pool).inertia;
    check(after <= inertia * (1 + 1e-12), "a sweep within limits lowers the inertia");
    inertia = after;
  }
}

// The nearest centres of each row, and its silhouette.
template <class Rows>
void exercise_measures(const Rows& rows, RowWeights w, const Partition& partition, ThreadPool& pool) {
  const std::int64_t n = rows.n_rows(), k = partition.n_clusters, m = std::min<std::int64_t>(k, 3);
  std::vector<std::int32_t> many(static_cast<std::size_t>(n * m));
  std::vector<double> distances(many.size()), values(static_cast<std::size_t>(n));
  nearest_many(rows, partition.composites, k, m, many.data(), distances.data(), pool);
  for (std::int64_t i = 0; i < n * m; ++i)
    check(i % m == 0 ||
              distances[static_cast<std::size_t>(i - 1)] <= distances[static_cast<std::size_t>(i)],
          "the nearest centres come first");
  for (const bool cosine : {false, true})
    silhouette(rows, w, partition.labels, k, {cosine, nullptr}, 0, n, values.data(), pool);
  for (const double value : values) check(value >= -1.0 && value <= 1.0, "silhouettes lie in [-1, 1]");
}

// Ranges of members.
struct Sets {
  std::vector<std::int64_t> begins, ends;
};

// Splits sets, and returns those sections that can be split again.
template <class Rows>
Sets split_sets(const Rows& rows, RowWeights w, std::vector<std::int64_t>& members, const Sets& sets,
                const SplitOptions& options, ThreadPool& pool) {
  if (sets.begins.empty()) return {};
  const std::int64_t s = options.sections.n_sections;
  const std::size_t size = sets.begins.size() * static_cast<std::size_t>(s);
  std::vector<std::int64_t> found(size), passes(sets.begins.size());
  std::vector<double> weights(size), inertias(size);
  split(rows, w, members.data(), sets.begins.data(), sets.ends.data(),
        static_cast<std::int64_t>(sets.begins.size()), options,
        {found.data(), weights.data(), inertias.data(), passes.data()}, pool);
  check(found.back() == sets.ends.back() || found.back() == -1,
        "sections make up their set, unless its rows are equal");
  Sets next;
  for (std::size_t i = 0; i < size; ++i) {
    const auto sections = static_cast<std::size_t>(s);
    const std::int64_t begin = i % sections == 0 ? sets.begins[i / sections] : found[i - 1];
    if (found[i] - begin < s) continue;
    next.begins.push_back(begin);
    next.ends.push_back(found[i]);
  }
  return next;
}

// Two levels of splits, and the descent of a tree.
template <class Rows>
void exercise_split(const Rows& rows, RowWeights w, const Partition& partition, ThreadPool& pool) {
  std::vector<std::int64_t> members;
  for (std::int64_t i = 0; i < rows.n_rows(); ++i)
    if (w[i] > 0.0) members.push_back(i);
  for (const auto start :
       {SectionStart::random_partition, SectionStart::random, SectionStart::plus_plus})
    for (const std::int64_t s : {2, 3}) {
      Sets sets{{0}, {static_cast<std::int64_t>(members.size())}};
      for (int level = 0; level < 2 && !sets.begins.empty(); ++level)
        sets = split_sets(rows, w, members, sets, {{s, start, 10, 1e-4}, 7, true}, pool);
    }
  const std::vector<std::int32_t> children{1, 2, -1, -1, -1, -1};
  std::vector<std::int32_t> leaves(static_cast<std::size_t>(rows.n_rows()));
  if (partition.n_clusters >= 3)
    descend(rows, children.data(), 3, 2, partition.composites, leaves.data(), pool);
}

// Splits that use all rows: all paths give the same sections.
template <class Rows>
void exercise_whole_splits(const Rows& rows, RowWeights w, ThreadPool& pool) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < rows.n_rows(); ++i)
    if (w[i] > 0.0) all.push_back(i);
  const Sets whole{{0}, {static_cast<std::int64_t>(all.size())}};
  std::int64_t n_reports = 0;
  for (const SplitRule rule : {SplitRule::boost, SplitRule::lloyd})
    for (const std::int64_t s : {2, 3}) {
      const auto start = s == 2 ? SectionStart::random_partition : SectionStart::plus_plus;
      SplitOptions options{{s, start, 5, 0.0}, 7, true, rule, false, false};
      std::vector<std::int64_t> plain = all;
      split_sets(rows, w, plain, split_sets(rows, w, plain, whole, options, pool), options, pool);
      options.after_pass = [&](std::int64_t, std::int64_t, std::int64_t) { ++n_reports; };
      for (const bool bounded : {false, true})
        for (const std::int64_t max_rows : {0, 1}) {
          options.bounded = bounded;
          options.max_rows_of_one_thread = max_rows;
          std::vector<std::int64_t> members = all;
          split_sets(rows, w, members, split_sets(rows, w, members, whole, options, pool), options,
                     pool);
          check(members == plain, "all paths of a split give the same sections");
        }
      check(plain == all || n_reports > 0, "passes over large sets are reported");
      options.sample = true;
      options.sections.max_passes = 2;
      split_sets(rows, w, plain, whole, options, pool);
    }
}

// Sweeps of all criteria. Values may be negative, so that only the sums are checked.
template <class Rows>
void exercise_criteria(const Rows& rows, RowWeights w, std::int64_t k, ThreadPool& pool) {
  const std::int64_t n = rows.n_rows(), d = rows.n_features();
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> order, counts(static_cast<std::size_t>(k)), fresh(counts.size());
  for (std::int64_t i = 0; i < n; ++i) {
    labels.push_back(static_cast<std::int32_t>(i % k));
    order.push_back(n - 1 - i);
  }
  std::vector<double> by_term(static_cast<std::size_t>(d * k)), weights(counts.size());
  const TermComposites composites{labels.data(), by_term.data(), weights.data(), counts.data(), k, d};
  sum_by_term(rows, w, composites, pool);
  for (const CriterionName criterion : {CriterionName::i1, CriterionName::i2, CriterionName::e1,
                                        CriterionName::g1, CriterionName::h1, CriterionName::h2})
    criterion_sweep(rows, w, composites, criterion, {order.data(), n, 37}, pool);
  const TermComposites again{labels.data(), by_term.data(), weights.data(), fresh.data(), k, d};
  sum_by_term(rows, w, again, pool);
  check(fresh == counts, "counts follow the moves");
  most_similar(rows, composites, pool);
  check(std::ranges::all_of(labels, [=](std::int32_t label) { return label >= 0 && label < k; }),
        "labels are clusters");
}

// Clusters by a criterion, and all that decides them.
struct CriterionClusters {
  std::vector<std::int32_t> nearest, labels;
  std::vector<double> lengths, by_term;
  bool operator==(const CriterionClusters&) const = default;
};

template <class Rows>
CriterionClusters criterion_clusters(const Rows& rows, RowWeights w, std::int64_t k, ThreadPool& pool) {
  const std::int64_t n = rows.n_rows(), d = rows.n_features();
  CriterionClusters found{std::vector<std::int32_t>(static_cast<std::size_t>(n)),
                          {},
                          std::vector<double>(static_cast<std::size_t>(n)),
                          std::vector<double>(static_cast<std::size_t>(d * k))};
  row_norms(rows, NormOrder::by_columns, found.lengths.data(), pool);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n)), counts(static_cast<std::size_t>(k));
  std::vector<double> weights(counts.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; i < order.size(); ++i)
    found.nearest[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(k));
  const TermComposites composites{
      found.nearest.data(), found.by_term.data(), weights.data(), counts.data(), k, d};
  sum_by_term(rows, w, composites, pool);
  most_similar(rows, composites, pool);
  found.labels = found.nearest;
  const TermComposites moving{
      found.labels.data(), found.by_term.data(), weights.data(), counts.data(), k, d};
  sum_by_term(rows, w, moving, pool);
  criterion_sweep(rows, w, moving, CriterionName::h2, {order.data(), n, 37}, pool);
  return found;
}

// All functions that work on both kinds of rows.
template <class Rows>
void exercise_rows(const Rows& rows, std::int64_t k, RowWeights w, ThreadPool& pool) {
  const std::int64_t n = rows.n_rows(), d = rows.n_features();
  std::vector<double> norms(static_cast<std::size_t>(n));
  row_norms(rows, NormOrder::fastest, norms.data(), pool);
  row_norms(rows, NormOrder::by_columns, norms.data(), pool);

  std::vector<std::int64_t> chosen(static_cast<std::size_t>(k)), counts(chosen.size()), order;
  std::vector<std::int32_t> labels(static_cast<std::size_t>(n)), near(labels.size());
  plus_plus(rows, w, k, 15, 3, chosen.data(), labels.data(), pool);
  std::vector<double> composites(static_cast<std::size_t>(k * d)), weights(chosen.size());
  const Partition partition{labels.data(), composites.data(), weights.data(), counts.data(), k, d};
  double inertia = recompute(rows, w, partition, nullptr, pool).inertia;
  for (std::int64_t run = 0; run * 4 < n; ++run) order.push_back(run);
  Visit visit = FullVisit{order.data(), static_cast<std::int64_t>(order.size()), 4, 64};
  for (int s = 0; s < 4; ++s) {
    const SweepResult result =
        sweep(rows, w, partition, visit,
              {.first = s == 1, .exact = s == 3, .low_precision = s == 2, .seed = 5}, pool);
    const double after = recompute(rows, w, partition, nullptr, pool).inertia;
    check(after <= inertia * (1 + 1e-12), "a sweep lowers the inertia");
    check(result.evaluations == n * k, "all rows are compared with all clusters");
    inertia = after;
  }
  exercise_limits(rows, w, partition, visit, pool);
  exercise_candidates(rows, w, partition, pool);
  if (k > 1) exercise_measures(rows, w, partition, pool);
  exercise_whole_splits(rows, w, pool);
  exercise_split(rows, w, partition, pool);
  exercise_criteria(rows, w, k, pool);
  std::vector<double> distances_found(labels.size()), all(static_cast<std::size_t>(n * k));
  nearest(rows, composites.data(), k, nullptr, near.data(), distances_found.data(), pool);
  distances_to_assigned(rows, composites.data(), k, near.data(), distances_found.data(), norms.data(),
                        pool);
  nearest(rows, composites.data(), k, near.data(), labels.data(), nullptr, pool);
  for (std::size_t i = 0; i < labels.size(); ++i)
    check(labels[i] != near[i], "the second nearest centre is not the nearest");
  all_distances(rows, composites.data(), k, all.data(), pool);
  std::vector<std::int64_t> rows_in_order(static_cast<std::size_t>(n));
  std::iota(rows_in_order.begin(), rows_in_order.end(), 0);
  if constexpr (Rows::kSparse) {
    check(online_pass(rows, composites.data(), k, rows_in_order.data(), n, 0.01, pool) == n,
          "online k-means visits all rows");
  } else {
    std::vector<double> singly = composites;
    check(online_pass(rows, composites.data(), k, rows_in_order.data(), n, 0.01, 96, pool) == n,
          "online k-means visits all rows");
    online_pass(rows, singly.data(), k, rows_in_order.data(), n, 0.01, 1, pool);
    check(singly == composites, "blocks of online k-means have the result of single rows");
  }
}

void exercise(const Kernel& kernel, const Problem& p, int n_threads, bool weighted) {
  std::mt19937 random(7);
  const auto bytes = random_bytes(p, random);
  const StridedArray source{reinterpret_cast<const char*>(bytes.data()), p.d * p.item, p.item, p.d,
                            p.scalar};
  std::vector<double> factors(static_cast<std::size_t>(p.n), 0.5), row_weights;
  const DenseRows rows(kernel, source, p.n, std::vector<double>(static_cast<std::size_t>(p.d), 0.25), 3,
                       weighted ? factors.data() : nullptr);
  if (weighted)
    for (std::int64_t i = 0; i < p.n; ++i) row_weights.push_back(static_cast<double>(random() % 4));
  const RowWeights w{weighted ? row_weights.data() : nullptr};

  StopToken stop_token([] { return false; }, 1e9);
  SectionTimes times;
  ThreadPool pool(n_threads, stop_token, times, n_threads);
  check(describe(rows, pool).bad_row == -1, "all values are finite");
  exercise_rows(rows, p.k, w, pool);
}

// A CSR matrix of these types, whose rows stay sparse or are expanded. Some rows are empty, and most
// terms occur in few rows.
template <class Value, class Index>
void exercise_sparse(const Kernel& kernel, std::int64_t n, std::int64_t d, std::int64_t k, int n_threads,
                     bool weighted) {
  std::mt19937 random(7);
  std::vector<Value> values;
  std::vector<Index> columns;
  std::vector<std::int64_t> starts{0};
  std::vector<double> factors(static_cast<std::size_t>(n), 0.5), row_weights;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = static_cast<std::int64_t>(random() % 3); i % 17 != 0 && j < d;
         j += 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(2 * j + 2))) {
      columns.push_back(static_cast<Index>(j));
      values.push_back(static_cast<Value>(random() % 100) / Value(100));
    }
    starts.push_back(static_cast<std::int64_t>(values.size()));
    row_weights.push_back(static_cast<double>(random() % 4));
  }
  const CsrSource source{values.data(), columns.data(), starts.data(), sizeof(Value) == 8,
                         sizeof(Index) == 8};
  const RowWeights w{weighted ? row_weights.data() : nullptr};
  const double* by_row = weighted ? factors.data() : nullptr;
  StopToken stop_token([] { return false; }, 1e9);
  SectionTimes times;
  ThreadPool pool(n_threads, stop_token, times, n_threads);
  const SparseRows sparse(kernel, source, n, d, 2, by_row);
  const DenseRows dense(kernel, source, n, std::vector<double>(static_cast<std::size_t>(d), 0.0), 2,
                        by_row);
  check(criterion_clusters(sparse, w, k, pool) == criterion_clusters(dense, w, k, pool),
        "dense and sparse rows have the same clusters by a criterion");
  exercise_rows(sparse, k, w, pool);
  exercise_rows(
      DenseRows(kernel, source, n, std::vector<double>(static_cast<std::size_t>(d), 0.1), 2, by_row), k,
      w, pool);
}

// Codes of subspaces, the search among them, and exact nearest neighbours, block by block.
template <class Code>
void exercise_codes(const Kernel& kernel, std::int64_t n, std::int64_t m, std::int64_t n_centroids,
                    int n_threads) {
  constexpr std::int64_t width = 3, n_queries = 40, k = 5;
  std::mt19937 random(11);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> values(static_cast<std::size_t>(n * m * width));
  for (float& value : values) value = uniform(random);
  std::vector<double> centres(static_cast<std::size_t>(m * n_centroids * width));
  for (double& value : centres) value = static_cast<double>(uniform(random));
  StopToken stop_token([] { return false; }, 1e9);
  SectionTimes times;
  ThreadPool pool(n_threads, stop_token, times, n_threads);
  std::vector<DenseRows> parts;
  parts.reserve(static_cast<std::size_t>(m));
  for (std::int64_t j = 0; j < m; ++j)
    parts.emplace_back(kernel,
                       StridedArray{reinterpret_cast<const char*>(values.data() + j * width),
                                    m * width * 4, 4, width, Scalar::float32},
                       n, std::vector<double>(width, 0.0), 0, nullptr);
  std::vector<const DenseRows*> pointers;
  pointers.reserve(parts.size());
  for (const DenseRows& part : parts) pointers.push_back(&part);
  std::vector<Code> codes(static_cast<std::size_t>(n * m));
  encode(pointers, centres.data(), n_centroids, codes.data(), pool);
  std::vector<float> tables(static_cast<std::size_t>(n_queries * m * n_centroids));
  for (float& value : tables) value = uniform(random) + 1.0f;
  std::vector<std::int64_t> ids(static_cast<std::size_t>(n_queries * k));
  std::vector<float> distances(ids.size());
  search_codes(kernel, tables.data(), n_queries, codes.data(), {n, m, n_centroids}, k, ids.data(),
               distances.data(), pool);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    check(ids[i] >= 0 && ids[i] < n, "the search returns numbers of codes");
    check(i % k == 0 || distances[i - 1] <= distances[i], "the nearest codes come first");
  }
  std::vector<double> points(static_cast<std::size_t>(100 * width)),
      distances_found(static_cast<std::size_t>(n * k), 1e300);
  for (double& value : points) value = static_cast<double>(uniform(random));
  std::vector<std::int64_t> nearest(distances_found.size(), -1);
  for (std::int64_t first = 0; first < 100; first += 33)
    nearest_rows(parts[0], points.data() + first * width, std::min<std::int64_t>(33, 100 - first), first,
                 k, nearest.data(), distances_found.data(), pool);
  check(std::ranges::min(nearest) >= 0, "all rows have k neighbours");
}

// All pairs of near rows, of one side and of two sides, against a comparison of all rows.
void exercise_pairs(const Kernel& kernel, std::int64_t n, std::int64_t n_axes, std::int64_t k,
                    int n_threads) {
  std::mt19937 random(13);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> values(static_cast<std::size_t>(n * n_axes));
  for (float& value : values) value = uniform(random);
  const StridedArray source{reinterpret_cast<const char*>(values.data()), n_axes * 4, 4, n_axes,
                            Scalar::float32};
  const DenseRows rows(kernel, source, n, std::vector<double>(static_cast<std::size_t>(n_axes), 0.0), 0,
                       nullptr);
  StopToken stop_token([] { return false; }, 1e9);
  SectionTimes times;
  ThreadPool pool(n_threads, stop_token, times, n_threads);
  // Coordinates are the values themselves, so that the rests are 0. Centres are the first rows.
  std::vector<double> first_rows(values.begin(), values.begin() + k * n_axes);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(n));
  nearest(rows, first_rows.data(), k, nullptr, labels.data(), nullptr, pool);
  const std::int64_t step = flat_layout(n_axes + 1).row_step;
  std::vector<float> coordinates(static_cast<std::size_t>(n * step), 0.0f);
  std::vector<std::int64_t> order, starts{0};
  std::vector<double> centres(static_cast<std::size_t>(k * (n_axes + 1)), 0.0);
  for (std::int64_t c = 0; c < k; ++c) {
    for (std::int64_t i = 0; i < n; ++i)
      if (labels[static_cast<std::size_t>(i)] == c) order.push_back(i);
    starts.push_back(static_cast<std::int64_t>(order.size()));
    std::copy_n(first_rows.begin() + c * n_axes, n_axes, centres.begin() + c * (n_axes + 1));
  }
  for (std::int64_t p = 0; p < n; ++p)
    std::copy_n(values.begin() + order[static_cast<std::size_t>(p)] * n_axes, n_axes,
                coordinates.begin() + p * step);
  const PairSide side(rows, coordinates.data(), step, n_axes, order.data(), starts.data(), k);
  constexpr double square = 0.1;
  std::int64_t expected = 0;
  DenseRows::Row x(rows), y(rows);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = i + 1; j < n; ++j) {
      rows.fetch(i, x);
      rows.fetch(j, y);
      if (rows.distance_between(x, y) <= square) ++expected;
    }
  for (const bool two_sides : {false, true}) {
    const std::int64_t n_all = two_sides ? 2 * n : n;
    std::vector<std::int64_t> parents(static_cast<std::size_t>(n_all)), degrees(parents.size(), 0);
    std::iota(parents.begin(), parents.end(), 0);
    const std::vector<std::int64_t> counts(parents.size(), 1);
    std::vector<double> to_nearest(parents.size(), 1e300);
    const PairTally tally({parents.data(), degrees.data(), to_nearest.data()}, counts.data(), n_all);
    const PairRequest request{centres.data(), {}, std::sqrt(square), square, 0, k};
    near_pairs(side, two_sides ? &side : nullptr, request, tally, pool);
    tally.write();
    // With itself as the other side, each pair is found twice, and each row finds itself.
    const std::int64_t n_found = std::accumulate(degrees.begin(), degrees.end(), std::int64_t{0}) / 2;
    check(n_found == (two_sides ? 2 * expected + n : expected), "all near pairs are found");
  }
}

void exercise_errors() {
  StopToken stop_token([] { return false; }, 1e9);
  SectionTimes times;
  ThreadPool pool(4, stop_token, times, 4);
  bool thrown = false;
  try {
    pool.for_each(1000, [](std::int64_t item, int) {
      if (item == 500) throw std::bad_alloc();
    });
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  check(thrown, "an exception in a thread is rethrown");
  std::atomic<int> done{0};
  pool.for_each(100, [&](std::int64_t, int) { ++done; });
  check(done == 100, "the pool can be used after an exception");

  int asked = 0;
  StopToken impatient([&] { return ++asked > 0; }, 1e9);
  ThreadPool other(4, impatient, times, 4);
  other.for_each(1'000'000, [](std::int64_t, int) {});
  check(impatient.reason() == StopToken::Reason::interrupted, "an interrupt stops the work");
}

// Blocks in which many rows of many clusters move, so that several threads decide. The second half of
// the sweeps uses lower bounds from a few axes.
void exercise_decisions(const Kernel& kernel) {
  constexpr std::int64_t n = 3000, d = 40, k = 100, n_axes = 8;
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> values(n * d);
  for (float& value : values) value = uniform(random);
  const StridedArray source{reinterpret_cast<const char*>(values.data()), d * 4, 4, d, Scalar::float32};
  const DenseRows rows(kernel, source, n, std::vector<double>(d, 0.0), 0, nullptr);
  std::vector<double> axes(d * n_axes, 0.0);
  for (std::int64_t i = 0; i < n_axes; ++i) axes[static_cast<std::size_t>(i * n_axes + i)] = 1.0;
  std::vector<float> projected(n * (n_axes + 1));
  const StridedArray few{reinterpret_cast<const char*>(projected.data()), (n_axes + 1) * 4, 4,
                         n_axes + 1, Scalar::float32};
  const DenseRows projected_rows(kernel, few, n, std::vector<double>(n_axes + 1, 0.0), 0, nullptr);
  std::vector<std::int32_t> labels(n);
  for (std::int32_t& label : labels) label = static_cast<std::int32_t>(random() % k);
  std::vector<double> composites(k * d), weights(k);
  std::vector<std::int64_t> counts(k), order(n);
  std::iota(order.begin(), order.end(), 0);
  const Partition partition{labels.data(), composites.data(), weights.data(), counts.data(), k, d};
  StopToken stop_token([] { return false; }, 1e9);
  SectionTimes times;
  ThreadPool pool(4, stop_token, times, 4);
  project(rows, axes.data(), n_axes, 0.125, projected.data(), pool);
  const RowWeights equal{nullptr};
  double inertia = recompute(rows, equal, partition, nullptr, pool).inertia;
  for (int s = 0; s < 6; ++s) {
    Visit visit = FullVisit{order.data(), n, 1, 1500};
    SweepOptions options{.exact = s == 5, .seed = 5};
    if (s >= 3) options.projected = {&projected_rows, projected.data(), axes.data(), 0.125};
    sweep(rows, equal, partition, visit, options, pool);
    const double after = recompute(rows, equal, partition, nullptr, pool).inertia;
    check(after <= inertia * (1 + 1e-12), "sweeps with parallel decisions lower the inertia");
    inertia = after;
  }
}

// The compiler's own detection must agree with ours.
void exercise_processor() {
#if defined(__x86_64__) && defined(__linux__)
  __builtin_cpu_init();
  const Processor& found = this_processor();
  check(found.avx2 == (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")), "AVX2");
  check(found.avx512 == (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")),
        "AVX-512");
  check(found.avx512_vnni == static_cast<bool>(__builtin_cpu_supports("avx512vnni")), "VNNI");
  check(found.avx512_vbmi == static_cast<bool>(__builtin_cpu_supports("avx512vbmi")), "VBMI");
#endif
}

}  // namespace

int main() {
  exercise_processor();
  check_kernels();
  const std::vector<std::pair<Scalar, std::int64_t>> scalars = {{Scalar::float64, 8},
                                                                {Scalar::float32, 4},
                                                                {Scalar::float16, 2},
                                                                {Scalar::uint8, 1},
                                                                {Scalar::int8, 1}};
  for (int n = 0; const Kernel* kernel = available_kernel(n); ++n)
    for (const auto& [scalar, item] : scalars)
      for (const int n_threads : {1, 4})
        for (const bool weighted : {false, true}) {
          exercise(*kernel, {301, 7, 5, scalar, item}, n_threads, weighted);
          exercise(*kernel, {120, 131, 37, scalar, item}, n_threads, weighted);
          exercise(*kernel, {9000, 2, 4, scalar, item}, n_threads, weighted);
        }
  // Sets that are too large for the cache, so that they are split by a sample.
  for (int n = 0; const Kernel* kernel = available_kernel(n); ++n)
    for (const bool weighted : {false, true})
      exercise(*kernel, {4000, 300, 5, Scalar::uint8, 1}, 4, weighted);
  for (int n = 0; const Kernel* kernel = available_kernel(n); ++n)
    for (const int n_threads : {1, 4})
      for (const bool weighted : {false, true}) {
        exercise_sparse<float, std::int32_t>(*kernel, 301, 50, 5, n_threads, weighted);
        exercise_sparse<double, std::int32_t>(*kernel, 120, 700, 37, n_threads, weighted);
        exercise_sparse<float, std::int64_t>(*kernel, 200, 90, 70, n_threads, weighted);
        exercise_sparse<double, std::int64_t>(*kernel, 1500, 20, 3, n_threads, weighted);
      }
  for (int n = 0; const Kernel* kernel = available_kernel(n); ++n)
    for (const int n_threads : {1, 4}) {
      exercise_codes<std::uint8_t>(*kernel, 20000, 3, 256, n_threads);
      exercise_codes<std::uint8_t>(*kernel, 9001, 5, 7, n_threads);
      exercise_codes<std::uint16_t>(*kernel, 700, 2, 300, n_threads);
      exercise_pairs(*kernel, 700, 3, 1, n_threads);
      exercise_pairs(*kernel, 900, 5, 23, n_threads);
    }
  for (int n = 0; const Kernel* kernel = available_kernel(n); ++n) exercise_decisions(*kernel);
  exercise_errors();
  std::puts("1 passed, 0 failed");
}
