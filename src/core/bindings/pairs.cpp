// Bindings of the search for pairs of near rows.
#include <limits>

#include "assign/near_pairs.hpp"
#include "bindings/module.hpp"
#include "bindings/rows.hpp"

namespace boostkmeans {
namespace {

// A PairSide together with the arrays that it refers to.
class BoundPairSide {
 public:
  BoundPairSide(nb::object rows, Matrix<const float> values, std::int64_t n_axes,
                Vector<const std::int64_t> order, Vector<const std::int64_t> starts)
      : rows_(std::move(rows)),
        values_(std::move(values)),
        order_(std::move(order)),
        starts_(std::move(starts)),
        side_(checked(n_axes), values_.data(), length_of(values_, 1), n_axes, order_.data(),
              starts_.data(), length_of(starts_) - 1) {}

  const PairSide& side() const { return side_; }
  std::int64_t n_rows() const { return side_.rows().n_rows(); }

 private:
  const DenseRows& checked(std::int64_t n_axes) const {
    require(n_axes > 0 && length_of(values_, 1) == flat_layout(n_axes + 1).row_step,
            "values must have the coordinates, the length of the rest, and zeros up to whole vectors");
    require(length_of(values_) <= std::numeric_limits<std::int32_t>::max(),
            "the number of positions must fit into 32 bits");
    require(length_of(starts_) > 1 && starts_.data()[0] == 0, "starts must begin with 0");
    require(length_of(order_) == length_of(values_) &&
                starts_.data()[length_of(starts_) - 1] == length_of(order_),
            "order and values must have one item per position, and starts must end with their number");
    return nb::cast<const Rows&>(rows_).dense();
  }

  nb::object rows_;
  Matrix<const float> values_;
  Vector<const std::int64_t> order_, starts_;
  PairSide side_;
};

using Lists = std::optional<std::tuple<Vector<const std::int64_t>, Vector<const std::int32_t>>>;

ComparedClusters compared_clusters(const Lists& lists, std::int64_t n_clusters) {
  if (!lists) return {};
  const auto& [starts, members] = *lists;
  require(length_of(starts) == n_clusters + 1 && starts.data()[n_clusters] == length_of(members),
          "lists must have one range of members per cluster");
  return {starts.data(), members.data()};
}

void find_near_pairs(const BoundPairSide& left, const BoundPairSide* right,
                     const Matrix<const double>& centres, const Lists& lists, double radius,
                     double square, std::int64_t first, std::int64_t last,
                     const Vector<const std::int64_t>& counts, const Vector<std::int64_t>& parents,
                     const Vector<std::int64_t>& degrees, const Vector<double>& nearest, int n_threads) {
  const PairSide& a = left.side();
  const std::int64_t k = a.n_clusters();
  const std::int64_t n = left.n_rows() + (right == nullptr ? 0 : right->n_rows());
  require(right == nullptr ||
              (right->side().n_clusters() == k && right->side().n_columns() == a.n_columns() &&
               right->side().rows().n_features() == a.rows().n_features() &&
               right->side().rows().kernel().name == a.rows().kernel().name),
          "both sides must have the same clusters, columns and instruction set");
  require(length_of(centres) == k && length_of(centres, 1) == a.n_columns(),
          "centres must have one row per cluster and one column per coordinate");
  require(first >= 0 && first <= last && last <= k, "first and last must be a range of clusters");
  require(radius >= 0.0 && square >= 0.0, "radius and square must not be negative");
  require(length_of(counts) == n && length_of(parents) == n && length_of(degrees) == n &&
              length_of(nearest) == n,
          "counts, parents, degrees and nearest must have one value per row");
  const PairRequest request{centres.data(), compared_clusters(lists, k), radius, square, first, last};
  const double share = static_cast<double>(last - first) / static_cast<double>(k);
  const auto n_pairs = static_cast<double>(n) * static_cast<double>(n) * share;
  run(n_threads, n_pairs * static_cast<double>(a.n_columns()), kNoDeadline, [&](ThreadPool& pool) {
    const PairTally tally({parents.data(), degrees.data(), nearest.data()}, counts.data(), n);
    near_pairs(a, right == nullptr ? nullptr : &right->side(), request, tally, pool);
    tally.write();
  });
}

}  // namespace

void bind_pairs(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<BoundPairSide>(
      m, "PairSide",
      "Rows for a search of near pairs. Position p of values has the coordinates of row order[p], the "
      "length of their rest, and zeros; the positions of cluster c are starts[c] to starts[c + 1].")
      .def(nb::init<nb::object, Matrix<const float>, std::int64_t, Vector<const std::int64_t>,
                    Vector<const std::int64_t>>(),
           nb::kw_only(), "rows"_a, "values"_a.noconvert(), "n_axes"_a, "order"_a, "starts"_a);
  m.def("near_pairs", &find_near_pairs, "left"_a, "right"_a.none(), nb::kw_only(), "centres"_a,
        "lists"_a.none(), "radius"_a, "square"_a, "first"_a, "last"_a, "counts"_a,
        "parents"_a.noconvert(), "degrees"_a.noconvert(), "nearest"_a.noconvert(), "n_threads"_a,
        "Find all pairs of a row of clusters first to last of the left side and a right row, or of two "
        "left rows if right is None, whose squared distance is at most square. Update the group, the "
        "number of partners and the squared distance to the nearest partner of each row, in place. "
        "Right rows follow the left rows in these arrays.");
}

}  // namespace boostkmeans
