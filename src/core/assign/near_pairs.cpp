#include "assign/near_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "projection/projector.hpp"
#include "scoring/packed_centres.hpp"
#include "scoring/row_batch.hpp"

namespace boostkmeans {

namespace {

// Number of rows of a cluster that a thread processes at a time. Their distances to all centres must fit
// into memory.
constexpr std::int64_t kChunkRows = 5 * kBatchRows;
// Number of panels of rows that are compared with a batch. The panels and the scores must fit into the
// cache.
constexpr std::int64_t kPanelsAtOnce = 8;
// Number of centre panels that are scored between two polls of the stop token.
constexpr std::int64_t kCentrePanels = 1024;
// Number of scores that are skipped together if none is small enough.
constexpr std::int64_t kTogether = 16;

float rounded_up(double value) {
  return std::nextafter(static_cast<float>(value), std::numeric_limits<float>::infinity());
}

StridedArray floats(const float* values, std::int64_t step, std::int64_t n_columns) {
  const auto size = static_cast<std::int64_t>(sizeof(float));
  return {reinterpret_cast<const char*>(values), size * step, size, n_columns, Scalar::float32};
}

// Calls found(i) for all values[i] at or below limits[i * kStep]. NaN counts as below.
template <std::int64_t kStep, class Found>
void each_below(const float* values, const float* limits, std::int64_t count, Found found) {
  for (std::int64_t begin = 0; begin < count; begin += kTogether) {
    const std::int64_t end = std::min(count, begin + kTogether);
    bool any = false;
    for (std::int64_t i = begin; i < end; ++i) any |= !(values[i] > limits[i * kStep]);
    if (!any) continue;
    for (std::int64_t i = begin; i < end; ++i)
      if (!(values[i] > limits[i * kStep])) found(i);
  }
}

class NearPairs {
 public:
  NearPairs(const PairSide& left, const PairSide* right, const PairRequest& request,
            const PairTally& tally, ThreadPool& pool)
      : left_(left),
        right_(right == nullptr ? left : *right),
        is_self_(right == nullptr),
        request_(request),
        tally_(tally),
        pool_(pool),
        kernel_(left.rows().kernel()),
        n_clusters_(left.n_clusters()),
        centres_(kernel_, n_clusters_, left.n_columns()),
        centre_values_(static_cast<std::size_t>(n_clusters_ * left.step()), 0.0f),
        centre_squares_(static_cast<std::size_t>(n_clusters_), 0.0) {}

  void run() {
    pool_.for_each(n_clusters_, [&](std::int64_t c, int) { set_centre(c); });
    std::vector<std::pair<std::int64_t, std::int64_t>> chunks;  // cluster, first position
    for (std::int64_t c = request_.first; c < request_.last; ++c)
      for (std::int64_t at = left_.begin(c); at < left_.end(c); at += kChunkRows)
        chunks.emplace_back(c, at);
    std::vector<std::unique_ptr<Scratch>> scratch_by_thread;
    for (int t = 0; t < pool_.size(); ++t)
      scratch_by_thread.push_back(std::make_unique<Scratch>(left_, right_, centres_));
    pool_.for_each(static_cast<std::int64_t>(chunks.size()), [&](std::int64_t i, int thread) {
      const auto [cluster, first] = chunks[static_cast<std::size_t>(i)];
      search(cluster, first, *scratch_by_thread[static_cast<std::size_t>(thread)], thread);
    });
  }

 private:
  using Positions = std::vector<std::int32_t>;

  struct Scratch {
    Scratch(const PairSide& left, const PairSide& right, const PackedCentres& centres)
        : batch(left.coordinates()),
          to_centres(kChunkRows * centres.n_panels() * left.rows().kernel().panel_width),
          limits(centres.n_clusters()),
          plane(left.step()),
          panels(kPanelsAtOnce * left.rows().kernel().panel_width * left.n_columns()),
          panel_norms(kPanelsAtOnce * left.rows().kernel().panel_width),
          scores(kBatchRows * kPanelsAtOnce * left.rows().kernel().panel_width),
          near(static_cast<std::size_t>(centres.n_clusters())),
          x(left.rows()),
          y(right.rows()) {}
    RowBatch<DenseRows> batch;
    Buffer<float> to_centres;  // squared distances of the chunk to all centres
    Buffer<float> limits;  // by cluster: largest |x - B|^2 - |x - A|^2 of a row x that may have a pair
    Buffer<float> plane;   // A - B
    Buffer<float> panels, panel_norms, scores;
    std::vector<Positions> near;  // by cluster: rows of the chunk that may form a pair with its rows
    std::vector<std::int32_t> touched;  // clusters with such rows
    std::vector<float> dots;
    Positions others;  // rows of the other cluster that may form a pair with a row of the chunk
    DenseRows::Row x, y;
  };

