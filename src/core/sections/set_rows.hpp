// The rows of one set, in float64.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "partition/partition.hpp"

namespace boostkmeans {

// Rows of a small set are fetched once and kept. Those of a large set are fetched whenever they are
// needed.
template <class Rows>
class SetRows {
 public:
  using Row = typename Rows::Row;

  SetRows(const Rows& rows, RowWeights weights, int n_workers) : rows_(rows), weights_(weights) {
    for (int t = 0; t < n_workers; ++t) single_.emplace_back(rows);
  }

  // Size of a row in bytes, on average.
  static std::int64_t row_bytes(const Rows& rows) {
    if constexpr (Rows::kSparse)
      return (1 + rows.n_values() / std::max<std::int64_t>(1, rows.n_rows())) * 12;
    else
      return rows.n_features() * 8;
  }

  void open(const std::int64_t* ids, std::int64_t count, bool keep) {
    ids_ = ids;
    count_ = count;
    kept_ = keep;
    if (!keep) return;
    reserve(count);
    for (std::int64_t i = 0; i < std::min(kAhead, count); ++i) rows_.prefetch(ids[i]);
    for (std::int64_t i = 0; i < count; ++i) {
      if (i + kAhead < count) rows_.prefetch(ids[i + kAhead]);
      fetch_into(i, i);
    }
  }
  // Makes slots for this number of rows. Slots of sparse rows have the size of their rows, because one
  // row may be much longer than the others.
  void reserve(std::int64_t n_slots) {
    while (static_cast<std::int64_t>(slots_.size()) < n_slots) {
      if constexpr (Rows::kSparse)
        slots_.emplace_back(std::int64_t{0});
      else
        slots_.emplace_back(rows_);
    }
  }

  const Rows& rows() const { return rows_; }
  std::int64_t count() const { return count_; }
  std::int64_t id(std::int64_t i) const { return ids_[i]; }
  const std::int64_t* ids() const { return ids_; }
  RowWeights weights() const { return weights_; }
  double weight(std::int64_t i) const { return weights_[ids_[i]]; }
  bool kept() const { return kept_; }

  // Returns row i, which is valid until the worker calls `at` again.
  const Row& at(std::int64_t i, int worker) {
    if (kept_) return slots_[static_cast<std::size_t>(i)];
    Row& x = single_[static_cast<std::size_t>(worker)];
    rows_.fetch(ids_[i], x);
    return x;
  }
  // Fetches row i into a slot.
  const Row& fetch_into(std::int64_t slot, std::int64_t i) {
    Row& x = slots_[static_cast<std::size_t>(slot)];
    if constexpr (Rows::kSparse) x.make_room(rows_.length(ids_[i]));
    rows_.fetch(ids_[i], x);
    return x;
  }
  const Row& slot(std::int64_t number) const { return slots_[static_cast<std::size_t>(number)]; }
  // Prefetches row i of a large set.
  void prefetch(std::int64_t i) const {
    if (!kept_ && i < count_) rows_.prefetch(ids_[i]);
  }
  // Calls use(i, x) for rows [begin, end).
  template <class Use>
  void for_range(std::int64_t begin, std::int64_t end, int worker, const Use& use) {
    for (std::int64_t i = begin; i < std::min(begin + kAhead, end); ++i) prefetch(i);
    for (std::int64_t i = begin; i < end; ++i) {
      if (i + kAhead < end) prefetch(i + kAhead);
      use(i, at(i, worker));
    }
  }

  // Number of rows by which prefetching runs ahead.
  static constexpr std::int64_t kAhead = 8;

 private:
  const Rows& rows_;
  RowWeights weights_;
  const std::int64_t* ids_ = nullptr;
  std::int64_t count_ = 0;
  bool kept_ = false;
  std::vector<Row> slots_;
  std::vector<Row> single_;  // by worker
};

}  // namespace boostkmeans
