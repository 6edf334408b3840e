#include "sweep.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "centres.hpp"
#include "members.hpp"
#include "piece.hpp"
#include "random.hpp"

namespace boostkmeans {

namespace {

// Where a row would go, as far as is known when its block begins.
struct Proposal {
  std::int64_t row;
  std::int32_t target;  // -1: stay
  float norm;
};

struct Workplace {
  Workplace(const DenseRows& rows, bool low) : piece(rows, low), fetched(rows.n_features()) {}
  Piece piece;
  Buffer<double> fetched;
};

// Some proposals of a block that look at the same clusters: what one thread takes on at a time.
struct Task {
  std::int64_t first, count;
  std::int32_t list;  // whose neighbours they look at; -1: all clusters
  std::int32_t own;   // cluster of all these rows, or -1
};

// Every row looks at all clusters. Tells a sweep which rows are next, and what they look at.
class AllClusters {
 public:
  AllClusters(const DenseRows& rows, const Partition& partition, const Visit& visit,
              const DenseRows* bytes)
      : rows_(rows), visit_(visit),
        centres_(rows.kernel(), partition.n_clusters, partition.n_features, bytes) {}

  // The rows of the next block; false if there is none.
  bool collect(std::vector<Proposal>& proposals, std::vector<Task>& tasks) {
    while (next_run_ < visit_.n_runs &&
           static_cast<std::int64_t>(proposals.size()) < visit_.block_rows) {
      const std::int64_t begin = visit_.order[next_run_++] * visit_.run_rows;
      const std::int64_t end = std::min(begin + visit_.run_rows, rows_.n_rows());
      for (std::int64_t row = begin; row < end; ++row) proposals.push_back({row, -1, 0.0f});
    }
    const auto n = static_cast<std::int64_t>(proposals.size());
    for (std::int64_t at = 0; at < n; at += kPieceRows)
      tasks.push_back({at, std::min(kPieceRows, n - at), -1, -1});
    return n > 0;
  }
  void set(std::int64_t cluster, const double* composite, double weight) {
    centres_.set(cluster, composite, weight);
  }
  void decided() {}
  void moved(std::int32_t, std::int32_t) {}
  const Centres& centres(std::int64_t, int) { return centres_; }
  // The cluster of a column in a list, and how many columns that has.
  std::int32_t cluster(std::int64_t, std::int64_t column) const {
    return static_cast<std::int32_t>(column);
  }
  std::int64_t n_columns(std::int64_t) const { return centres_.n_clusters(); }
  // The column of a cluster in a list, or -1 if it has none.
  std::int32_t column(std::int64_t, std::int32_t cluster) const { return cluster; }
  void found(std::int64_t, std::int32_t) {}

 private:
  const DenseRows& rows_;
  const Visit& visit_;
  std::int64_t next_run_ = 0;
  Centres centres_;
};

// Every row looks at the neighbours of its cluster.
class Candidates {
 public:
  Candidates(const DenseRows& rows, const Partition& partition, const CandidateVisit& visit,
             Neighbourhoods& neighbourhoods, int n_threads)
      : visit_(visit), near_(neighbourhoods), members_(sort_by_cluster(grouped(partition), rows.n_rows())),
        entered_(static_cast<std::size_t>(partition.n_clusters), 0),
        table_(rows.kernel(), partition.n_clusters, partition.n_features) {
    for (int t = 0; t < n_threads; ++t)
      gathered_.push_back(
          std::make_unique<Centres>(rows.kernel(), near_.length, partition.n_features));
  }