  const float* centre(std::int64_t cluster) const {
    return centre_values_.data() + cluster * left_.step();
  }

  void set_centre(std::int64_t cluster) {
    const double* from = request_.centres + cluster * left_.n_columns();
    centres_.set(cluster, from, 1.0);
    float* to = centre_values_.data() + cluster * left_.step();
    double square = 0.0;
    for (std::int64_t j = 0; j < left_.n_columns(); ++j) {
      to[j] = static_cast<float>(from[j]);
      square += static_cast<double>(to[j]) * static_cast<double>(to[j]);
    }
    centre_squares_[static_cast<std::size_t>(cluster)] = square;
  }

  double distance_of_centres(std::int64_t a, std::int64_t b) const {
    double total = 0.0;
    for (std::int64_t j = 0; j < left_.n_columns(); ++j) {
      const double gap = static_cast<double>(centre(a)[j]) - static_cast<double>(centre(b)[j]);
      total += gap * gap;
    }
    return std::sqrt(total);
  }

  // Largest distance of the coordinates of two rows of these clusters that form a pair.
  double reach(std::int64_t a, std::int64_t b) const {
    return request_.radius + left_.error(a) + right_.error(b);
  }

  // Upper limit of 2 |A - B| (s(x) + s(y)) for a pair, as it is computed. Four squared distances in
  // float32 enter it, between vectors that are no longer than `length`.
  double plane_limit(std::int64_t a, std::int64_t b) const {
    const double of_centres = std::max(centre_squares_[static_cast<std::size_t>(a)],
                                       centre_squares_[static_cast<std::size_t>(b)]);
    const double length = std::max({left_.length(a), right_.length(b), std::sqrt(of_centres)});
    const double square = length * length;
    return 2.0 * distance_of_centres(a, b) * reach(a, b) +
           4.0 * float32_error(square, 4.0 * square, left_.n_columns());
  }

  template <class Body>
  void each_compared(std::int64_t cluster, Body body) const {
    const ComparedClusters& compared = request_.compared;
    if (compared.starts == nullptr) {
      for (std::int64_t b = is_self_ ? cluster : 0; b < n_clusters_; ++b) body(b);
    } else {
      for (std::int64_t i = compared.starts[cluster]; i < compared.starts[cluster + 1]; ++i)
        if (!is_self_ || compared.members[i] >= cluster) body(compared.members[i]);
    }
  }

  // Compares a chunk of rows of a cluster.
  void search(std::int64_t cluster, std::int64_t first, Scratch& scratch, int thread) const {
    const std::int64_t count = std::min(kChunkRows, left_.end(cluster) - first);
    if (!score_centres(first, count, scratch, thread)) return;
    find_near(cluster, first, count, scratch);
    for (const std::int32_t other : scratch.touched) {
      if (pool_.stop_token().stop_requested(thread)) break;
      compare(cluster, other, first, scratch);
    }
    for (const std::int32_t other : scratch.touched)
      scratch.near[static_cast<std::size_t>(other)].clear();
    scratch.touched.clear();
  }

  bool score_centres(std::int64_t first, std::int64_t count, Scratch& scratch, int thread) const {
    const std::int64_t stride = centres_.n_panels() * kernel_.panel_width;
    for (std::int64_t r = 0; r < count; r += kBatchRows) {
      scratch.batch.load(std::min(kBatchRows, count - r), [=](std::int64_t i) { return first + r + i; });
      float* out = scratch.to_centres.get() + r * stride;
      for (std::int64_t p = 0; p < centres_.n_panels(); p += kCentrePanels) {
        if (pool_.stop_token().stop_requested(thread)) return false;
        const std::int64_t end = std::min(p + kCentrePanels, centres_.n_panels());
        kernel_.score(scratch.batch.view(), centres_.view(), p, end, out + p * kernel_.panel_width,
                      stride);
      }
    }
    return true;
  }

