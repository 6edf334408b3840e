// Bindings of distances, nearest centres, seeding, and neighbours of centres.
#include "assign/approximate.hpp"
#include "assign/bounded_nearest.hpp"
#include "assign/kmeans_plus_plus.hpp"
#include "assign/nearest.hpp"
#include "assign/neighbours.hpp"
#include "assign/silhouette.hpp"
#include "baselines/online.hpp"
#include "bindings/centres.hpp"
#include "bindings/module.hpp"
#include "bindings/projection.hpp"
#include "search/exact_search.hpp"

namespace boostkmeans {
namespace {

// Groups together with the arrays that they refer to.
class BoundGroups {
 public:
  BoundGroups(Vector<const std::int32_t> order, Vector<const std::int64_t> starts,
              Matrix<const std::int32_t> lists)
      : groups{order.data(), starts.data(), lists.data(), length_of(lists), length_of(lists, 1)},
        order_(std::move(order)),
        starts_(std::move(starts)),
        lists_(std::move(lists)) {
    require(groups.n_groups > 0 && groups.list_length > 0, "lists must not be empty");
    require(length_of(starts_) == groups.n_groups + 1,
            "starts must have one value more than there are groups");
    require(groups.starts[0] == 0 && groups.starts[groups.n_groups] == length_of(order_),
            "starts must begin with 0 and end with the number of centres");
  }
  void check(std::int64_t n_centres) const {
    require(length_of(order_) == n_centres, "order must have one value per centre");
  }

  const Groups groups;

