// Search for the best or the first improving cluster of rows that computes distances only where lower
// bounds allow a gain.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "parallel/thread_pool.hpp"
#include "projection/lower_bounds.hpp"
#include "support/aligned_buffer.hpp"

namespace boostkmeans {

// The clusters with which a batch of rows is compared, and whether limits must allow for rounding
// errors.
struct BoundedScan {
  const std::int32_t* list;  // clusters of the columns, or null for all clusters
  std::int64_t n_columns;
  bool weighted;
  bool exact;
};

class BoundedSearch {
 public:
  // The best cluster of a row, other than its own, and its cost. `cluster` is -1 if none costs less than
  // staying.
  struct Found {
    double cost;
    std::int32_t cluster;
  };

  BoundedSearch(LowerBounds& bounds, const float* values, ThreadPool& pool)
      : bounds_(bounds),
        values_(values),
        pool_(pool) {
    for (int t = 0; t < pool.size(); ++t) scratch_.push_back(std::make_unique<Scratch>(bounds.rows()));
  }

  // Gathers the centres with which the next batches of a thread are compared.
  void begin(const BoundedScan& scan, int thread) {
    scratch_[static_cast<std::size_t>(thread)]->centres =
        &bounds_.centres(scan.list, scan.n_columns, thread);
  }

  // Begins a batch. Row r has the number row_of(r). Its own cluster is column own_of(r), or -1.
  template <class RowOf, class OwnOf, class WeightOf>
  void load(std::int64_t count, RowOf row_of, OwnOf own_of, WeightOf weight_of, int thread) {
    RowBatch<DenseRows>& batch = scratch_[static_cast<std::size_t>(thread)]->batch;
    batch.load(count, row_of);
    for (std::int64_t r = 0; r < count; ++r) {
      batch.own(r) = own_of(r);
      batch.weight(r) = weight_of(r);
    }
  }

  // Replaces found[r] by the best cluster whose cost is below stay[r] and the cost of found[r]. Ties go
  // to the smaller index. Skips rows with a negative stay[r]. cost_of(r, cluster) must return the cost.
  // Returns false if a stop was requested.
  template <class RowOf, class CostOf>
  bool search(const BoundedScan& scan, std::int64_t count, RowOf row_of, const double* stay,
              CostOf cost_of, Found* found, int thread) {
    return find_hits(scan, count, row_of, stay, thread, [&](Scratch& scratch, std::int64_t r) {
      evaluate(scan, scratch, r, row_of(r), cost_of, found[r]);
    });
  }

  // Sets found[r] to the first cluster that costs less than stay[r], in the order of the columns from
  // column rotation_of(r) on. Otherwise as `search`.
  template <class RowOf, class RotationOf, class CostOf>
  bool search_first(const BoundedScan& scan, std::int64_t count, RowOf row_of, const double* stay,
                    RotationOf rotation_of, CostOf cost_of, Found* found, int thread) {
    std::int64_t places[kBatchRows];  // places of the found clusters in this order
    std::fill_n(places, kBatchRows, scan.n_columns);
    return find_hits(scan, count, row_of, stay, thread, [&](Scratch& scratch, std::int64_t r) {
      const std::int64_t rotation = rotation_of(r);
      Hit* const begin = scratch.hits.get() + r * kColumnsAtOnce;
      Hit* const end = begin + scratch.counts[r];
      // Hits are in the order of their columns. Those from `rotation` on come first.
      Hit* const turn =
          std::partition_point(begin, end, [=](const Hit& hit) { return hit.index < rotation; });
      if (!try_in_order(scan, r, turn, end, -rotation, stay[r], cost_of, found[r], places[r]))
        try_in_order(scan, r, begin, turn, scan.n_columns - rotation, stay[r], cost_of, found[r],
                     places[r]);
    });
  }

  // Writes the cluster with the smallest bound for each row of the batch, other than its own, or -1.
  // Returns false if a stop was requested.
  bool most_promising(const BoundedScan& scan, std::int64_t count, std::int32_t* out, int thread) {
    Scratch& scratch = *scratch_[static_cast<std::size_t>(thread)];
    RowBatch<DenseRows>& batch = scratch.batch;
    if (!batch.scan(Rule::best, scan.weighted, *scratch.centres, pool_.stop_token(), thread))
      return false;
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int32_t column = batch.index(r);
      out[r] = column < 0 || scan.list == nullptr ? column : scan.list[column];
    }
    return true;
  }

