// A centre as a row is measured against it.
#pragma once

namespace boostkmeans {

struct Centre {
  const double* composite;
  double inverse;       // of the weight: C = composite * inverse
  double square = 0.0;  // |composite|^2, which sparse rows need
};

}  // namespace boostkmeans