 private:
  Vector<const std::int32_t> order_;
  Vector<const std::int64_t> starts_;
  Matrix<const std::int32_t> lists_;
};

void find_neighbours(const Matrix<const double>& centres, const BoundGroups& bound,
                     const Matrix<std::int32_t>& out,
                     const std::optional<Matrix<const std::int32_t>>& previous, const std::string& isa,
                     int n_threads) {
  const std::int64_t k = length_of(centres), n_neighbours = length_of(out, 1);
  bound.check(k);
  require(length_of(out) == k && n_neighbours > 0, "out must have one row per centre");
  require(!previous || (length_of(*previous) == k && length_of(*previous, 1) == n_neighbours),
          "previous must have the shape of out");
  run(n_threads, static_cast<double>(k) * static_cast<double>(k * n_neighbours), kNoDeadline,
      [&](ThreadPool& pool) {
        neighbours(kernel_named(isa), centres.data(), k, length_of(centres, 1), bound.groups,
                   n_neighbours, previous ? previous->data() : nullptr, out.data(), pool);
      });
}

void find_pair_distances(const Matrix<const double>& composites, const Vector<const double>& weights,
                         const Vector<const std::int64_t>& a, const Vector<const std::int64_t>& b,
                         const Vector<double>& out, const std::string& isa, int n_threads) {
  require(weights.shape(0) == composites.shape(0), "weights must have one value per composite");
  require(a.shape(0) == b.shape(0) && out.shape(0) == a.shape(0),
          "a, b and out must have one value per pair");
  const std::int64_t d = length_of(composites, 1);
  run(n_threads, static_cast<double>(a.size()) * static_cast<double>(d), kNoDeadline,
      [&](ThreadPool& pool) {
        pair_distances(kernel_named(isa), composites.data(), weights.data(), d, a.data(), b.data(),
                       length_of(a), out.data(), pool);
      });
}

void nearest_centres(const Rows& rows, const Matrix<const double>& centres,
                     const Vector<std::int32_t>& labels, const std::optional<Vector<double>>& distances,
                     const std::optional<Vector<const std::int32_t>>& exclude, int n_threads) {
  const std::int64_t k = count_centres(centres, rows), n = rows.n_rows();
  require(length_of(labels) == n && (!distances || length_of(*distances) == n) &&
              (!exclude || length_of(*exclude) == n),
          "labels, distances and exclude must have one value per row");
  require(!exclude || k > 1, "exclude requires at least two centres");
  run(n_threads, rows.size() * static_cast<double>(k), kNoDeadline, [&](ThreadPool& pool) {
    rows.visit([&](const auto& x) {
      nearest(x, centres.data(), k, data_or_null(exclude), labels.data(), data_or_null(distances), pool);
    });
  });
}

void nearest_with_bounds(const Rows& rows, const BoundProjection& projection,
                         const Matrix<const double>& centres, const Vector<std::int32_t>& labels,
                         const Vector<double>& distances, int n_threads) {
  const std::int64_t k = count_centres(centres, rows), n = rows.n_rows();
  require(length_of(labels) == n && length_of(distances) == n,
          "labels and distances must have one value per row");
  require(std::all_of(labels.data(), labels.data() + n,
                      [=](std::int32_t label) { return label >= 0 && label < k; }),
          "labels must lie in [0, n_centres)");
  projection.check(rows);
  run(n_threads, rows.size() * static_cast<double>(k), kNoDeadline, [&](ThreadPool& pool) {
    bounded_nearest(rows.dense(), centres.data(), k, projection.view(), labels.data(), distances.data(),
                    pool);
  });
}

void distances_to_centres(const Rows& rows, const Matrix<const double>& centres,
                          const Matrix<double>& out, int n_threads) {
  const std::int64_t k = count_centres(centres, rows);
  require(length_of(out) == rows.n_rows() && length_of(out, 1) == k,
          "out must have shape (rows, centres)");
  run(n_threads, rows.size() * static_cast<double>(k), kNoDeadline, [&](ThreadPool& pool) {
    rows.visit([&](const auto& x) { all_distances(x, centres.data(), k, out.data(), pool); });
  });
}

void nearest_of_groups(const Rows& rows, const Matrix<const double>& centres,
                       const Vector<std::int32_t>& row_groups, const BoundGroups& bound,
                       const Vector<std::int32_t>& labels, int n_threads) {
  const std::int64_t k = count_centres(centres, rows), n = rows.n_rows();
  bound.check(k);
  require(length_of(row_groups) == n && length_of(labels) == n,
          "row_groups and labels must have one value per row");
  run(n_threads, rows.size() * static_cast<double>(bound.groups.list_length), kNoDeadline,
      [&](ThreadPool& pool) {
        rows.visit([&](const auto& x) {
          nearest_in_groups(x, centres.data(), k, row_groups.data(), bound.groups, labels.data(), pool);
        });
      });
}

std::int64_t check_many(const Rows& rows, std::int64_t n_clusters, const Matrix<std::int32_t>& labels,
                        const Matrix<double>& distances) {
  const std::int64_t n = length_of(labels, 1);
  require(n > 0 && n <= n_clusters && length_of(labels) == rows.n_rows(),
          "labels must have one row per row and at most one column per centre");
  require(distances.shape(0) == labels.shape(0) && distances.shape(1) == labels.shape(1),
          "labels and distances must have the same shape");
  return n;
}

void many_nearest_centres(const Rows& rows, const Matrix<const double>& centres,
                          const Matrix<std::int32_t>& labels, const Matrix<double>& distances,
                          int n_threads) {
  const std::int64_t k = count_centres(centres, rows), n = check_many(rows, k, labels, distances);
  run(n_threads, rows.size() * static_cast<double>(k), kNoDeadline, [&](ThreadPool& pool) {
    rows.visit([&](const auto& x) {
      nearest_many(x, centres.data(), k, n, labels.data(), distances.data(), pool);
    });
  });
}

void many_nearest_of_groups(const Rows& rows, const Matrix<const double>& centres,
                            const Vector<std::int32_t>& row_groups, const BoundGroups& bound,
                            const Matrix<std::int32_t>& labels, const Matrix<double>& distances,
                            int n_threads) {
  const std::int64_t k = count_centres(centres, rows), n = check_many(rows, k, labels, distances);
  bound.check(k);
  require(length_of(row_groups) == rows.n_rows(), "row_groups must have one value per row");
  run(n_threads, rows.size() * static_cast<double>(bound.groups.list_length), kNoDeadline,
      [&](ThreadPool& pool) {
        rows.visit([&](const auto& x) {
          nearest_many_in_groups(x, centres.data(), k, row_groups.data(), bound.groups, n, labels.data(),
                                 distances.data(), pool);
        });
      });
}

void find_assigned_distances(const Rows& rows, const Matrix<const double>& centres,
                             const Vector<const std::int32_t>& labels, const Vector<double>& distances,
                             const Vector<double>& norms, int n_threads) {
  const std::int64_t k = count_centres(centres, rows), n = rows.n_rows();
  require(length_of(labels) == n && length_of(distances) == n && length_of(norms) == n,
          "labels, distances and norms must have one value per row");
  run(n_threads, rows.size(), kNoDeadline, [&](ThreadPool& pool) {
    rows.visit([&](const auto& x) {
      distances_to_assigned(x, centres.data(), k, labels.data(), distances.data(), norms.data(), pool);
    });
  });
}

void find_silhouette(const Rows& rows, const Weights& row_weights,
                     const Vector<const std::int32_t>& labels, std::int64_t n_clusters, bool cosine,
                     const std::optional<Vector<const double>>& additions, std::int64_t first,
                     const Vector<double>& out, int n_threads) {
  const std::int64_t n = rows.n_rows(), count = length_of(out);
  require(length_of(labels) == n && (!additions || length_of(*additions) == n),
          "labels and additions must have one value per row");
  require(std::all_of(labels.data(), labels.data() + n,
                      [=](std::int32_t label) { return label >= 0 && label < n_clusters; }),
          "labels must lie in [0, n_clusters)");
  require(first >= 0 && first + count <= n, "the range must lie within the rows");
  const RowWeights w = row_weights_of(row_weights, rows);
  run(n_threads, rows.size() * static_cast<double>(count), kNoDeadline, [&](ThreadPool& pool) {
    rows.visit([&](const auto& x) {
      silhouette(x, w, labels.data(), n_clusters, {cosine, data_or_null(additions)}, first, count,
                 out.data(), pool);
    });
  });
}

std::int64_t pass_online(const Rows& rows, const Matrix<double>& centres,
                         const Vector<const std::int64_t>& order, double rate, std::int64_t block_rows,
                         int n_threads) {
  require(centres.shape(0) > 0 && length_of(centres, 1) == rows.n_features(),
          "centres must have one column per feature of the rows");
  require(rate >= 0.0 && rate < 1.0, "rate must lie in [0, 1)");
  require(block_rows > 0, "block_rows must be positive");
  const std::int64_t k = length_of(centres), n = length_of(order);
  const int useful = block_rows > 1 ? n_threads : 1;
  std::int64_t visited = 0;
  run(useful, rows.size() * static_cast<double>(k), kNoDeadline, [&](ThreadPool& pool) {
    visited = rows.visit([&]<class Kind>(const Kind& x) {
      if constexpr (Kind::kSparse) {
        require(block_rows == 1, "sparse rows are visited in blocks of one row");
        return online_pass(x, centres.data(), k, order.data(), n, rate, pool);
      } else {
        return online_pass(x, centres.data(), k, order.data(), n, rate, block_rows, pool);
      }
    });
  });
  return visited;
}

auto seed_plus_plus(const Rows& rows, const Weights& row_weights, std::int64_t n_clusters,
                    std::int64_t n_trials, std::uint64_t seed, int n_threads) {
  const std::int64_t n = rows.n_rows();
  require(n_clusters > 0 && n_clusters <= n, "n_clusters must lie in [1, n_rows]");
  require(n_trials > 0, "n_trials must be positive");
  const RowWeights w = row_weights_of(row_weights, rows);
  std::vector<std::int64_t> chosen(static_cast<std::size_t>(n_clusters), 0);
  auto labels = to_numpy<std::int32_t>(n, [&](std::int32_t* to) {
    std::fill_n(to, n, 0);
    run(n_threads, rows.size() * static_cast<double>(n_trials), kNoDeadline, [&](ThreadPool& pool) {
      rows.visit(
          [&](const auto& x) { plus_plus(x, w, n_clusters, n_trials, seed, chosen.data(), to, pool); });
    });
  });
  return std::make_tuple(to_numpy(chosen), labels);
}

}  // namespace

void bind_assign(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<BoundGroups>(
      m, "Groups",
      "Centres in groups of neighbours: group g is order[starts[g]:starts[g + 1]]. Row g of lists "
      "names the groups to search for members of group g, padded with -1.")
      .def(
          nb::init<Vector<const std::int32_t>, Vector<const std::int64_t>, Matrix<const std::int32_t>>(),
          nb::kw_only(), "order"_a, "starts"_a, "lists"_a);
  m.def("neighbours", &find_neighbours, "centres"_a, "groups"_a, "out"_a.noconvert(),
        "previous"_a.none(), "isa"_a, "n_threads"_a,
        "Find the nearest other centres of each centre, nearest first, in place. Rows of out are "
        "padded with -1. The centres of earlier lists are compared, too.");
  m.def("pair_distances", &find_pair_distances, "composites"_a, "weights"_a, "a"_a, "b"_a,
        "out"_a.noconvert(), "isa"_a, "n_threads"_a,
        "Compute the squared distances between pairs of centres, in place.");
  m.def("nearest", &nearest_centres, "rows"_a, "centres"_a, "labels"_a.noconvert(),
        "distances"_a.noconvert().none(), "exclude"_a.none(), "n_threads"_a,
        "Find the nearest centre of each row, other than exclude, and its squared distance, exactly "
        "and in place.");
  m.def("bounded_nearest", &nearest_with_bounds, "rows"_a, "projection"_a, "centres"_a,
        "labels"_a.noconvert(), "distances"_a.noconvert(), "n_threads"_a,
        "Replace each label, which is a guess, by the nearest centre, and compute its squared distance, "
        "exactly and in place.");
  m.def("distances", &distances_to_centres, "rows"_a, "centres"_a, "out"_a.noconvert(), "n_threads"_a,
        "Compute the squared distances of all rows to all centres, in place.");
  m.def("distances_to_assigned", &find_assigned_distances, "rows"_a, "centres"_a, "labels"_a,
        "distances"_a.noconvert(), "norms"_a.noconvert(), "n_threads"_a,
        "Compute the squared distance of each row to the centre of its label, and its squared norm, "
        "in place.");
  m.def("online_pass", &pass_online, "rows"_a, "centres"_a.noconvert(), "order"_a, "rate"_a,
        "block_rows"_a, "n_threads"_a,
        "Move the nearest centre of each row towards the row, one row after the other, in place. "
        "Threads share the work on a block of rows, on which the result does not depend. Sparse rows "
        "need blocks of one row. Return the number of rows visited.");
  m.def("nearest_in_groups", &nearest_of_groups, "rows"_a, "centres"_a, "row_groups"_a.noconvert(),
        "groups"_a, "labels"_a.noconvert(), "n_threads"_a,
        "Find the nearest centre of each row among those in the groups that are listed for the group "
        "of the row, in place.");
  m.def("nearest_many", &many_nearest_centres, "rows"_a, "centres"_a, "labels"_a.noconvert(),
        "distances"_a.noconvert(), "n_threads"_a,
        "Find the nearest centres of each row, one per column of labels, nearest first, and their "
        "squared distances, exactly and in place.");
  m.def("nearest_many_in_groups", &many_nearest_of_groups, "rows"_a, "centres"_a,
        "row_groups"_a.noconvert(), "groups"_a, "labels"_a.noconvert(), "distances"_a.noconvert(),
        "n_threads"_a,
        "Find the nearest centres of each row among those in the groups that are listed for the group "
        "of the row, in place. Every list must have as many centres as labels has columns.");
  m.def("silhouette", &find_silhouette, "rows"_a, "row_weights"_a.none(), "labels"_a, "n_clusters"_a,
        "cosine"_a, "additions"_a.none(), "first"_a, "out"_a.noconvert(), "n_threads"_a,
        "Compute the silhouettes of rows, starting with first, from their distances to all rows, in "
        "place. additions are added to the distances of a row to other rows.");
  m.def("plus_plus", &seed_plus_plus, "rows"_a, "row_weights"_a.none(), "n_clusters"_a, "n_trials"_a,
        "seed"_a, "n_threads"_a,
        "Choose rows by greedy k-means++. Return (chosen rows, label of each row).");
}

}  // namespace boostkmeans
