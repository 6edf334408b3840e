// Which centres go with which rows.
#pragma once

#include "rows/dense_rows.hpp"
#include "rows/sparse_rows.hpp"
#include "scoring/packed_centres.hpp"
#include "scoring/term_centres.hpp"

namespace boostkmeans {

// All: centres that every row is scored against. Table: those of which some are Gathered for some rows.
template <class Rows>
struct Kind;

template <>
struct Kind<DenseRows> {
  using All = Centres;
  using Table = CentreTable;
  using Gathered = Centres;
};

template <>
struct Kind<SparseRows> {
  using All = SparseCentres;
  using Table = SparseCentres;
  using Gathered = GatheredCentres;
};

// Room for all centres; in low precision, if rows can be scored in it.
inline Centres all_centres(const DenseRows& rows, std::int64_t n_clusters, bool low = false) {
  return {rows.kernel(), n_clusters, rows.n_features(), low ? &rows : nullptr};
}
inline SparseCentres all_centres(const SparseRows& rows, std::int64_t n_clusters, bool = false) {
  return {rows, n_clusters};
}
inline CentreTable centre_table(const DenseRows& rows, std::int64_t n_clusters) {
  return {rows.kernel(), n_clusters, rows.n_features()};
}
inline SparseCentres centre_table(const SparseRows& rows, std::int64_t n_clusters) {
  return {rows, n_clusters};
}
// Room for some of them.
inline Centres gathered_centres(const DenseRows& rows, std::int64_t, std::int64_t most_gathered) {
  return {rows.kernel(), most_gathered, rows.n_features()};
}
inline GatheredCentres gathered_centres(const SparseRows& rows, std::int64_t n_clusters,
                                        std::int64_t most_gathered) {
  return {rows, n_clusters, most_gathered};
}

// A centre := composite / weight; `square` is |composite|^2, where rows need it.
template <class Packed>
void set_centre(Packed& packed, std::int64_t cluster, const double* composite, double weight, double) {
  packed.set(cluster, composite, weight);
}
inline void set_centre(SparseCentres& packed, std::int64_t cluster, const double*, double weight,
                       double square) {
  packed.set(cluster, weight, square);
}

// What is to be done before and beside that: nothing, but for sparse rows, whose lines are kept up to
// date with the composites.
template <class Packed>
void fill_lines(Packed&, const double*, bool, Team&) {}
inline void fill_lines(SparseCentres& packed, const double* composites, bool rows_move, Team& team) {
  packed.fill(composites, rows_move, team);
}
template <class Packed>
void update_lines(Packed&, const DenseRows::Row&, std::int64_t, const double*, double) {}
// After a row of that weight entered or left.
inline void update_lines(SparseCentres& packed, const SparseRows::Row& x, std::int64_t cluster,
                         const double* composite, double weight) {
  for (std::int64_t t = 0; t < x.count; ++t)
    packed.set_term(x.columns[t], cluster, composite[x.columns[t]], weight * x.values[t]);
}
template <class Packed>
void clear_lines(Packed&, std::int64_t) {}
inline void clear_lines(SparseCentres& packed, std::int64_t cluster) { packed.clear(cluster); }

// |composite|^2 of all clusters, where rows need it.
template <class Rows>
class Squares {
 public:
  Squares(const Rows& rows, const double* composites, std::int64_t n_clusters, Team& team)
      : rows_(rows),
        values_(static_cast<std::size_t>(Rows::kSparse ? n_clusters : 0)),
        largest_(values_.size(), 0.0) {
    const std::int64_t d = rows.n_features();
    team.for_each(static_cast<std::int64_t>(values_.size()),
                  [&](std::int64_t c, int) { renew(c, composites + c * d); });
  }
  double at(std::int64_t cluster) const {
    return Rows::kSparse ? values_[static_cast<std::size_t>(cluster)] : 0.0;
  }
  // As it was; and after the composite changed, by so much.
  void set(std::int64_t cluster, double value) {
    if constexpr (Rows::kSparse) values_[static_cast<std::size_t>(cluster)] = value;
  }
  void add(std::int64_t cluster, double change, const double* composite) {
    if constexpr (Rows::kSparse) {
      const auto c = static_cast<std::size_t>(cluster);
      values_[c] = std::max(0.0, values_[c] + change);
      largest_[c] = std::max(largest_[c], values_[c]);
      // What was rounded when it was large would be much of what is left.
      if (values_[c] < kSmall * largest_[c]) renew(cluster, composite);
    }
  }

 private:
  static constexpr double kSmall = 1.0 / 16.0;

  void renew(std::int64_t cluster, const double* composite) {
    const auto c = static_cast<std::size_t>(cluster);
    values_[c] = largest_[c] = rows_.centre(composite, 1.0).square;
  }

  const Rows& rows_;
  std::vector<double> values_, largest_;
};

}  // namespace boostkmeans
