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

// Panels that are scored before anything is picked out of them: a buffer that stays in the cache.
constexpr std::int64_t kPanelsAtOnce = 8;
// Scores that are passed over in one go if none of them is low enough.
constexpr std::int64_t kChunk = 16;

class NearestRows {
 public:
  NearestRows(const DenseRows& rows, const double* points, std::int64_t n_points, std::int64_t first,
              std::int64_t k, std::int64_t* ids, double* distances, Team& team)
      : rows_(rows),
        points_(points),
        n_points_(n_points),
        first_(first),
        k_(k),
        ids_(ids),
        distances_(distances),
        team_(team),
        packed_(rows.kernel(), n_points, rows.n_features()) {}

  void run() {
    team_.for_each(n_points_, [&](std::int64_t p, int) { packed_.set(p, point(p).composite, 1.0); });
    std::vector<std::unique_ptr<Workplace>> places;
    for (int t = 0; t < team_.size(); ++t) places.push_back(std::make_unique<Workplace>(rows_));
    const std::int64_t n = rows_.n_rows();
    team_.for_each((n + kPieceRows - 1) / kPieceRows, [&](std::int64_t p, int thread) {
      Workplace& place = *places[static_cast<std::size_t>(thread)];
      const std::int64_t begin = p * kPieceRows, count = std::min(kPieceRows, n - begin);
      place.piece.load(count, [=](std::int64_t r) { return begin + r; });
      search(place, begin, count, thread);
    });
  }

 private:
  struct Workplace {
    explicit Workplace(const DenseRows& rows)
        : piece(rows),
          scores(kPieceRows * kPanelsAtOnce * rows.kernel().panel_width),
          fetched(rows) {}
    Piece<DenseRows> piece;
    Buffer<float> scores;
    DenseRows::Row fetched;
  };

  Centre point(std::int64_t p) const { return {points_ + p * rows_.n_features(), 1.0, 0.0}; }

  void search(Workplace& place, std::int64_t begin, std::int64_t count, int thread) const {
    const Kernel& kernel = rows_.kernel();
    const std::int64_t width = kernel.panel_width, stride = kPanelsAtOnce * width;
    for (std::int64_t p = 0; p < packed_.n_panels(); p += kPanelsAtOnce) {
      if (team_.watch().look(thread)) return;
      const std::int64_t end = std::min(p + kPanelsAtOnce, packed_.n_panels());
      kernel.score(place.piece.view(), packed_.view(), p, end, place.scores.get(), stride);
      const std::int64_t n = std::min(end * width, n_points_) - p * width;
      for (std::int64_t r = 0; r < count; ++r)
        pick(place, r, begin + r, place.scores.get() + r * stride, p * width, n);
    }
  }

  // Of one row: scores of points [first, first + count).
  void pick(Workplace& place, std::int64_t r, std::int64_t row, const float* scores, std::int64_t first,
            std::int64_t count) const {
    float limit = limit_of(place, r, row);
    bool fetched = false;
    for (std::int64_t begin = 0; begin < count; begin += kChunk) {
      const std::int64_t end = std::min(count, begin + kChunk);
      bool any = false;  // written so that a NaN is looked at
      for (std::int64_t i = begin; i < end; ++i) any |= !(scores[i] > limit);
      if (!any) continue;
      if (!fetched) rows_.fetch(row, place.fetched);
      fetched = true;
      for (std::int64_t i = begin; i < end; ++i)
        if (!(scores[i] > limit) &&
            insert(row, rows_.distance(place.fetched, point(first + i)), first_ + first + i))
          limit = limit_of(place, r, row);
    }
  }

  // Whoever has a larger score is farther than the last of those found.
  float limit_of(const Workplace& place, std::int64_t r, std::int64_t row) const {
    const double last = distances_[row * k_ + k_ - 1];
    const double limit = last + float32_error(place.piece.norm(r), last, rows_.n_products(row));
    return std::nextafter(static_cast<float>(limit), std::numeric_limits<float>::infinity());
  }

  bool insert(std::int64_t row, double distance, std::int64_t id) const {
    double* d = distances_ + row * k_;
    std::int64_t* ids = ids_ + row * k_;
    const bool full = ids[k_ - 1] >= 0;
    if (full && !(distance < d[k_ - 1]))
      return false;  // numbers ascend: of equal ones, the first are there
    const std::int64_t last =
        full ? k_ - 1 : std::find(ids, ids + k_, -1) - ids;  // that is written over
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
  Team& team_;
  Centres packed_;
};

}  // namespace

void nearest_rows(const DenseRows& rows, const double* points, std::int64_t n_points, std::int64_t first,
                  std::int64_t k, std::int64_t* ids, double* distances, Team& team) {
  NearestRows(rows, points, n_points, first, k, ids, distances, team).run();
}

}  // namespace boostkmeans
