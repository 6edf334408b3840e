#include "search/code_search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "support/aligned_buffer.hpp"
#include "support/top_k.hpp"

namespace boostkmeans {

namespace {

// Number of codes in a block, and largest number of queries that search it together. Both fit into the
// cache of a core.
constexpr std::int64_t kBlock = 8192;
constexpr std::int64_t kMaxQueries = 32;
// Maximum number of results that these queries store together. It may reduce the number of queries.
constexpr std::int64_t kMaxFound = 1 << 22;
// Minimum number of tasks per thread, if there are enough blocks.
constexpr std::int64_t kTasksPerThread = 4;
// The bound on distances corresponds to this sum of bytes. Codes with a larger sum are skipped.
constexpr float kLimit = 254.0f;
// The tables of bytes are recomputed when the bound has fallen to this fraction.
constexpr float kFallen = 0.97f;
// Relative rounding error of a float32 sum, per subspace.
constexpr float kRounding = 0x1p-22f;

// The distances of one query, as float32 and as bytes. Bytes are rounded down, so that a code whose sum
// of bytes exceeds kLimit is certainly farther than the bound.
class Query {
 public:
  Query(const float* table, const CodeShape& shape, std::int64_t k)
      : table_(table),
        shape_(shape),
        top_k_(k),
        lowest_(static_cast<std::size_t>(shape.n_subspaces)) {
    for (std::int64_t j = 0; j < shape.n_subspaces; ++j) {
      const float* entries = table + j * shape.n_centroids;
      lowest_[static_cast<std::size_t>(j)] = *std::min_element(entries, entries + shape.n_centroids);
      least_ += lowest_[static_cast<std::size_t>(j)];
    }
  }

  template <class Code>
  float distance(const Code* code) const {
    float sum = 0.0f;
    for (std::int64_t j = 0; j < shape_.n_subspaces; ++j)
      sum += table_[j * shape_.n_centroids + code[j]];
    return sum;
  }
  // Computes the distances of several codes at a time, so that their sums do not wait for each other.
  template <class Code, std::size_t count>
  void distances(const Code* codes, float (&sums)[count]) const {
    std::fill_n(sums, count, 0.0f);
    for (std::int64_t j = 0; j < shape_.n_subspaces; ++j)
      for (std::size_t r = 0; r < count; ++r)
        sums[r] += table_[j * shape_.n_centroids +
                          codes[static_cast<std::int64_t>(r) * shape_.n_subspaces + j]];
  }
  void offer(float distance, std::int64_t id) {
    if (distance < top_k_.bound() || !top_k_.is_full()) top_k_.push(distance, id);
  }
  TopK& top_k() { return top_k_; }

  // Updates the bytes. Returns false if they would not exclude any code.
  bool refresh_bytes() {
    const float bound = top_k_.bound();
    if (!(bound < std::numeric_limits<float>::infinity())) return false;
    if (!bytes_.empty() && bound > kFallen * bytes_bound_) return true;
    // Margin for the rounding errors of float32 sums.
    const float slack = kRounding * static_cast<float>(shape_.n_subspaces) * bound;
    const float room = bound - least_ + slack;
    const float scale = kLimit / room;
    if (!(room > slack) || !std::isfinite(room) || !std::isfinite(scale)) return false;
    bytes_.assign(static_cast<std::size_t>(shape_.n_subspaces * kByteCentroids), 255);
    for (std::int64_t j = 0; j < shape_.n_subspaces; ++j)
      for (std::int64_t c = 0; c < shape_.n_centroids; ++c) {
        const float above =
            (table_[j * shape_.n_centroids + c] - lowest_[static_cast<std::size_t>(j)]) * scale;
        bytes_[static_cast<std::size_t>(j * kByteCentroids + c)] =
            static_cast<std::uint8_t>(std::min(above, 255.0f));
      }
    bytes_bound_ = bound;
    return true;
  }
  const std::uint8_t* bytes() const { return bytes_.data(); }

 private:
  const float* table_;
  const CodeShape& shape_;
  TopK top_k_;
  std::vector<float> lowest_;
  float least_ = 0.0f;
  std::vector<std::uint8_t> bytes_;
  float bytes_bound_ = 0.0f;
};

template <class Code>
class CodeSearch {
 public:
  CodeSearch(const Kernel& kernel, const float* tables, std::int64_t n_queries, const Code* codes,
             const CodeShape& shape, std::int64_t k, ThreadPool& pool)
      : kernel_(kernel),
        codes_(codes),
        shape_(shape),
        k_(k),
        pool_(pool),
        sifts_(kernel.sift_codes != nullptr && std::is_same_v<Code, std::uint8_t>),
        tables_(tables),
        n_queries_(n_queries),
        group_(std::clamp<std::int64_t>(kMaxFound / k, 1, kMaxQueries)),
        n_groups_((n_queries + group_ - 1) / group_) {
    const std::int64_t n_blocks = (shape.n_codes + kBlock - 1) / kBlock;
    n_spans_ = std::clamp<std::int64_t>(kTasksPerThread * pool.size() / n_groups_, 1, n_blocks);
    blocks_per_span_ = (n_blocks + n_spans_ - 1) / n_spans_;
    found_.resize(static_cast<std::size_t>(n_queries * n_spans_));
  }

