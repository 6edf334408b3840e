#include "projection/lower_bounds.hpp"

#include <algorithm>
#include <cmath>

namespace boostkmeans {

namespace {

constexpr double kUnit = 0x1p-24;  // largest relative rounding error of float32

StridedArray composites_of(const Partition& partition) {
  const auto step = static_cast<std::int64_t>(sizeof(double));
  return {reinterpret_cast<const char*>(partition.composites), step * partition.n_features, step,
          partition.n_features, Scalar::float64};
}

}  // namespace

LowerBounds::LowerBounds(const ProjectedRows& projected, const Partition& partition,
                         std::int64_t list_length, ThreadPool& pool)
    : projected_(projected),
      partition_(partition),
      square_scale_(projected.scale * projected.scale),
      n_features_(partition.n_features),
      projector_(projected.rows->kernel(), projected.axes, partition.n_features, projected.n_axes(),
                 projected.scale),
      inverse_weights_(static_cast<std::size_t>(partition.n_clusters), 0.0),
      errors_(static_cast<std::size_t>(partition.n_clusters), 0.0),
      centre_rows_(projected.rows->kernel(), composites_of(partition), partition.n_clusters,
                   std::vector<double>(static_cast<std::size_t>(partition.n_features), 0.0), 0,
                   inverse_weights_.data()) {
  const Kernel& kernel = projected.rows->kernel();
  const std::int64_t k = partition.n_clusters, n_values = projected.rows->n_features();
  if (list_length == 0)
    all_ = std::make_unique<PackedCentres>(kernel, k, n_values);
  else
    table_ = std::make_unique<CentreTable>(kernel, k, n_values);
  for (int t = 0; t < pool.size(); ++t) {
    if (table_ != nullptr) gathered_.emplace_back(kernel, list_length, n_values);
    batches_.push_back(std::make_unique<RowBatch<DenseRows>>(centre_rows_));
    products_.emplace_back(kBatchRows * projector_.n_columns());
    points_.emplace_back(n_values);
  }
}

void LowerBounds::update(const std::vector<std::int64_t>& clusters, ThreadPool& pool) {
  const auto n = static_cast<std::int64_t>(clusters.size());
  pool.for_each((n + kBatchRows - 1) / kBatchRows, [&](std::int64_t task, int thread) {
    const std::int64_t first = task * kBatchRows;
    update_batch(clusters.data() + first, std::min(kBatchRows, n - first), thread);
  });
  for (const std::int64_t c : clusters)
    largest_error_ = std::max(largest_error_, errors_[static_cast<std::size_t>(c)]);
}

void LowerBounds::update_batch(const std::int64_t* clusters, std::int64_t count, int thread) {
  const auto t = static_cast<std::size_t>(thread);
  for (std::int64_t r = 0; r < count; ++r)
    inverse_weights_[static_cast<std::size_t>(clusters[r])] =
        inverse_of(partition_.weights[clusters[r]]);
  RowBatch<DenseRows>& batch = *batches_[t];
  batch.load(count, [=](std::int64_t r) { return clusters[r]; });
  projector_.multiply(batch, products_[t].get());
  double* point = points_[t].get();
  for (std::int64_t r = 0; r < count; ++r) {
    const std::int64_t cluster = clusters[r];
    const double weight = partition_.weights[cluster];
    const float* products = products_[t].get() + r * projector_.n_columns();
    const double rest = projector_.rest(products, batch.norm(r));
    // The tables divide by the weight.
    for (std::int64_t i = 0; i < projector_.n_axes(); ++i)
      point[i] = weight * static_cast<double>(products[i]);
    point[projector_.n_axes()] = weight * rest;
    if (all_ != nullptr)
      all_->set(cluster, point, weight);
    else
      table_->set(cluster, point, weight);
    errors_[static_cast<std::size_t>(cluster)] =
        error(std::sqrt(square_scale_ * static_cast<double>(batch.norm(r))), rest);
  }
}

void LowerBounds::set_never(std::int64_t cluster) {
  if (all_ != nullptr)
    all_->set_never(cluster);
  else
    table_->set_never(cluster);
}

const PackedCentres& LowerBounds::centres(const std::int32_t* list, std::int64_t count, int thread) {
  if (list == nullptr) return *all_;
  PackedCentres& gathered = gathered_[static_cast<std::size_t>(thread)];
  gathered.gather(*table_, list, count);
  return gathered;
}

double LowerBounds::error(double length, double rest) const {
  return projection_error(n_features_, projector_.n_axes(), length, rest);
}

float LowerBounds::exact_limit(double cost, double square, double rest) const {
  const double reach = std::sqrt(cost * square_scale_) + error(std::sqrt(square), rest) + largest_error_;
  const double exact = reach * reach;
  return static_cast<float>((exact + float32_error(square, exact, projected_.rows->n_features() + 1)) *
                            (1.0 + 4.0 * kUnit));
}

}  // namespace boostkmeans