 private:
  // Number of columns whose hits are stored at a time: 200 kB, which fits into the second-level cache.
  static constexpr std::int64_t kColumnsAtOnce = 512;

  struct Scratch {
    explicit Scratch(const DenseRows& rows) : batch(rows), hits(kBatchRows * kColumnsAtOnce) {}
    RowBatch<DenseRows> batch;
    const PackedCentres* centres = nullptr;
    Buffer<Hit> hits;
    float limits[kBatchRows];
    std::int32_t counts[kBatchRows];
  };

  // Calls visit(scratch, r) with the clusters whose bounds are below stay[r], for all rows with a
  // nonnegative stay[r]. Returns false if a stop was requested.
  template <class RowOf, class Visit>
  bool find_hits(const BoundedScan& scan, std::int64_t count, RowOf row_of, const double* stay,
                 int thread, Visit visit) {
    Scratch& scratch = *scratch_[static_cast<std::size_t>(thread)];
    const PackedCentres& centres = *scratch.centres;
    const Kernel& kernel = bounds_.rows().kernel();
    std::fill_n(scratch.limits, kBatchRows, -1.0f);
    for (std::int64_t r = 0; r < count; ++r) {
      if (stay[r] >= 0.0) scratch.limits[r] = limit(scan, stay[r], scratch.batch, r, row_of(r));
    }
    const std::int64_t step = kColumnsAtOnce / kernel.panel_width;
    for (std::int64_t p = 0; p < centres.n_panels(); p += step) {
      if (p > 0 && pool_.stop_token().stop_requested(thread)) return false;
      kernel.find_below(scan.weighted, scratch.batch.view(), centres.view(), p,
                        std::min(p + step, centres.n_panels()), scratch.limits, kColumnsAtOnce,
                        scratch.hits.get(), scratch.counts);
      for (std::int64_t r = 0; r < count; ++r)
        if (scratch.counts[r] > 0) visit(scratch, r);
    }
    return true;
  }

  // Computes the costs of hits, whose places are their columns plus `offset`, up to the first one below
  // `stay`. Skips hits that come after `place`. Returns true if it has found one.
  template <class CostOf>
  static bool try_in_order(const BoundedScan& scan, std::int64_t r, const Hit* begin, const Hit* end,
                           std::int64_t offset, double stay, CostOf cost_of, Found& found,
                           std::int64_t& place) {
    for (const Hit* hit = begin; hit != end && hit->index + offset < place; ++hit) {
      const std::int32_t cluster = scan.list == nullptr ? hit->index : scan.list[hit->index];
      const double cost = cost_of(r, cluster);
      if (!(cost < stay)) continue;
      found = {cost, cluster};
      place = hit->index + offset;
      return true;
    }
    return false;
  }

  float limit(const BoundedScan& scan, double cost, const RowBatch<DenseRows>& batch, std::int64_t r,
              std::int64_t row) const {
    if (!scan.exact) return bounds_.limit(cost);
    const std::int64_t n_values = bounds_.rows().n_features();
    return bounds_.exact_limit(cost, batch.norm(r), values_[row * n_values + n_values - 1]);
  }

  // Computes the costs of the hits of a row, the most promising one first.
  template <class CostOf>
  void evaluate(const BoundedScan& scan, Scratch& scratch, std::int64_t r, std::int64_t row,
                CostOf cost_of, Found& found) const {
    Hit* const first = scratch.hits.get() + r * kColumnsAtOnce;
    Hit* const last = first + scratch.counts[r];
    std::iter_swap(first, std::min_element(first, last,
                                           [](const Hit& a, const Hit& b) { return a.cost < b.cost; }));
    for (const Hit* hit = first; hit != last; ++hit) {
      if (!(hit->cost < scratch.limits[r])) continue;
      const std::int32_t cluster = scan.list == nullptr ? hit->index : scan.list[hit->index];
      const double cost = cost_of(r, cluster);
      const bool tie = cost == found.cost && found.cluster >= 0 && cluster < found.cluster;
      if (!(cost < found.cost) && !tie) continue;
      found = {cost, cluster};
      scratch.limits[r] = limit(scan, cost, scratch.batch, r, row);
    }
  }

  LowerBounds& bounds_;
  const float* values_;
  ThreadPool& pool_;
  std::vector<std::unique_ptr<Scratch>> scratch_;  // by thread
};

}  // namespace boostkmeans
