// Bindings of encoding, of the search among codes, and of exact nearest neighbours.
#include "assign/nearest.hpp"
#include "bindings/module.hpp"
#include "bindings/rows.hpp"
#include "search/code_search.hpp"
#include "search/exact_search.hpp"

namespace boostkmeans {
namespace {

template <class Code>
constexpr std::int64_t kMaxCentroids = static_cast<std::int64_t>(std::numeric_limits<Code>::max()) + 1;

template <class Code>
void encode_rows(const std::vector<const Rows*>& subspaces, const Cube<const double>& centres,
                 const Matrix<Code>& codes, int n_threads) {
  require(
      !subspaces.empty() && centres.shape(0) == subspaces.size() && codes.shape(1) == subspaces.size(),
      "subspaces, centres and codes must have the same number of subspaces");
  const std::int64_t n_centroids = length_of(centres, 1);
  require(n_centroids > 0 && n_centroids <= kMaxCentroids<Code>,
          "codes cannot hold the number of centroids");
  std::vector<const DenseRows*> dense;
  for (const Rows* rows : subspaces) {
    require(length_of(codes) == rows->n_rows(), "codes must have one row per row of each subspace");
    require(length_of(centres, 2) == rows->n_features(),
            "centres must have one column per feature of a subspace");
    dense.push_back(&rows->dense());
  }
  run(n_threads,
      static_cast<double>(codes.size()) * static_cast<double>(centres.shape(1) * centres.shape(2)),
      kNoDeadline,
      [&](ThreadPool& pool) { encode(dense, centres.data(), n_centroids, codes.data(), pool); });
}

void find_nearest_rows(const Rows& rows, const Matrix<const double>& points, std::int64_t first,
                       const Matrix<std::int64_t>& ids, const Matrix<double>& distances, int n_threads) {
  const std::int64_t n = length_of(points), k = length_of(ids, 1);
  require(n > 0 && length_of(points, 1) == rows.n_features(),
          "points must have one column per feature of the rows");
  require(k > 0 && length_of(ids) == rows.n_rows(), "ids must have one row per row");
  require(distances.shape(0) == ids.shape(0) && distances.shape(1) == ids.shape(1),
          "ids and distances must have the same shape");
  run(n_threads, rows.size() * static_cast<double>(n), kNoDeadline, [&](ThreadPool& pool) {
    nearest_rows(rows.dense(), points.data(), n, first, k, ids.data(), distances.data(), pool);
  });
}

template <class Code>
void search_in_codes(const Cube<const float>& tables, const Matrix<const Code>& codes,
                     const Matrix<std::int64_t>& ids, const Matrix<float>& distances,
                     const std::string& isa, int n_threads) {
  const CodeShape shape{length_of(codes), length_of(codes, 1), length_of(tables, 2)};
  const std::int64_t n_queries = length_of(tables), k = length_of(ids, 1);
  require(n_queries > 0 && shape.n_subspaces > 0 && length_of(tables, 1) == shape.n_subspaces,
          "tables must have shape (queries, subspaces, centroids)");
  require(shape.n_centroids > 0 && shape.n_centroids <= kMaxCentroids<Code>,
          "codes cannot hold the number of centroids");
  require(length_of(ids) == n_queries && k > 0 && k <= shape.n_codes,
          "ids must have one row per query and at most one column per code");
  require(distances.shape(0) == ids.shape(0) && distances.shape(1) == ids.shape(1),
          "ids and distances must have the same shape");
  const double work = static_cast<double>(n_queries) * static_cast<double>(codes.size());
  run(n_threads, work, kNoDeadline, [&](ThreadPool& pool) {
    search_codes(kernel_named(isa), tables.data(), n_queries, codes.data(), shape, k, ids.data(),
                 distances.data(), pool);
  });
}

}  // namespace

void bind_search(nb::module_& m) {
  using namespace nb::literals;
  m.def("encode", &encode_rows<std::uint8_t>, "subspaces"_a, "centres"_a, "codes"_a.noconvert(),
        "n_threads"_a, "Find the nearest centroid of each row in each subspace, exactly and in place.");
  m.def("encode", &encode_rows<std::uint16_t>, "subspaces"_a, "centres"_a, "codes"_a.noconvert(),
        "n_threads"_a);
  m.def("nearest_rows", &find_nearest_rows, "rows"_a, "points"_a, "first"_a, "ids"_a.noconvert(),
        "distances"_a.noconvert(), "n_threads"_a,
        "Find the nearest points of each row, exactly, and merge them into ids and distances, in "
        "place. The points are numbered from first.");
  m.def("search_codes", &search_in_codes<std::uint8_t>, "tables"_a.noconvert(), "codes"_a.noconvert(),
        "ids"_a.noconvert(), "distances"_a.noconvert(), "isa"_a, "n_threads"_a,
        "Find the codes with the smallest sums of table entries for each query, nearest first, in "
        "place. Codes must be smaller than the number of centroids; this is not checked.");
  m.def("search_codes", &search_in_codes<std::uint16_t>, "tables"_a.noconvert(), "codes"_a.noconvert(),
        "ids"_a.noconvert(), "distances"_a.noconvert(), "isa"_a, "n_threads"_a);
}

}  // namespace boostkmeans
