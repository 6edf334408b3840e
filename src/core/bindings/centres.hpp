// Checks of arrays of centres.
#pragma once

#include "bindings/rows.hpp"

namespace boostkmeans {

// Returns the number of centres. Raises ValueError unless they have as many features as the rows.
inline std::int64_t count_centres(const Matrix<const double>& centres, const Rows& rows) {
  require(centres.shape(0) > 0 && length_of(centres, 1) == rows.n_features(),
          "centres must have one column per feature of the rows");
  return length_of(centres);
}

}  // namespace boostkmeans
