// The part of the core that encodes and searches, as Python sees it: see bindings.cpp.
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "assign/code_search.hpp"
#include "assign/nearest.hpp"
#include "assign/exact_search.hpp"

namespace boostkmeans {
namespace {

template <class Code>
void encode_rows(const std::vector<const Rows*>& parts, nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu> centres,
                 Matrix<Code> codes, int n_threads) {
  require(!parts.empty() && centres.shape(0) == parts.size() && codes.shape(1) == parts.size(),
          "parts, centres and codes must have as many subspaces");
  const auto n_centroids = static_cast<std::int64_t>(centres.shape(1));
  require(n_centroids > 0 && n_centroids <= static_cast<std::int64_t>(std::numeric_limits<Code>::max()) + 1,
          "a code must have room for the number of each centroid");
  std::vector<const DenseRows*> dense;
  for (const Rows* rows : parts) {
    require(static_cast<std::int64_t>(codes.shape(0)) == rows->n_rows() &&
                static_cast<std::int64_t>(centres.shape(2)) == rows->n_features(),
            "parts must have as many rows as there are codes, and the features of the centres");
    dense.push_back(&rows->dense());
  }
  run(n_threads, static_cast<double>(codes.size()) * static_cast<double>(centres.shape(1) * centres.shape(2)),
      kNoDeadline,
      [&](Team& team) { encode(dense, centres.data(), n_centroids, codes.data(), team); });
}

void find_nearest_rows(const Rows& rows, Matrix<const double> points, std::int64_t first,
                       Matrix<std::int64_t> ids, Matrix<double> distances, int n_threads) {
  const auto n = static_cast<std::int64_t>(points.shape(0)), k = static_cast<std::int64_t>(ids.shape(1));
  require(n > 0 && static_cast<std::int64_t>(points.shape(1)) == rows.n_features(),
          "points must have as many columns as the rows");
  require(k > 0 && static_cast<std::int64_t>(ids.shape(0)) == rows.n_rows() &&
              distances.shape(0) == ids.shape(0) && distances.shape(1) == ids.shape(1),
          "ids and distances must have a line for each row");
  run(n_threads, size_of(rows) * static_cast<double>(n), kNoDeadline, [&](Team& team) {
    nearest_rows(rows.dense(), points.data(), n, first, k, ids.data(), distances.data(), team);
  });
}

using Tables = nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

template <class Code>
void search_in_codes(Tables tables, Matrix<const Code> codes, Matrix<std::int64_t> ids, Matrix<float> distances,
                     const std::string& isa, int n_threads) {
  const CodeShape shape{static_cast<std::int64_t>(codes.shape(0)), static_cast<std::int64_t>(codes.shape(1)),
                        static_cast<std::int64_t>(tables.shape(2))};
  const auto n_queries = static_cast<std::int64_t>(tables.shape(0)), k = static_cast<std::int64_t>(ids.shape(1));
  require(static_cast<std::int64_t>(tables.shape(1)) == shape.n_subspaces && shape.n_subspaces > 0 &&
              shape.n_centroids > 0 && n_queries > 0,
          "tables must have a line for each query and subspace");
  require(static_cast<std::int64_t>(ids.shape(0)) == n_queries && distances.shape(0) == ids.shape(0) &&
              distances.shape(1) == ids.shape(1) && k > 0 && k <= shape.n_codes,
          "ids and distances must have a line for each query, no longer than there are codes");
  require(shape.n_centroids <= static_cast<std::int64_t>(std::numeric_limits<Code>::max()) + 1,
          "a code must have room for the number of each centroid");
  check_numbers(codes.data(), codes.size(), 0, shape.n_centroids, "codes must name centroids");
  const double work = static_cast<double>(n_queries) * static_cast<double>(codes.size());
  run(n_threads, work, kNoDeadline, [&](Team& team) {
    search_codes(kernel_named(isa), tables.data(), n_queries, codes.data(), shape, k, ids.data(),
                 distances.data(), team);
  });
}

}  // namespace

void bind_search(nb::module_& m) {
  using namespace nb::literals;
  m.def("encode", &encode_rows<std::uint8_t>, "parts"_a, "centres"_a, "codes"_a.noconvert(), "n_threads"_a,
        "Nearest centroid of each part of each row, exactly, in place.");
  m.def("encode", &encode_rows<std::uint16_t>, "parts"_a, "centres"_a, "codes"_a.noconvert(), "n_threads"_a);
  m.def("nearest_rows", &find_nearest_rows, "rows"_a, "points"_a, "first"_a, "ids"_a.noconvert(),
        "distances"_a.noconvert(), "n_threads"_a,
        "Nearest points of each row, exactly, among these (numbered from `first` on) and those that are "
        "in ids and distances already, in place.");
  m.def("search_codes", &search_in_codes<std::uint8_t>, "tables"_a.noconvert(), "codes"_a.noconvert(),
        "ids"_a.noconvert(), "distances"_a.noconvert(), "isa"_a, "n_threads"_a,
        "Codes with the smallest sums of what the tables of each query say, nearest first, in place.");
  m.def("search_codes", &search_in_codes<std::uint16_t>, "tables"_a.noconvert(), "codes"_a.noconvert(),
        "ids"_a.noconvert(), "distances"_a.noconvert(), "isa"_a, "n_threads"_a);
}

}  // namespace boostkmeans