  bool collect(std::vector<Proposal>& proposals, std::vector<Task>& tasks) {
    // Rows that share one gathering of centres; a large cluster is shared between threads, and blocks.
    constexpr std::int64_t kTaskRows = 8 * kPieceRows;
    while (next_ < visit_.n_clusters &&
           static_cast<std::int64_t>(proposals.size()) < visit_.block_rows) {
      const std::int32_t c = visit_.order[next_];
      const std::int64_t begin = members_.start[static_cast<std::size_t>(c)] + taken_;
      const std::int64_t end = members_.start[static_cast<std::size_t>(c) + 1];
      if (begin == end || n_columns(c) == 0 || (taken_ == 0 && !begin_visit(c))) {
        ++next_;
        taken_ = 0;
        continue;
      }
      const std::int64_t count = std::min(kTaskRows, end - begin);
      tasks.push_back({static_cast<std::int64_t>(proposals.size()), count, c,
                       visit_.by_runner_up ? -1 : c});
      for (std::int64_t i = begin; i < begin + count; ++i)
        proposals.push_back({members_.rows[static_cast<std::size_t>(i)], -1, 0.0f});
      taken_ += count;
    }
    return !proposals.empty();
  }
  void set(std::int64_t cluster, const double* composite, double weight) {
    table_.set(cluster, composite, weight);
  }
  void decided() { ++near_.clock; }
  void moved(std::int32_t from, std::int32_t to) {
    near_.changed[from] = near_.changed[to] = near_.clock;
    // The row is not among the members that this sweep visits there: that takes another visit.
    near_.visited[to] = -1;
    entered_[static_cast<std::size_t>(to)] = 1;
  }
  const Centres& centres(std::int64_t owner, int thread) {
    Centres& gathered = *gathered_[static_cast<std::size_t>(thread)];
    gathered.gather(table_, list(owner), n_columns(owner));
    return gathered;
  }
  std::int32_t cluster(std::int64_t owner, std::int64_t column) const { return list(owner)[column]; }
  std::int64_t n_columns(std::int64_t owner) const {
    const std::int32_t* first = list(owner);
    return std::find(first, first + near_.length, -1) - first;
  }
  std::int32_t column(std::int64_t owner, std::int32_t cluster) const {
    if (!visit_.by_runner_up) return -1;  // no cluster is in its own list
    const std::int32_t *first = list(owner), *last = first + near_.length;
    const std::int32_t* at = std::find(first, last, cluster);
    return at == last ? -1 : static_cast<std::int32_t>(at - first);
  }
  void found(std::int64_t row, std::int32_t best) {
    if (visit_.runners_up != nullptr && !visit_.by_runner_up) visit_.runners_up[row] = best;
  }

 private:
  const std::int32_t* list(std::int64_t cluster) const { return near_.lists + cluster * near_.length; }

  Partition grouped(const Partition& partition) const {
    Partition groups = partition;
    if (visit_.by_runner_up) groups.labels = visit_.runners_up;
    return groups;
  }

  // Whether a cluster is to be visited; if so, it counts as visited from the first of its rows on.
  bool begin_visit(std::int64_t cluster) {
    if (visit_.by_runner_up) return true;
    if (!worth_a_visit(cluster)) return false;
    near_.visited[cluster] = entered_[static_cast<std::size_t>(cluster)] ? -1 : near_.clock;
    return true;
  }

  bool worth_a_visit(std::int64_t cluster) const {
    const std::int64_t last = near_.visited[cluster];
    if (last < 0 || near_.changed[cluster] >= last) return true;
    const std::int32_t* first = list(cluster);
    return std::any_of(first, first + n_columns(cluster),
                       [=, this](std::int32_t c) { return near_.changed[c] >= last; });
  }

  const CandidateVisit& visit_;
  Neighbourhoods& near_;
  Members members_;
  std::vector<unsigned char> entered_;  // clusters that rows entered in this sweep
  std::int64_t next_ = 0;   // cluster in the order ...
  std::int64_t taken_ = 0;  // ... and its rows that are in earlier blocks
  CentreTable table_;
  std::vector<std::unique_ptr<Centres>> gathered_;
};

// The rows if they are to be scored in low precision, else null. A certificate is not to be had that way.
const DenseRows* bytes_of(const DenseRows& rows, const SweepOptions& options) {
  return options.low && !options.exact && rows.are_bytes() ? &rows : nullptr;
}

template <class Looks>
class Sweep {
 public:
  Sweep(const DenseRows& rows, RowWeights row_weights, const Partition& partition,
        const SweepOptions& options, Looks& looks, Team& team)
      : rows_(rows), row_weights_(row_weights), partition_(partition), options_(options),
        rule_(options.first && !options.exact ? Rule::first : Rule::best), looks_(looks), team_(team),
        touched_(static_cast<std::size_t>(partition.n_clusters), 0), fetched_(rows.n_features()) {
    const bool low = bytes_of(rows, options) != nullptr;
    for (int t = 0; t < team.size(); ++t) places_.push_back(std::make_unique<Workplace>(rows, low));
    for (std::int64_t c = 0; c < partition.n_clusters; ++c) touch(c);
  }

  SweepResult run() {
    while (collect()) {
      pack_touched();
      propose();
      if (team_.watch().stopped()) break;  // the block's proposals are incomplete: drop them
      for (const Task& task : tasks_)
        result_.evaluations += task.count * looks_.n_columns(task.list);
      decide();
      if (team_.watch().stopped()) break;
      looks_.decided();
    }
    return result_;
  }

