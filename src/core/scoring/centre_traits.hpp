// The representation of centres for each kind of rows.
#pragma once

#include "rows/dense_rows.hpp"
#include "rows/sparse_rows.hpp"
#include "scoring/packed_centres.hpp"
#include "scoring/term_centres.hpp"

namespace boostkmeans {

// All: centres of all clusters, packed. Table: centres of all clusters. Gathered: some centres of a
// table, packed.
template <class Rows>
struct CentreTraits;

template <>
struct CentreTraits<DenseRows> {
  using All = PackedCentres;
  using Table = CentreTable;
  using Gathered = PackedCentres;
};

template <>
struct CentreTraits<SparseRows> {
  using All = TermCentres;
  using Table = TermCentres;
  using Gathered = GatheredTermCentres;
};

// Return memory for all centres. Dense rows may be scored in low precision.
inline PackedCentres all_centres(const DenseRows& rows, std::int64_t n_clusters,
                                 bool low_precision = false) {
  return {rows.kernel(), n_clusters, rows.n_features(), low_precision ? &rows : nullptr};
}
inline TermCentres all_centres(const SparseRows& rows, std::int64_t n_clusters, bool = false) {
  return {rows, n_clusters};
}
inline CentreTable centre_table(const DenseRows& rows, std::int64_t n_clusters) {
  return {rows.kernel(), n_clusters, rows.n_features()};
}
inline TermCentres centre_table(const SparseRows& rows, std::int64_t n_clusters) {
  return {rows, n_clusters};
}
// Return memory for at most max_gathered centres.
inline PackedCentres gathered_centres(const DenseRows& rows, std::int64_t, std::int64_t max_gathered) {
  return {rows.kernel(), max_gathered, rows.n_features()};
}
inline GatheredTermCentres gathered_centres(const SparseRows& rows, std::int64_t n_clusters,
                                            std::int64_t max_gathered) {
  return {rows, n_clusters, max_gathered};
}

// Sets a centre to composite / weight. Sparse rows need `square`, which is |composite|^2.
template <class Packed>
void set_centre(Packed& packed, std::int64_t cluster, const double* composite, double weight, double) {
  packed.set(cluster, composite, weight);
}
inline void set_centre(TermCentres& packed, std::int64_t cluster, const double*, double weight,
                       double square) {
  packed.set(cluster, weight, square);
}

// Update the term rows of TermCentres when composites change. For dense rows, these functions do
// nothing.
template <class Packed>
void fill_term_rows(Packed&, const double*, bool, ThreadPool&) {}
inline void fill_term_rows(TermCentres& packed, const double* composites, bool rows_move,
                           ThreadPool& pool) {
  packed.fill(composites, rows_move, pool);
}
template <class Packed>
void update_terms(Packed&, const DenseRows::Row&, std::int64_t, const double*, double) {}
// Called after a row of this weight entered or left the cluster.
inline void update_terms(TermCentres& packed, const SparseRows::Row& x, std::int64_t cluster,
                         const double* composite, double weight) {
  for (std::int64_t t = 0; t < x.count; ++t)
    packed.set_term(x.columns[t], cluster, composite[x.columns[t]], weight * x.values[t]);
}
// Returns true if the entries of several clusters share memory, so that only one thread may update them.
template <class Packed>
bool shares_terms(const Packed&) {
  return false;
}
inline bool shares_terms(const TermCentres& packed) { return packed.has_sparse_term_rows(); }
template <class Packed>
void clear_terms(Packed&, std::int64_t) {}
inline void clear_terms(TermCentres& packed, std::int64_t cluster) { packed.clear(cluster); }

// |composite|^2 of all clusters, which only sparse rows need.
template <class Rows>
class CompositeNorms {
 public:
  CompositeNorms(const Rows& rows, const double* composites, std::int64_t n_clusters, ThreadPool& pool)
      : rows_(rows),
        values_(static_cast<std::size_t>(Rows::kSparse ? n_clusters : 0)),
        largest_(values_.size(), 0.0) {
    const std::int64_t d = rows.n_features();
    pool.for_each(static_cast<std::int64_t>(values_.size()),
                  [&](std::int64_t c, int) { renew(c, composites + c * d); });
  }
  double at(std::int64_t cluster) const {
    return Rows::kSparse ? values_[static_cast<std::size_t>(cluster)] : 0.0;
  }
  // Sets the value, or adds the change that `SparseRows::add` returned.
  void set(std::int64_t cluster, double value) {
    if constexpr (Rows::kSparse) values_[static_cast<std::size_t>(cluster)] = value;
  }
  void add(std::int64_t cluster, double change, const double* composite) {
    if constexpr (Rows::kSparse) {
      const auto c = static_cast<std::size_t>(cluster);
      values_[c] = std::max(0.0, values_[c] + change);
      largest_[c] = std::max(largest_[c], values_[c]);
      // Rounding errors of the previous, larger values would dominate a small value.
      if (values_[c] < kSmall * largest_[c]) renew(cluster, composite);
    }
  }

 private:
  // Fraction of its largest value below which a norm is recomputed.
  static constexpr double kSmall = 1.0 / 16.0;

  void renew(std::int64_t cluster, const double* composite) {
    const auto c = static_cast<std::size_t>(cluster);
    values_[c] = largest_[c] = rows_.centre(composite, 1.0).square;
  }

  const Rows& rows_;
  std::vector<double> values_, largest_;
};

}  // namespace boostkmeans
