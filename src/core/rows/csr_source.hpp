// A CSR matrix in the memory of the caller.
#pragma once

#include <cstdint>

namespace boostkmeans {

// The columns of each row ascend strictly.
struct CsrSource {
  const void* values;   // float64 or float32
  const void* columns;  // int64 or int32
  const void* starts;   // n + 1 values, int64 or int32: the start of each row, and the end of the last
  bool wide_values, wide_columns, wide_starts;

  std::int64_t start(std::int64_t row) const {
    return wide_starts ? static_cast<const std::int64_t*>(starts)[row]
                       : static_cast<const std::int32_t*>(starts)[row];
  }
  std::int64_t length(std::int64_t row) const { return start(row + 1) - start(row); }

  // Calls body(values, columns) with pointers of the actual types.
  template <class Body>
  void as_typed(Body body) const {
    const auto with_values = [&](const auto* typed) {
      if (wide_columns)
        body(typed, static_cast<const std::int64_t*>(columns));
      else
        body(typed, static_cast<const std::int32_t*>(columns));
    };
    if (wide_values)
      with_values(static_cast<const double*>(values));
    else
      with_values(static_cast<const float*>(values));
  }
};

}  // namespace boostkmeans
