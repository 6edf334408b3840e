// A centre, in the form that rows need to compute distances to it.
#pragma once

namespace boostkmeans {

struct Centre {
  const double* composite = nullptr;
  double inverse = 0.0;  // 1 / weight: the centre is C = composite * inverse
  double square = 0.0;   // |composite|^2, which only sparse rows need
};

}  // namespace boostkmeans
