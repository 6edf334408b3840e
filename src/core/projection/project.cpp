#include "projection/project.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "scoring/row_batch.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

namespace {

// Axes in float32, packed like centres. Without norms, the kernel's scores are plain products.
class PackedAxes {
 public:
  PackedAxes(const Kernel& kernel, const double* axes, std::int64_t n_features, std::int64_t n_axes,
             double scale)
      : width_(kernel.panel_width),
        n_panels_((n_axes + width_ - 1) / width_),
        values_(n_panels_ * width_ * n_features),
        zeros_(n_panels_ * width_) {
    std::fill_n(values_.get(), n_panels_ * width_ * n_features, 0.0f);
    std::fill_n(zeros_.get(), n_panels_ * width_, 0.0f);
    for (std::int64_t j = 0; j < n_features; ++j)
      for (std::int64_t i = 0; i < n_axes; ++i)
        values_[(i / width_ * n_features + j) * width_ + i % width_] =
            static_cast<float>(axes[j * n_axes + i] * scale);
  }

  std::int64_t n_panels() const { return n_panels_; }
  std::int64_t n_columns() const { return n_panels_ * width_; }
  PanelView view() const {
    PanelView view;
    view.values = values_.get();
    view.norms = zeros_.get();
    view.n_clusters = static_cast<std::int32_t>(n_columns());
    return view;
  }

 private:
  std::int64_t width_, n_panels_;
  Buffer<float> values_, zeros_;
};

class Projector {
 public:
  Projector(const DenseRows& rows, const double* axes, std::int64_t n_axes, double scale, float* out,
            ThreadPool& pool)
      : rows_(rows),
        n_axes_(n_axes),
        square_scale_(scale * scale),
        axes_(rows.kernel(), axes, rows.n_features(), n_axes, scale),
        out_(out),
        pool_(pool) {
    std::fill_n(zeros_, kBatchRows, 0.0f);
    for (int t = 0; t < pool.size(); ++t) {
      batches_.push_back(std::make_unique<RowBatch<DenseRows>>(rows));
      products_.emplace_back(kBatchRows * axes_.n_columns());
    }
  }

  void run() {
    pool_.for_each((rows_.n_rows() + kBatchRows - 1) / kBatchRows,
                   [this](std::int64_t batch, int thread) { project_batch(batch * kBatchRows, thread); });
  }

 private:
  void project_batch(std::int64_t first, int thread) {
    const std::int64_t count = std::min(kBatchRows, rows_.n_rows() - first);
    RowBatch<DenseRows>& batch = *batches_[static_cast<std::size_t>(thread)];
    batch.load(count, [=](std::int64_t r) { return first + r; });
    TileView tile = batch.view();
    tile.norms = zeros_;
    float* products = products_[static_cast<std::size_t>(thread)].get();
    rows_.kernel().score(tile, axes_.view(), 0, axes_.n_panels(), products, axes_.n_columns());
    for (std::int64_t r = 0; r < count; ++r)
      store(first + r, products + r * axes_.n_columns(), square_scale_ * batch.norm(r));
  }

  // Stores the products of a row, whose scaled square is |x|^2.
  void store(std::int64_t row, const float* products, double square) {
    double shown = 0.0;
    for (std::int64_t i = 0; i < n_axes_; ++i)
      shown += static_cast<double>(products[i]) * static_cast<double>(products[i]);
    float* to = out_ + row * (n_axes_ + 1);
    std::copy_n(products, n_axes_, to);
    to[n_axes_] = static_cast<float>(std::sqrt(std::max(0.0, square - shown)));
  }

  const DenseRows& rows_;
  std::int64_t n_axes_;
  double square_scale_;
  PackedAxes axes_;
  float* out_;
  ThreadPool& pool_;
  float zeros_[kBatchRows];
  std::vector<std::unique_ptr<RowBatch<DenseRows>>> batches_;  // by thread
  std::vector<Buffer<float>> products_;                        // by thread
};

}  // namespace

void project(const DenseRows& rows, const double* axes, std::int64_t n_axes, double scale, float* out,
             ThreadPool& pool) {
  Projector(rows, axes, n_axes, scale, out, pool).run();
}

}  // namespace boostkmeans