  void run(std::int64_t* ids, float* distances) {
    pool_.for_each(n_groups_ * n_spans_, [this](std::int64_t task, int thread) {
      search(task % n_groups_, task / n_groups_, thread);
    });
    if (pool_.stop_token().stopped()) return;
    pool_.for_each(n_queries_, [&](std::int64_t q, int) { write(q, ids + q * k_, distances + q * k_); });
  }

 private:
  using Found = TopK::Found;

  // Searches a span of codes for a group of queries.
  void search(std::int64_t group, std::int64_t span, int thread) {
    const std::int64_t first = group * group_, last = std::min(n_queries_, first + group_);
    std::vector<Query> queries;
    queries.reserve(static_cast<std::size_t>(last - first));
    for (std::int64_t q = first; q < last; ++q)
      queries.emplace_back(tables_ + q * shape_.n_subspaces * shape_.n_centroids, shape_, k_);
    const Buffer<std::uint8_t> columns(sifts_ ? shape_.n_subspaces * kBlock : 0);
    const std::int64_t end = std::min(shape_.n_codes, (span + 1) * blocks_per_span_ * kBlock);
    for (std::int64_t at = span * blocks_per_span_ * kBlock; at < end; at += kBlock) {
      if (pool_.stop_token().stop_requested(thread)) return;
      const std::int64_t count = std::min(kBlock, end - at);
      bool transposed = false;
      for (Query& query : queries) {
        if (!sifts_ || !query.refresh_bytes()) {
          scan(query, at, count);
          continue;
        }
        if (!transposed) transpose(at, count, columns.get());
        transposed = true;
        sift(query, at, count, columns.get());
      }
    }
    for (std::int64_t q = first; q < last; ++q) {
      TopK& top_k = queries[static_cast<std::size_t>(q - first)].top_k();
      top_k.shrink();
      found_[static_cast<std::size_t>(q * n_spans_ + span)] = top_k.found();
    }
  }

  void scan(Query& query, std::int64_t first, std::int64_t count) const {
    constexpr std::int64_t kTogether = 4;
    const std::int64_t m = shape_.n_subspaces;
    std::int64_t i = 0;
    for (; i + kTogether <= count; i += kTogether) {
      float sums[kTogether];
      query.distances(codes_ + (first + i) * m, sums);
      for (std::int64_t r = 0; r < kTogether; ++r) query.offer(sums[r], first + i + r);
    }
    for (; i < count; ++i) query.offer(query.distance(codes_ + (first + i) * m), first + i);
    query.top_k().shrink();
  }

  // Transposes a block of codes, so that the codes of each subspace are contiguous.
  void transpose(std::int64_t first, std::int64_t count, std::uint8_t* columns) const {
    const std::int64_t m = shape_.n_subspaces;
    for (std::int64_t j = 0; j < m; ++j) {
      for (std::int64_t i = 0; i < count; ++i)
        columns[j * kBlock + i] = static_cast<std::uint8_t>(codes_[(first + i) * m + j]);
      std::fill(columns + j * kBlock + count, columns + (j + 1) * kBlock, std::uint8_t{0});
    }
  }

  void sift(Query& query, std::int64_t first, std::int64_t count, const std::uint8_t* columns) const {
    std::uint64_t masks[kBlock / 64];
    const std::int64_t n_masks = (count + 63) / 64;
    kernel_.sift_codes(query.bytes(), shape_.n_subspaces, columns, kBlock, n_masks * 64,
                       static_cast<std::uint8_t>(kLimit), masks);
    for (std::int64_t w = 0; w < n_masks; ++w)
      for (std::uint64_t mask = masks[w]; mask != 0; mask &= mask - 1) {
        const std::int64_t i = w * 64 + std::countr_zero(mask);
        if (i < count) query.offer(query.distance(codes_ + (first + i) * shape_.n_subspaces), first + i);
      }
    query.top_k().shrink();
  }

  void write(std::int64_t q, std::int64_t* ids, float* distances) const {
    std::vector<Found> all;
    for (std::int64_t s = 0; s < n_spans_; ++s) {
      const auto& part = found_[static_cast<std::size_t>(q * n_spans_ + s)];
      all.insert(all.end(), part.begin(), part.end());
    }
    std::partial_sort(all.begin(), all.begin() + k_, all.end());
    for (std::int64_t i = 0; i < k_; ++i) {
      distances[i] = all[static_cast<std::size_t>(i)].first;
      ids[i] = all[static_cast<std::size_t>(i)].second;
    }
  }

  const Kernel& kernel_;
  const Code* codes_;
  const CodeShape& shape_;
  std::int64_t k_;
  ThreadPool& pool_;
  bool sifts_;
  const float* tables_;
  std::int64_t n_queries_, group_, n_groups_, n_spans_, blocks_per_span_;
  std::vector<std::vector<Found>> found_;  // by query and span
};

}  // namespace

template <class Code>
void search_codes(const Kernel& kernel, const float* tables, std::int64_t n_queries, const Code* codes,
                  const CodeShape& shape, std::int64_t k, std::int64_t* ids, float* distances,
                  ThreadPool& pool) {
  CodeSearch<Code>(kernel, tables, n_queries, codes, shape, k, pool).run(ids, distances);
}

#define BK_INSTANTIATE(Code)                                                                           \
  template void search_codes(const Kernel&, const float*, std::int64_t, const Code*, const CodeShape&, \
                             std::int64_t, std::int64_t*, float*, ThreadPool&)
BK_INSTANTIATE(std::uint8_t);
BK_INSTANTIATE(std::uint16_t);
#undef BK_INSTANTIATE

}  // namespace boostkmeans