 private:
  bool collect() {
    proposals_.clear();
    tasks_.clear();
    return looks_.collect(proposals_, tasks_);
  }

  void touch(std::int64_t cluster) {
    if (touched_[static_cast<std::size_t>(cluster)]) return;
    touched_[static_cast<std::size_t>(cluster)] = 1;
    touched_list_.push_back(cluster);
  }

  // Clusters that changed since the last block get new float32 centres.
  void pack_touched() {
    constexpr std::int64_t kBatch = 16;
    const auto n = static_cast<std::int64_t>(touched_list_.size());
    team_.for_each((n + kBatch - 1) / kBatch, [&](std::int64_t batch, int) {
      for (std::int64_t i = batch * kBatch; i < std::min(n, (batch + 1) * kBatch); ++i) {
        const std::int64_t c = touched_list_[static_cast<std::size_t>(i)];
        looks_.set(c, partition_.composite(c), partition_.weights[c]);
        touched_[static_cast<std::size_t>(c)] = 0;
      }
    });
    touched_list_.clear();
  }

  void propose() {
    const auto n = static_cast<std::int64_t>(tasks_.size());
    team_.for_each(n, [&](std::int64_t i, int thread) {
      const Task& task = tasks_[static_cast<std::size_t>(i)];
      const Centres& centres = looks_.centres(task.list, thread);
      for (std::int64_t at = task.first; at < task.first + task.count; at += kPieceRows) {
        propose_piece(proposals_.data() + at, std::min(kPieceRows, task.first + task.count - at), task,
                      centres, thread);
      }
    });
  }

  void propose_piece(Proposal* proposals, std::int64_t count, const Task& task,
                     const Centres& centres, int thread) {
    Workplace& place = *places_[static_cast<std::size_t>(thread)];
    Piece& piece = place.piece;
    piece.load(count, [=](std::int64_t r) { return proposals[r].row; });
    double stay[kPieceRows];
    std::int32_t own[kPieceRows];
    const Proposal* last = proposals_.data() + proposals_.size() - 1;
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int64_t row = proposals[r].row;
      // A row of the piece that this thread will most likely take next, as a team hands out neighbours.
      // One at a time: memory answers only so many at once.
      rows_.prefetch(std::min<const Proposal*>(proposals + count + r, last)->row);
      // To ask for all labels would be a walk all over the memory.
      own[r] = task.own >= 0 ? task.own : partition_.labels[row];
      proposals[r].norm = piece.norm(r);
      piece.own(r) = looks_.column(task.list, own[r]);
      piece.weight(r) = static_cast<float>(row_weights_[row]);
      stay[r] = staying(row, own[r], piece.tile_row(r), place.fetched.get());
      piece.stay(r) = static_cast<float>(stay[r]);
      if (rule_ == Rule::first) piece.rotation(r) = rotation(row, task.list);
    }
    if (!piece.scan(rule_, static_cast<bool>(row_weights_), centres, team_.watch(), thread)) return;
    for (std::int64_t r = 0; r < count; ++r) {
      if (rule_ == Rule::best && piece.index(r) >= 0)
        looks_.found(proposals[r].row, looks_.cluster(task.list, piece.index(r)));
      if (stay[r] >= 0.0)
        proposals[r].target = target(piece, r, proposals[r].row, task.list, stay[r], place);
    }
  }

  // What a row costs where it is; -1 if it cannot leave. For a certificate from the row itself, else
  // from the tile: that it was rounded to float32 counts for a heavy row beside light ones.
  double staying(std::int64_t row, std::int32_t own, const float* tile_row, double* scratch) const {
    const double w = row_weights_[row];
    if (w <= 0.0 || !may_leave(partition_, own, w)) return -1.0;
    const double total = partition_.weights[own];
    if (options_.exact) {
      rows_.fetch(row, scratch);
      return leaving(total, w, distance(scratch, own));
    }
    return leaving(total, w,
                   rows_.kernel().tile_distance(tile_row, partition_.composite(own), 1.0 / total,
                                                partition_.n_features));
  }

  // The column at which a row begins to look.
  std::int32_t rotation(std::int64_t row, std::int32_t list) const {
    const std::uint64_t bits = random_at(options_.seed, static_cast<std::uint64_t>(row));
    return static_cast<std::int32_t>(random_below(bits, looks_.n_columns(list)));
  }

