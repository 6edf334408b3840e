#include "assign/exact_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "scoring/packed_centres.hpp"
#include "scoring/row_batch.hpp"

namespace boostkmeans {

namespace {

// Number of panels that are scored before their scores are examined. The scores must fit into the
// cache.
constexpr std::int64_t kPanelsAtOnce = 8;
// Number of scores that are skipped together if none is small enough.
constexpr std::int64_t kChunk = 16;

class ExactSearch {
 public:
  ExactSearch(const DenseRows& rows, const double* points, std::int64_t n_points, std::int64_t first,
              std::int64_t k, std::int64_t* ids, double* distances, ThreadPool& pool)
      : rows_(rows),
        points_(points),
        n_points_(n_points),
        first_(first),
        k_(k),
        ids_(ids),
        distances_(distances),
        pool_(pool),
        packed_(rows.kernel(), n_points, rows.n_features()) {}

  void run() {
    pool_.for_each(n_points_, [&](std::int64_t p, int) { packed_.set(p, point(p).composite, 1.0); });
    std::vector<std::unique_ptr<ThreadScratch>> scratch_by_thread;
    scratch_by_thread.reserve(static_cast<std::size_t>(pool_.size()));
    for (int t = 0; t < pool_.size(); ++t)
      scratch_by_thread.push_back(std::make_unique<ThreadScratch>(rows_));
    const std::int64_t n = rows_.n_rows();
    pool_.for_each((n + kBatchRows - 1) / kBatchRows, [&](std::int64_t p, int thread) {
      ThreadScratch& scratch = *scratch_by_thread[static_cast<std::size_t>(thread)];
      const std::int64_t begin = p * kBatchRows, count = std::min(kBatchRows, n - begin);
      scratch.batch.load(count, [=](std::int64_t r) { return begin + r; });
      search(scratch, begin, count, thread);
    });
  }

 private:
  struct ThreadScratch {
    explicit ThreadScratch(const DenseRows& rows)
        : batch(rows),
          scores(kBatchRows * kPanelsAtOnce * rows.kernel().panel_width),
          fetched(rows) {}
    RowBatch<DenseRows> batch;
    Buffer<float> scores;
    DenseRows::Row fetched;
  };

  Centre point(std::int64_t p) const { return {points_ + p * rows_.n_features(), 1.0, 0.0}; }

  void search(ThreadScratch& scratch, std::int64_t begin, std::int64_t count, int thread) const {
    const Kernel& kernel = rows_.kernel();
    const std::int64_t width = kernel.panel_width, stride = kPanelsAtOnce * width;
    for (std::int64_t p = 0; p < packed_.n_panels(); p += kPanelsAtOnce) {
      if (pool_.stop_token().stop_requested(thread)) return;
      const std::int64_t end = std::min(p + kPanelsAtOnce, packed_.n_panels());
      kernel.score(scratch.batch.view(), packed_.view(), p, end, scratch.scores.get(), stride);
      const std::int64_t n = std::min(end * width, n_points_) - p * width;
      for (std::int64_t r = 0; r < count; ++r)
        examine(scratch, r, begin + r, scratch.scores.get() + r * stride, p * width, n);
    }
  }

  // Examines the scores of a row and points [first, first + count).
  void examine(ThreadScratch& scratch, std::int64_t r, std::int64_t row, const float* scores,
               std::int64_t first, std::int64_t count) const {
    float limit = limit_of(scratch, r, row);
    bool fetched = false;
    for (std::int64_t begin = 0; begin < count; begin += kChunk) {
      const std::int64_t end = std::min(count, begin + kChunk);
      bool any = false;  // NaN counts as small enough
      for (std::int64_t i = begin; i < end; ++i) any |= !(scores[i] > limit);
      if (!any) continue;
      if (!fetched) rows_.fetch(row, scratch.fetched);
      fetched = true;
      for (std::int64_t i = begin; i < end; ++i)
        if (!(scores[i] > limit) &&
            insert(row, rows_.distance(scratch.fetched, point(first + i)), first_ + first + i))
          limit = limit_of(scratch, r, row);
    }
  }

  // A point with a score above this limit is farther than the k-th nearest so far.
  float limit_of(const ThreadScratch& scratch, std::int64_t r, std::int64_t row) const {
    const double last = distances_[row * k_ + k_ - 1];
    const double limit = last + float32_error(scratch.batch.norm(r), last, rows_.n_products(row));
    return std::nextafter(static_cast<float>(limit), std::numeric_limits<float>::infinity());
  }

  // Inserts a point into the results of a row. Returns false if it is not among the k nearest.
  bool insert(std::int64_t row, double distance, std::int64_t id) const {
    double* d = distances_ + row * k_;
    std::int64_t* ids = ids_ + row * k_;
    const bool full = ids[k_ - 1] >= 0;
    if (full && !(distance < d[k_ - 1]))
      return false;  // indices ascend, so ties go to the earlier point
    const std::int64_t last =
        full ? k_ - 1 : std::find(ids, ids + k_, -1) - ids;  // the position that is overwritten
    const std::int64_t at = std::upper_bound(d, d + last, distance) - d;
    std::copy_backward(d + at, d + last, d + last + 1);
    std::copy_backward(ids + at, ids + last, ids + last + 1);
    d[at] = distance;
    ids[at] = id;
    return true;
  }

  const DenseRows& rows_;
  const double* points_;
  std::int64_t n_points_, first_, k_;
  std::int64_t* ids_;
  double* distances_;
  ThreadPool& pool_;
  PackedCentres packed_;
};

}  // namespace

void nearest_rows(const DenseRows& rows, const double* points, std::int64_t n_points, std::int64_t first,
                  std::int64_t k, std::int64_t* ids, double* distances, ThreadPool& pool) {
  ExactSearch(rows, points, n_points, first, k, ids, distances, pool).run();
}

}  // namespace boostkmeans