  // Lists the rows of the chunk that are near enough to the plane between their cluster and another.
  void find_near(std::int64_t cluster, std::int64_t first, std::int64_t count, Scratch& scratch) const {
    const std::int64_t stride = centres_.n_panels() * kernel_.panel_width;
    std::fill_n(scratch.limits.get(), n_clusters_, -std::numeric_limits<float>::infinity());
    each_compared(cluster, [&](std::int64_t b) {
      if (right_.begin(b) < right_.end(b)) scratch.limits[b] = rounded_up(plane_limit(cluster, b));
    });
    Buffer<float>& limits = scratch.limits;
    for (std::int64_t r = 0; r < count; ++r) {
      float* scores = scratch.to_centres.get() + r * stride;
      const float own = scores[cluster];
      for (std::int64_t b = 0; b < n_clusters_; ++b) scores[b] -= own;
      each_below<1>(scores, limits.get(), n_clusters_, [&](std::int64_t b) {
        Positions& near = scratch.near[static_cast<std::size_t>(b)];
        if (near.empty()) scratch.touched.push_back(static_cast<std::int32_t>(b));
        near.push_back(static_cast<std::int32_t>(first + r));
      });
    }
  }

  // Compares the listed rows of the chunk with the rows of another cluster, or of their own.
  void compare(std::int64_t cluster, std::int64_t other, std::int64_t first, Scratch& scratch) const {
    const Positions& near = scratch.near[static_cast<std::size_t>(other)];
    find_others(cluster, other, first, scratch);
    const std::int64_t width = kernel_.panel_width, at_once = kPanelsAtOnce * width;
    const auto n_others = static_cast<std::int64_t>(scratch.others.size());
    const auto n_near = static_cast<std::int64_t>(near.size());
    const double square = std::pow(reach(cluster, other), 2);
    for (std::int64_t o = 0; o < n_others; o += at_once) {
      const std::int32_t* others = scratch.others.data() + o;
      const std::int64_t n = std::min(at_once, n_others - o), n_panels = (n + width - 1) / width;
      pack(others, n, n_panels, scratch);
      PanelView panels;
      panels.values = scratch.panels.get();
      panels.norms = scratch.panel_norms.get();
      panels.n_clusters = static_cast<std::int32_t>(n);
      for (std::int64_t r = 0; r < n_near; r += kBatchRows) {
        const std::int64_t count = std::min(kBatchRows, n_near - r);
        scratch.batch.load(count, [&](std::int64_t i) { return near[static_cast<std::size_t>(r + i)]; });
        kernel_.score(scratch.batch.view(), panels, 0, n_panels, scratch.scores.get(), n_panels * width);
        for (std::int64_t i = 0; i < count; ++i) {
          const float limit =
              rounded_up(square + float32_error(scratch.batch.norm(i), square, left_.n_columns()));
          examine(near[static_cast<std::size_t>(r + i)], others, n,
                  scratch.scores.get() + i * n_panels * width, limit, scratch);
        }
      }
    }
  }

  // Lists the rows of the other cluster that are near enough to the plane between the clusters.
  void find_others(std::int64_t cluster, std::int64_t other, std::int64_t first,
                   Scratch& scratch) const {
    scratch.others.clear();
    if (is_self_ && cluster == other) {  // rows before the chunk were compared with it already
      for (std::int64_t p = first; p < right_.end(other); ++p)
        scratch.others.push_back(static_cast<std::int32_t>(p));
      return;
    }
    const std::int64_t stride = centres_.n_panels() * kernel_.panel_width;
    double nearest = std::numeric_limits<double>::infinity();
    for (const std::int32_t p : scratch.near[static_cast<std::size_t>(other)])
      nearest = std::min(nearest, static_cast<double>(scratch.to_centres[(p - first) * stride + other]));
    for (std::int64_t j = 0; j < left_.step(); ++j)
      scratch.plane[j] = centre(cluster)[j] - centre(other)[j];
    const std::int64_t begin = right_.begin(other), count = right_.end(other) - begin;
    scratch.dots.resize(static_cast<std::size_t>(count));
    kernel_.flat_dots(right_.values(begin), right_.step(), count, scratch.plane.get(), right_.step(),
                      scratch.dots.data());
    // |y - A|^2 - |y - B|^2 = |A|^2 - |B|^2 - 2 y (A - B)
    const double gap = centre_squares_[static_cast<std::size_t>(cluster)] -
                       centre_squares_[static_cast<std::size_t>(other)];
    const double limit = plane_limit(cluster, other) - nearest;
    for (std::int64_t i = 0; i < count; ++i)
      if (!(gap - 2.0 * static_cast<double>(scratch.dots[static_cast<std::size_t>(i)]) > limit))
        scratch.others.push_back(static_cast<std::int32_t>(begin + i));
  }

