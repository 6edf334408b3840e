#include "projection/project.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "projection/projector.hpp"

namespace boostkmeans {

void project(const DenseRows& rows, const double* axes, std::int64_t n_axes, double scale, float* out,
             ThreadPool& pool) {
  const Projector projector(rows.kernel(), axes, rows.n_features(), n_axes, scale);
  std::vector<std::unique_ptr<RowBatch<DenseRows>>> batches;
  std::vector<Buffer<float>> products;
  for (int t = 0; t < pool.size(); ++t) {
    batches.push_back(std::make_unique<RowBatch<DenseRows>>(rows));
    products.emplace_back(kBatchRows * projector.n_columns());
  }
  const std::int64_t n = rows.n_rows(), n_batches = (n + kBatchRows - 1) / kBatchRows;
  pool.for_each(n_batches, [&](std::int64_t number, int thread) {
    const std::int64_t first = number * kBatchRows, count = std::min(kBatchRows, n - first);
    RowBatch<DenseRows>& batch = *batches[static_cast<std::size_t>(thread)];
    const float* found = products[static_cast<std::size_t>(thread)].get();
    batch.load(count, [=](std::int64_t r) { return first + r; });
    projector.multiply(batch, products[static_cast<std::size_t>(thread)].get());
    for (std::int64_t r = 0; r < count; ++r, found += projector.n_columns()) {
      float* to = out + (first + r) * (n_axes + 1);
      std::copy_n(found, n_axes, to);
      to[n_axes] = static_cast<float>(projector.rest(found, batch.norm(r)));
    }
  });
}

}  // namespace boostkmeans
