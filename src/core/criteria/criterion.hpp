// CLUTO's criteria of a clustering, and the gain of a move.
//
// Let D_r be the composite (the sum of the rows) of cluster r, n_r its weight, and D the sum of all
// composites. Then
//   i1 = sum |D_r|^2 / n_r            is maximised,
//   i2 = sum |D_r|                    is maximised,
//   e1 = sum n_r D_r . D / |D_r|      is minimised,
//   g1 = sum D_r . (D - D_r) / |D_r|^2   is minimised,
//   h1 = i1 / e1 and h2 = i2 / e1     are maximised
// (Zhao and Karypis 2004). All of them depend on |D_r|^2, D_r . D and n_r only. A move of a row changes
// these three numbers of two clusters, and D not at all. Therefore the exact gain of a move needs the
// products of the row with the two composites and with D.
#pragma once

#include <cmath>
#include <cstdint>

namespace boostkmeans {

enum class CriterionName : std::uint8_t { i1, i2, e1, g1, h1, h2 };

// The numbers of a cluster on which all criteria depend.
struct ClusterNumbers {
  double square = 0.0;   // |D_r|^2
  double product = 0.0;  // D_r . D, which only criteria with a part `Between` need
  double weight = 0.0;   // n_r
};

// Terms of a cluster, of which a criterion is composed. A cluster whose rows cancel out has terms of 0.
struct NoTerm {
  static constexpr bool kUsed = false;
  static double of(const ClusterNumbers&) { return 0.0; }
};
struct SquareByWeight {
  static constexpr bool kUsed = true;
  static double of(const ClusterNumbers& c) { return c.weight > 0.0 ? c.square / c.weight : 0.0; }
};
struct Length {
  static constexpr bool kUsed = true;
  static double of(const ClusterNumbers& c) { return c.square > 0.0 ? std::sqrt(c.square) : 0.0; }
};
struct WeightedProjection {
  static constexpr bool kUsed = true;
  static double of(const ClusterNumbers& c) {
    return c.square > 0.0 ? c.weight * c.product / std::sqrt(c.square) : 0.0;
  }
};
// D_r . D / |D_r|^2, which is the term of g1 plus 1.
struct Cut {
  static constexpr bool kUsed = true;
  static double of(const ClusterNumbers& c) { return c.square > 0.0 ? c.product / c.square : 0.0; }
};

// Sums of the terms of some clusters.
struct CriterionSums {
  double within = 0.0, between = 0.0;
};

// The gain of a move, and a bound on its rounding error.
struct Gain {
  double value = 0.0, noise = 0.0;
  bool improves() const { return value > noise; }
};

// `Within` is maximised and `Between` is minimised. If a criterion has both, it is their ratio.
template <class Within, class Between>
struct Criterion {
  static constexpr bool kUsesTotal = Between::kUsed;

  static CriterionSums terms(const ClusterNumbers& cluster) {
    return {Within::of(cluster), Between::of(cluster)};
  }
  // The gain if the terms of two clusters change from `before` to `after` and the sums over all clusters
  // were `sums`. It is the increase, or for a criterion that is minimised the decrease. Terms are not
  // negative where a criterion has a part `Between`.
  static Gain gain(const CriterionSums& before, const CriterionSums& after, const CriterionSums& sums) {
    // Relative error of a term, with a wide margin: its composites are sums of many rounded rows.
    constexpr double kRelative = 1e-11;
    const double within = after.within - before.within, between = after.between - before.between;
    const double noise_within = kRelative * (after.within + before.within);
    const double noise_between = kRelative * (after.between + before.between);
    if constexpr (!Between::kUsed) {
      return {within, noise_within};
    } else if constexpr (!Within::kUsed) {
      return {-between, noise_between};
    } else {
      const double scale = 1.0 / (sums.between * (sums.between + between));
      return {(within * sums.between - sums.within * between) * scale,
              (noise_within * sums.between + sums.within * noise_between) * scale};
    }
  }
};

using I1 = Criterion<SquareByWeight, NoTerm>;
using I2 = Criterion<Length, NoTerm>;
using E1 = Criterion<NoTerm, WeightedProjection>;
using G1 = Criterion<NoTerm, Cut>;
using H1 = Criterion<SquareByWeight, WeightedProjection>;
using H2 = Criterion<Length, WeightedProjection>;

inline CriterionSums operator+(const CriterionSums& a, const CriterionSums& b) {
  return {a.within + b.within, a.between + b.between};
}
inline CriterionSums operator-(const CriterionSums& a, const CriterionSums& b) {
  return {a.within - b.within, a.between - b.between};
}

// Products of a weighted row w x with itself, with a composite and with D.
struct RowProducts {
  double square = 0.0;   // w^2 |x|^2
  double product = 0.0;  // w x . D
  double weight = 0.0;   // w
};

// The numbers of a cluster after a row has entered or left it; `dot` is w x . D_r before the move.
inline ClusterNumbers with_row(const ClusterNumbers& c, const RowProducts& row, double dot) {
  return {c.square + 2.0 * dot + row.square, c.product + row.product, c.weight + row.weight};
}
inline ClusterNumbers without_row(const ClusterNumbers& c, const RowProducts& row, double dot) {
  return {c.square - 2.0 * dot + row.square, c.product - row.product, c.weight - row.weight};
}

}  // namespace boostkmeans