  void pack(const std::int32_t* positions, std::int64_t count, std::int64_t n_panels,
            Scratch& scratch) const {
    const std::int64_t n_columns = n_panels * kernel_.panel_width;
    kernel_.pack(right_.values(0), right_.step(), positions, count, left_.n_columns(),
                 scratch.panels.get());
    for (std::int64_t i = 0; i < n_columns * left_.n_columns(); ++i) scratch.panels[i] *= -2.0f;
    for (std::int64_t i = 0; i < n_columns; ++i)
      scratch.panel_norms[i] =
          i < count ? right_.norm(positions[i]) : std::numeric_limits<float>::infinity();
  }

  // Computes the distances of a row to all others whose scores are small enough.
  void examine(std::int64_t position, const std::int32_t* others, std::int64_t count,
               const float* scores, float limit, Scratch& scratch) const {
    bool fetched = false;
    const std::int64_t row = left_.row(position), first = is_self_ ? 0 : left_.rows().n_rows();
    each_below<0>(scores, &limit, count, [&](std::int64_t i) {
      if (is_self_ && others[i] <= position) return;  // each pair once, and no row with itself
      if (!fetched) left_.rows().fetch(row, scratch.x);
      fetched = true;
      const std::int64_t other = right_.row(others[i]);
      right_.rows().fetch(other, scratch.y);
      const double distance = left_.rows().distance_between(scratch.x, scratch.y);
      if (distance <= request_.square) tally_.add(row, first + other, distance);
    });
  }

  const PairSide& left_;
  const PairSide& right_;
  const bool is_self_;
  const PairRequest& request_;
  const PairTally& tally_;
  ThreadPool& pool_;
  const Kernel& kernel_;
  const std::int64_t n_clusters_;
  PackedCentres centres_;
  std::vector<float> centre_values_;
  std::vector<double> centre_squares_;
};

}  // namespace

PairSide::PairSide(const DenseRows& rows, const float* values, std::int64_t step, std::int64_t n_axes,
                   const std::int64_t* order, const std::int64_t* starts, std::int64_t n_clusters)
    : rows_(rows),
      values_(values),
      step_(step),
      order_(order),
      starts_(starts),
      coordinates_(rows.kernel(), floats(values, step, n_axes + 1), starts[n_clusters],
                   std::vector<double>(static_cast<std::size_t>(n_axes + 1), 0.0), 0, nullptr),
      norms_(static_cast<std::size_t>(starts[n_clusters])),
      lengths_(static_cast<std::size_t>(n_clusters), 0.0),
      errors_(static_cast<std::size_t>(n_clusters), 0.0) {
  for (std::int64_t c = 0; c < n_clusters; ++c)
    for (std::int64_t p = begin(c); p < end(c); ++p) {
      const float* x = this->values(p);
      double square = 0.0;
      for (std::int64_t j = 0; j <= n_axes; ++j)
        square += static_cast<double>(x[j]) * static_cast<double>(x[j]);
      const double length = std::sqrt(square);
      const auto at = static_cast<std::size_t>(c);
      norms_[static_cast<std::size_t>(p)] = static_cast<float>(square);
      lengths_[at] = std::max(lengths_[at], length);
      errors_[at] = std::max(errors_[at], projection_error(rows.n_features(), n_axes, length,
                                                           static_cast<double>(x[n_axes])));
    }
}

void near_pairs(const PairSide& left, const PairSide* right, const PairRequest& request,
                const PairTally& tally, ThreadPool& pool) {
  NearPairs(left, right, request, tally, pool).run();
}

}  // namespace boostkmeans
