// Compares the scores of a kernel with plain loops in float64, in float32 and in low precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "kernel/kernel.hpp"
#include "rows/dense_rows.hpp"
#include "scoring/packed_centres.hpp"
#include "scoring/tile.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

class KernelCheck {
 public:
  KernelCheck(const Kernel& kernel, std::int64_t n_features, std::int64_t n_clusters)
      : kernel_(kernel),
        d_(n_features),
        k_(n_clusters),
        bytes_(random_bytes(kBatchRows * d_)),
        rows_(kernel, {reinterpret_cast<const char*>(bytes_.data()), d_, 1, d_, Scalar::uint8},
              kBatchRows, std::vector<double>(static_cast<std::size_t>(d_), 128.0), -7, nullptr),
        composites_(random_composites()),
        norms_(kBatchRows) {}

  void run() {
    check_floats();
    require(rows_.are_bytes() == kernel_.multiplies_bytes, "bytes are multiplied if the kernel can");
    if (rows_.are_bytes()) check_bytes();
  }

 private:
  static std::vector<unsigned char> random_bytes(std::int64_t count) {
    std::mt19937 random(7);
    std::vector<unsigned char> found(static_cast<std::size_t>(count));
    for (unsigned char& byte : found) byte = static_cast<unsigned char>(random());
    return found;
  }

  std::vector<double> random_composites() const {
    std::mt19937 random(8);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    std::vector<double> found(static_cast<std::size_t>(k_ * d_));
    for (double& value : found) value = uniform(random);
    return found;
  }

  void require(bool condition, const char* what) const {
    if (condition) return;
    std::fprintf(stderr, "failed: %s (kernel %s, %lld features, %lld clusters)\n", what, kernel_.name,
                 static_cast<long long>(d_), static_cast<long long>(k_));
    std::exit(1);
  }

  const double* composite(std::int64_t cluster) const { return composites_.data() + cluster * d_; }

  // Loads all rows, and returns what the kernel reads of them.
  TileView load(Tile<DenseRows>& tile) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(kBatchRows));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    tile.load(order.data(), kBatchRows, kBatchRows, norms_.get());
    TileView view;
    tile.complete(view);
    view.norms = norms_.get();
    view.own = nobody_.data();
    view.n_rows = kBatchRows;
    view.n_features = d_;
    return view;
  }

  // Bound on the rounding errors of a distance in float32.
  double tolerance(std::int64_t row, double centre_norm) const {
    return 1e-6 * static_cast<double>(d_ + 8) * (static_cast<double>(norms_[row]) + centre_norm + 1.0);
  }

  void check_floats() {
    Tile<DenseRows> tile(rows_, false);
    const TileView view = load(tile);
    PackedCentres centres(kernel_, k_, d_);
    for (std::int64_t c = 0; c < k_; ++c) centres.set(c, composite(c), 1.0);
    const std::int64_t stride = centres.n_panels() * kernel_.panel_width;
    Buffer<float> found(kBatchRows * stride);
    kernel_.score(view, centres.view(), 0, centres.n_panels(), found.get(), stride);
    DenseRows::Row row(rows_);
    for (std::int64_t r = 0; r < kBatchRows; ++r) {
      rows_.fetch(r, row);
      for (std::int64_t c = 0; c < k_; ++c) {
        double expected = 0.0, norm = 0.0;
        for (std::int64_t j = 0; j < d_; ++j) {
          const double difference = row.values[j] - composite(c)[j];
          expected += difference * difference;
          norm += composite(c)[j] * composite(c)[j];
        }
        const double error = std::abs(static_cast<double>(found[r * stride + c]) - expected);
        require(error <= tolerance(r, norm), "scores in float32");
      }
    }
  }

  // The score of a row and a centre from the bytes of both, with an exact sum of products.
  double byte_score(const TileView& tile, const PanelView& panels, std::int64_t r,
                    std::int64_t c) const {
    const std::int64_t n_quads = (d_ + 3) / 4, width = kernel_.panel_width;
    std::int64_t sum = 0;
    for (std::int64_t j = 0; j < d_; ++j) {
      const std::int32_t quad = panels.quads[c / width * width * n_quads + c % width + j / 4 * width];
      const auto q = static_cast<std::int8_t>(static_cast<std::uint32_t>(quad) >> (j % 4 * 8));
      sum += std::int64_t{bytes_[static_cast<std::size_t>(r * d_ + j)]} * q;
    }
    const double product = static_cast<double>(sum) - static_cast<double>(panels.byte_offsets[c]);
    return static_cast<double>(panels.norms[c]) + static_cast<double>(tile.norms[r]) +
           static_cast<double>(panels.byte_scales[c]) * product;
  }

  void check_bytes() {
    Tile<DenseRows> tile(rows_, true);
    const TileView view = load(tile);
    PackedCentres centres(kernel_, k_, d_, &rows_);
    for (std::int64_t c = 0; c < k_; ++c) centres.set(c, composite(c), 1.0);
    const PanelView panels = centres.view();
    Buffer<float> best(kBatchRows * kernel_.lanes), second(kBatchRows * kernel_.lanes);
    Buffer<std::int32_t> index(kBatchRows * kernel_.lanes);
    const LaneState state{best.get(), second.get(), index.get()};
    kernel_.reset(Rule::nearest, kBatchRows, state);
    kernel_.scan(Rule::nearest, false, view, panels, 0, centres.n_panels(), state);
    kernel_.reduce(Rule::nearest, kBatchRows, state);
    for (std::int64_t r = 0; r < kBatchRows; ++r) {
      std::vector<double> expected;
      for (std::int64_t c = 0; c < k_; ++c) expected.push_back(byte_score(view, panels, r, c));
      const std::int64_t at = r * kernel_.lanes;
      const double error = tolerance(r, static_cast<double>(d_));
      const double smallest = *std::min_element(expected.begin(), expected.end());
      require(index[at] >= 0 && index[at] < k_, "the nearest centre in low precision is a centre");
      require(std::abs(static_cast<double>(best[at]) - smallest) <= error, "scores of bytes");
      require(expected[static_cast<std::size_t>(index[at])] <= smallest + error,
              "nearest centre of bytes");
    }
  }

  const Kernel& kernel_;
  std::int64_t d_, k_;
  std::vector<unsigned char> bytes_;
  DenseRows rows_;
  std::vector<double> composites_;
  Buffer<float> norms_;
  std::vector<std::int32_t> nobody_ =
      std::vector<std::int32_t>(static_cast<std::size_t>(kBatchRows), -1);
};

// Numbers of features around the lengths of quads, vectors and chunks, and of clusters around those of
// panels.
inline void check_kernels() {
  for (int n = 0; const Kernel* kernel = available_kernel(n); ++n)
    for (const std::int64_t d : {1, 3, 4, 5, 15, 16, 17, 127, 128, 129, 300})
      for (const std::int64_t k : {1, 4, 8, 9, 33}) KernelCheck(*kernel, d, k).run();
}

}  // namespace boostkmeans
