#include "nearest.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "centres.hpp"
#include "piece.hpp"

namespace boostkmeans {

namespace {

class Search {
 public:
  Search(const DenseRows& rows, const double* centres, std::int64_t n_clusters,
         const std::int32_t* exclude, Team& team)
      : rows_(rows), centres_(centres), n_clusters_(n_clusters), exclude_(exclude), team_(team),
        packed_(rows.kernel(), n_clusters, rows.n_features()),
        fetched_(team.size() * rows.n_features()) {
    for (int t = 0; t < team.size(); ++t) pieces_.push_back(std::make_unique<Piece>(rows));
  }

  void run(std::int32_t* labels, double* distances) {
    const std::int64_t n = rows_.n_rows();
    team_.for_each(n_clusters_, [&](std::int64_t c, int) { packed_.set(c, centre(c), 1.0); });
    team_.for_each((n + kPieceRows - 1) / kPieceRows, [&](std::int64_t p, int thread) {
      Piece& piece = *pieces_[static_cast<std::size_t>(thread)];
      const std::int64_t first = p * kPieceRows;
      const std::int64_t count = std::min(kPieceRows, n - first);
      piece.load(count, [=](std::int64_t r) { return first + r; });
      const std::int64_t next = first + kPieceRows;
      piece.prefetch(std::min(kPieceRows, n - next), [=](std::int64_t r) { return next + r; });
      if (exclude_ != nullptr)
        for (std::int64_t r = 0; r < count; ++r) piece.own(r) = exclude_[first + r];
      if (!piece.scan(Rule::nearest, false, packed_, team_.watch(), thread)) return;
      double* x = fetched_.get() + thread * rows_.n_features();
      for (std::int64_t r = 0; r < count; ++r) {
        const bool doubt = doubtful(piece, r);
        if (doubt || distances != nullptr) rows_.fetch(first + r, x);
        const std::int32_t label = doubt ? exact(x, first + r) : piece.index(r);
        labels[first + r] = label;
        if (distances != nullptr) distances[first + r] = rows_.distance(x, centre(label), 1.0);
      }
    });
  }

 private:
  const double* centre(std::int64_t cluster) const { return centres_ + cluster * rows_.n_features(); }

  // Written so that a NaN or an infinity (a row far outside of the frame, or no second) is a doubt.
  bool doubtful(const Piece& piece, std::int64_t r) const {
    const double best = piece.best(r), second = piece.second(r);
    const double error = float32_error(piece.norm(r), std::max(best, 0.0), rows_.n_features()) +
                         float32_error(piece.norm(r), std::max(second, 0.0), rows_.n_features());
    return !(second - best > error);
  }

  std::int32_t exact(const double* x, std::int64_t row) const {
    const std::int32_t excluded = exclude_ == nullptr ? -1 : exclude_[row];
    double best = std::numeric_limits<double>::infinity();
    std::int32_t found = excluded == 0 ? 1 : 0;
    for (std::int32_t c = 0; c < static_cast<std::int32_t>(n_clusters_); ++c) {
      if (c == excluded) continue;
      const double d = rows_.distance(x, centre(c), 1.0);
      if (d < best) best = d, found = c;
    }
    return found;
  }

  const DenseRows& rows_;
  const double* centres_;
  std::int64_t n_clusters_;
  const std::int32_t* exclude_;
  Team& team_;
  Centres packed_;
  std::vector<std::unique_ptr<Piece>> pieces_;
  Buffer<double> fetched_;
};

}  // namespace

void nearest(const DenseRows& rows, const double* centres, std::int64_t n_clusters,
             const std::int32_t* exclude, std::int32_t* labels, double* distances, Team& team) {
  Search(rows, centres, n_clusters, exclude, team).run(labels, distances);
}

void all_distances(const DenseRows& rows, const double* centres, std::int64_t n_clusters, double* out,
                   Team& team) {
  const std::int64_t d = rows.n_features();
  Buffer<double> fetched(team.size() * d);
  team.for_each(rows.n_rows(), [&](std::int64_t row, int thread) {
    double* x = fetched.get() + thread * d;
    rows.fetch(row, x);
    for (std::int64_t c = 0; c < n_clusters; ++c)
      out[row * n_clusters + c] = rows.distance(x, centres + c * d, 1.0);
  });
}

}  // namespace boostkmeans
