#include "scoring/term_centres.hpp"

#include <algorithm>
#include <cmath>

namespace boostkmeans {

namespace {

// Maximum fraction of the clusters for which a sparse term row has entries.
constexpr double kMaxSparseFraction = 1.0 / 2.0;
// Minimum number of clusters for sparse term rows. With fewer clusters, dense term rows are faster.
constexpr std::int64_t kMinClustersForSparse = 128;
// Additional entries that each sparse term row has room for, because of rounding errors.
constexpr std::int64_t kSpareEntries = 4;
// A value that is below this fraction of the last change is a rounding error of a sum that became 0.
constexpr double kRounding = 1e-9;

}  // namespace

TermCentres::TermCentres(const SparseRows& rows, std::int64_t n_clusters)
    : rows_(rows),
      width_(rows.kernel().panel_width),
      n_clusters_(n_clusters),
      n_features_(rows.n_features()),
      n_panels_((n_clusters + width_ - 1) / width_),
      step_(n_panels_ * width_),
      term_rows_(0),
      entries_(0),
      scalars_(step_),
      scales_(step_) {
  for (std::int64_t c = 0; c < step_; ++c) set_never(c);
}

void TermCentres::fill(const double* composites, bool rows_move, ThreadPool& pool) {
  // a multiple of the cache line, so that reads and writes use whole lines
  constexpr std::int64_t kTermsPerTask = 64;
  const std::int64_t n_blocks = (n_features_ + kTermsPerTask - 1) / kTermsPerTask;
  const auto each_value = [&](std::int64_t block, auto body) {
    const std::int64_t end = std::min(n_features_, (block + 1) * kTermsPerTask);
    for (std::int64_t c = 0; c < n_clusters_; ++c)
      for (std::int64_t j = block * kTermsPerTask; j < end; ++j)
        body(j, c, composites[c * n_features_ + j]);
  };
  counts_.assign(static_cast<std::size_t>(n_features_), 0);
  const bool may_be_sparse = n_clusters_ >= kMinClustersForSparse;
  if (may_be_sparse)
    pool.for_each(n_blocks, [&](std::int64_t block, int) {
      each_value(block, [this](std::int64_t j, std::int64_t, double value) {
        if (value != 0.0) ++counts_[static_cast<std::size_t>(j)];
      });
    });
  make_room(rows_move, may_be_sparse);
  pool.for_each(n_blocks, [&](std::int64_t block, int) {
    each_value(block, [this](std::int64_t j, std::int64_t c, double value) {
      const std::int64_t at = offsets_[static_cast<std::size_t>(j)];
      if (at >= 0)
        term_rows_[at + c] = static_cast<float>(value);
      else if (value != 0.0)
        set_sparse(j, c, static_cast<float>(value));
    });
  });
}

// Allocates the term rows. Rows that enter a cluster may bring new terms, so sparse term rows have spare
// room: the number of clusters that contain a term is at most the number of rows that contain it, apart
// from rounding errors.
void TermCentres::make_room(bool rows_move, bool may_be_sparse) {
  const auto limit = static_cast<std::int64_t>(kMaxSparseFraction * static_cast<double>(n_clusters_));
  offsets_.clear();
  capacities_.clear();
  std::int64_t n_term_rows = 0, n_entries = 0;
  for (std::int64_t j = 0; j < n_features_; ++j) {
    const std::int64_t now = counts_[static_cast<std::size_t>(j)];
    const std::int64_t room = rows_move ? std::max(now, rows_.frequency(j)) + kSpareEntries : now;
    const bool is_sparse = may_be_sparse && room <= limit;
    offsets_.push_back(is_sparse ? ~n_entries : n_term_rows * step_);
    capacities_.push_back(static_cast<std::int32_t>(is_sparse ? room : 0));
    n_entries += is_sparse ? room : 0;
    n_term_rows += is_sparse ? 0 : 1;
  }
  has_sparse_term_rows_ = n_term_rows < n_features_;
  counts_.assign(counts_.size(), 0);
  term_rows_ = Buffer<float>(n_term_rows * step_);
  entries_ = Buffer<TermEntry>(n_entries);
  for (std::int64_t i = 0; i < n_term_rows; ++i)
    std::fill(term_rows_.get() + i * step_ + n_clusters_, term_rows_.get() + (i + 1) * step_, 0.0f);
}

void TermCentres::set(std::int64_t cluster, double weight, double square) {
  const double inverse = inverse_of(weight);
  scalars_.set(cluster, static_cast<float>(square * inverse * inverse), weight);
  scales_[cluster] = static_cast<float>(-2.0 * inverse);
}

void TermCentres::set_never(std::int64_t cluster) {
  scalars_.set_never(cluster);
  scales_[cluster] = 0.0f;
}

void TermCentres::set_term(std::int64_t term, std::int64_t cluster, double value, double step) {
  const std::int64_t at = offsets_[static_cast<std::size_t>(term)];
  if (at >= 0)
    term_rows_[at + cluster] = static_cast<float>(value);
  else
    set_sparse(term, cluster,
               std::abs(value) <= kRounding * std::abs(step) ? 0.0f : static_cast<float>(value));
}

// If a sparse term row is full, the entry is dropped. Rows may then miss a move.
void TermCentres::set_sparse(std::int64_t term, std::int64_t cluster, float value) {
  TermEntry* entries = entries_.get() + ~offsets_[static_cast<std::size_t>(term)];
  std::int32_t& count = counts_[static_cast<std::size_t>(term)];
  TermEntry* end = entries + count;
  TermEntry* at = entries + (SparseTermRow{entries, count}.from(cluster) - entries);
  const bool has = at != end && at->cluster == cluster;
  if (has && value != 0.0f) {
    at->value = value;
  } else if (has) {
    std::move(at + 1, end, at);
    --count;
  } else if (value != 0.0f && count < capacities_[static_cast<std::size_t>(term)]) {
    std::move_backward(at, end, end + 1);
    *at = {static_cast<std::int32_t>(cluster), value};
    ++count;
  }
}

void TermCentres::clear(std::int64_t cluster) {
  for (std::int64_t j = 0; j < n_features_; ++j) set_term(j, cluster, 0.0, 0.0);
}

float TermCentres::value(std::int64_t term, std::int64_t cluster) const {
  if (const float* term_row = this->term_row(term)) return term_row[cluster];
  const SparseTermRow term_row = sparse_term_row(term);
  const TermEntry* at = term_row.from(cluster);
  return at != term_row.end() && at->cluster == cluster ? at->value : 0.0f;
}

PanelView TermCentres::view() const {
  return {nullptr, scalars_.norms.get(), scalars_.factors.get(), scalars_.inverse_weights.get(),
          static_cast<std::int32_t>(n_clusters_)};
}

GatheredTermCentres::GatheredTermCentres(const SparseRows& rows, std::int64_t n_clusters,
                                         std::int64_t max_gathered)
    : width_(rows.kernel().panel_width),
      step_((max_gathered + width_ - 1) / width_ * width_),
      term_row_of_(static_cast<std::size_t>(rows.n_features()), nullptr),
      column_(static_cast<std::size_t>(n_clusters), -1),
      scalars_(step_),
      scales_(step_) {}

void GatheredTermCentres::gather(const TermCentres& table, const std::int32_t* clusters,
                                 std::int64_t count) {
  for (const std::int64_t term : terms_) term_row_of_[static_cast<std::size_t>(term)] = nullptr;
  terms_.clear();
  std::ranges::fill(column_, -1);
  table_ = &table;
  clusters_ = clusters;
  n_clusters_ = count;
  n_panels_ = (count + width_ - 1) / width_;
  for (std::int64_t i = 0; i < count; ++i) {
    scalars_.copy(i, table.scalars_, clusters[i]);
    scales_[i] = table.scales_[clusters[i]];
    column_[static_cast<std::size_t>(clusters[i])] = static_cast<std::int32_t>(i);
  }
  for (std::int64_t i = count; i < n_panels_ * width_; ++i) {
    scalars_.set_never(i);
    scales_[i] = 0.0f;
  }
}

const float* GatheredTermCentres::term_row(std::int64_t term) {
  float*& term_row = term_row_of_[static_cast<std::size_t>(term)];
  if (term_row == nullptr) {
    term_row = new_term_row();
    terms_.push_back(term);
    fill_term_row(term, term_row);
  }
  return term_row;
}

void GatheredTermCentres::fill_term_row(std::int64_t term, float* term_row) const {
  if (const float* from = table_->term_row(term)) {
    for (std::int64_t i = 0; i < n_clusters_; ++i) term_row[i] = from[clusters_[i]];
    std::fill(term_row + n_clusters_, term_row + n_panels_ * width_, 0.0f);
    return;
  }
  std::fill(term_row, term_row + n_panels_ * width_, 0.0f);
  const SparseTermRow from = table_->sparse_term_row(term);
  for (const TermEntry* entry = from.entries; entry != from.end(); ++entry) {
    const std::int32_t column = column_[static_cast<std::size_t>(entry->cluster)];
    if (column >= 0) term_row[column] = entry->value;
  }
}

float* GatheredTermCentres::new_term_row() {
  const auto n = static_cast<std::int64_t>(terms_.size());
  if (n == static_cast<std::int64_t>(blocks_.size()) * kTermRowsInBlock)
    blocks_.emplace_back(kTermRowsInBlock * step_);
  return blocks_[static_cast<std::size_t>(n / kTermRowsInBlock)].get() + n % kTermRowsInBlock * step_;
}

PanelView GatheredTermCentres::view() const {
  return {nullptr, scalars_.norms.get(), scalars_.factors.get(), scalars_.inverse_weights.get(),
          static_cast<std::int32_t>(n_clusters_)};
}

}  // namespace boostkmeans
