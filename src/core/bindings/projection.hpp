// The projection of rows at the native boundary.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bindings/rows.hpp"
#include "projection/lower_bounds.hpp"

namespace boostkmeans {

// ProjectedRows together with the arrays that they refer to.
class BoundProjection {
 public:
  BoundProjection(Matrix<const float> values, Matrix<const double> axes, double scale,
                  const std::string& isa)
      : values_(std::move(values)),
        axes_(std::move(axes)),
        scale_(scale),
        rows_(kernel_named(isa), source(), length_of(values_),
              std::vector<double>(values_.shape(1), 0.0), 0, nullptr) {
    require(length_of(values_, 1) == length_of(axes_, 1) + 1,
            "values must have one column more than there are axes");
    require(scale > 0.0, "scale must be positive");
  }
  ProjectedRows view() const { return {&rows_, values_.data(), axes_.data(), scale_}; }
  void check(const Rows& rows) const {
    require(rows_.n_rows() == rows.n_rows() && length_of(axes_) == rows.dense().n_features(),
            "the projection must belong to the rows");
    require(rows_.kernel().name == rows.kernel().name, "the projection needs the rows' instruction set");
  }

 private:
  StridedArray source() const {
    const auto step = static_cast<std::int64_t>(sizeof(float));
    return {reinterpret_cast<const char*>(values_.data()), step * length_of(values_, 1), step,
            length_of(values_, 1), Scalar::float32};
  }

  Matrix<const float> values_;
  Matrix<const double> axes_;
  double scale_;
  DenseRows rows_;
};

}  // namespace boostkmeans
