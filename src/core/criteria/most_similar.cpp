#include "criteria/most_similar.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rows/thread_rows.hpp"

namespace boostkmeans {

template <class Rows>
void most_similar(const Rows& rows, const TermComposites& composites, ThreadPool& pool) {
  constexpr std::int64_t kRowsPerItem = 16;
  const std::int64_t n = rows.n_rows();
  auto fetched = row_for_each_thread(rows, pool);
  std::vector<std::vector<double>> dots_by_thread(
      static_cast<std::size_t>(pool.size()),
      std::vector<double>(static_cast<std::size_t>(composites.n_clusters)));
  pool.for_each((n + kRowsPerItem - 1) / kRowsPerItem, [&](std::int64_t item, int thread) {
    typename Rows::Row& x = fetched[static_cast<std::size_t>(thread)];
    std::vector<double>& dots = dots_by_thread[static_cast<std::size_t>(thread)];
    for (std::int64_t row = item * kRowsPerItem; row < std::min(n, (item + 1) * kRowsPerItem); ++row) {
      rows.fetch(row, x);
      std::ranges::fill(dots, 0.0);
      add_dots(rows, x, 1.0, composites, dots.data());
      composites.labels[row] = static_cast<std::int32_t>(std::ranges::max_element(dots) - dots.begin());
    }
  });
}

template void most_similar(const DenseRows&, const TermComposites&, ThreadPool&);
template void most_similar(const SparseRows&, const TermComposites&, ThreadPool&);

}  // namespace boostkmeans