  std::int32_t target(const Piece& piece, std::int64_t r, std::int64_t row, std::int32_t list,
                      double stay, Workplace& place) const {
    const std::int64_t found = piece.index(r);
    if (rule_ == Rule::first) {
      if (found == INT32_MAX) return -1;
      return looks_.cluster(list, (found + rotation(row, list)) % looks_.n_columns(list));
    }
    if (!options_.exact) return piece.best(r) < stay ? looks_.cluster(list, found) : -1;
    const double error = float32_error(piece.norm(r), 2.0 * stay, partition_.n_features);
    return piece.best(r) > stay + error ? -1 : exact_target(row, piece.norm(r), place);
  }

  // The best cluster for a row, all of it in float64.
  std::int32_t exact_target(std::int64_t row, float norm, Workplace& place) const {
    double* x = place.fetched.get();
    rows_.fetch(row, x);
    const std::int32_t own = partition_.labels[row];
    const double w = row_weights_[row];
    const double leave = leaving(partition_.weights[own], w, distance(x, own));
    double best = leave;
    std::int32_t found = -1;
    for (std::int32_t c = 0; c < static_cast<std::int32_t>(partition_.n_clusters); ++c) {
      if (c == own) continue;
      const double enter = entering(partition_.weights[c], w, distance(x, c));
      if (enter < best) best = enter, found = c;
    }
    return found >= 0 && improves(leave, best, norm) ? found : -1;
  }

  double distance(const double* x, std::int64_t cluster) const {
    const double total = partition_.weights[cluster];
    return total > 0.0 ? rows_.distance(x, partition_.composite(cluster), 1.0 / total) : 0.0;
  }

  void decide() {
    constexpr std::int64_t kRowsBetweenLooks = 256;
    std::int64_t looked = 0;
    for (const Proposal& proposal : proposals_) {
      if (proposal.target < 0) continue;
      decide_row(proposal);
      if (++looked % kRowsBetweenLooks == 0 && team_.watch().check()) return;
    }
  }

  void decide_row(const Proposal& proposal) {
    const std::int32_t from = partition_.labels[proposal.row], to = proposal.target;
    const double w = row_weights_[proposal.row];
    if (!may_leave(partition_, from, w)) return;
    double* x = fetched_.get();
    rows_.fetch(proposal.row, x);
    const double leave = leaving(partition_.weights[from], w, distance(x, from));
    const double enter = entering(partition_.weights[to], w, distance(x, to));
    if (!improves(leave, enter, proposal.norm)) return;
    move(proposal.row, from, to, w);
    result_.gain += w * (leave - enter);
    ++result_.moves;
  }

  void move(std::int64_t row, std::int32_t from, std::int32_t to, double w) {
    rows_.add(fetched_.get(), -w, partition_.composite(from));
    // An empty cluster's composite may be anything: it begins with this row.
    if (partition_.counts[to] == 0)
      std::fill_n(partition_.composite(to), partition_.n_features, 0.0);
    rows_.add(fetched_.get(), w, partition_.composite(to));
    partition_.weights[from] -= w;
    partition_.weights[to] += w;
    --partition_.counts[from];
    ++partition_.counts[to];
    partition_.labels[row] = to;
    touch(from);
    touch(to);
    looks_.moved(from, to);
  }

  const DenseRows& rows_;
  RowWeights row_weights_;
  const Partition& partition_;
  const SweepOptions& options_;
  const Rule rule_;
  Looks& looks_;
  Team& team_;
  std::vector<unsigned char> touched_;
  std::vector<std::int64_t> touched_list_;
  std::vector<std::unique_ptr<Workplace>> places_;
  std::vector<Proposal> proposals_;
  std::vector<Task> tasks_;
  Buffer<double> fetched_;
  SweepResult result_;
};

}  // namespace

SweepResult sweep(const DenseRows& rows, RowWeights row_weights, const Partition& partition,
                  const Visit& visit, const SweepOptions& options, Team& team) {
  AllClusters looks(rows, partition, visit, bytes_of(rows, options));
  return Sweep(rows, row_weights, partition, options, looks, team).run();
}

SweepResult sweep(const DenseRows& rows, RowWeights row_weights, const Partition& partition,
                  const CandidateVisit& visit, Neighbourhoods& neighbourhoods,
                  const SweepOptions& options, Team& team) {
  Candidates looks(rows, partition, visit, neighbourhoods, team.size());
  return Sweep(rows, row_weights, partition, options, looks, team).run();
}

}  // namespace boostkmeans
