// A CSR matrix in the memory of the caller.
#pragma once

#include <algorithm>
#include <cstdint>

namespace boostkmeans {

// The columns of each row ascend strictly, unless the caller changes them during a call, as another
// thread could. The core must not crash then: it reads columns through `column`, and the starts are a
// copy that nobody changes.
struct CsrSource {
  const void* values;          // float64 or float32
  const void* columns;         // int64 or int32
  const std::int64_t* starts;  // n + 1 values: the start of each row, and the end of the last
  bool wide_values, wide_columns;

  std::int64_t start(std::int64_t row) const { return starts[row]; }
  std::int64_t length(std::int64_t row) const { return start(row + 1) - start(row); }

  // Returns a column of `columns` as an index below n_features, whatever was written there.
  template <class Index>
  static std::int64_t column(Index index, std::int64_t n_features) {
    const auto wide = static_cast<std::uint64_t>(static_cast<std::int64_t>(index));
    return static_cast<std::int64_t>(std::min(wide, static_cast<std::uint64_t>(n_features - 1)));
  }

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
