#include "sweep/sweep.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "scoring/row_batch.hpp"
#include "support/random.hpp"
#include "sweep/visit_policies.hpp"

namespace boostkmeans {

namespace {

template <class Rows>
struct Workplace {
  Workplace(const Rows& rows, bool low) : piece(rows, low), fetched(rows) {}
  Piece<Rows> piece;
  typename Rows::Row fetched;
};

// Whether rows are scored in low precision. A certificate is not to be had that way.
bool is_low(const DenseRows& rows, const SweepOptions& options) {
  return options.low_precision && !options.exact && rows.are_bytes();
}
bool is_low(const SparseRows&, const SweepOptions&) { return false; }

template <class Rows, class Looks>
class Sweep {
 public:
  Sweep(const Rows& rows, RowWeights row_weights, const Partition& partition,
        const SweepOptions& options, Looks& looks, bool low, Team& team)
      : rows_(rows),
        row_weights_(row_weights),
        partition_(partition),
        options_(options),
        reluctance_((1.0 - options.temperature) / (1.0 + options.temperature)),
        rule_(options.first && !options.exact ? Rule::first : Rule::best),
        looks_(looks),
        team_(team),
        squares_(rows, partition.composites, partition.n_clusters, team),
        touched_(static_cast<std::size_t>(partition.n_clusters), 0),
        fetched_(rows),
        other_(rows),
        saved_(2 * rows.most_cells()),
        offers_(options.exchange ? partition.n_clusters : 0) {
    if (options.limits) smallest_ = smallest_weight();
    for (int t = 0; t < team.size(); ++t)
      places_.push_back(std::make_unique<Workplace<Rows>>(rows, low));
    fill_lines(looks.table(), partition.composites, true, team);
    for (std::int64_t c = 0; c < partition.n_clusters; ++c) touch(c);
  }

  SweepResult run() {
    while (collect()) {
      pack_touched();
      propose();
      if (team_.watch().stopped()) break;  // the block's proposals are incomplete: drop them
      for (const Task& task : tasks_) result_.evaluations += task.count * looks_.n_columns(task.list);
      decide();
      if (team_.watch().stopped()) break;
      looks_.decided();
    }
    return result_;
  }

 private:
  using Row = typename Rows::Row;

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
        set_centre(looks_.table(), c, partition_.composite(c), partition_.weights[c], squares_.at(c));
        if (options_.penalties != nullptr)
          looks_.table().add_penalty(c, options_.penalties[c]);
        else if (!options_.exchange && options_.limits.full(partition_.weights[c], smallest_))
          looks_.table().set_never(c);
        touched_[static_cast<std::size_t>(c)] = 0;
      }
    });
    touched_list_.clear();
  }

  // The smallest weight that moves. Without row weights, all are 1.
  double smallest_weight() const {
    if (!row_weights_) return 1.0;
    double smallest = std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < rows_.n_rows(); ++i)
      if (row_weights_[i] > 0.0) smallest = std::min(smallest, row_weights_[i]);
    return smallest;
  }

  void propose() {
    const auto n = static_cast<std::int64_t>(tasks_.size());
    team_.for_each(n, [&](std::int64_t i, int thread) {
      const Task& task = tasks_[static_cast<std::size_t>(i)];
      auto& centres = looks_.centres(task.list, thread);
      for (std::int64_t at = task.first; at < task.first + task.count; at += kPieceRows) {
        propose_piece(proposals_.data() + at, std::min(kPieceRows, task.first + task.count - at), task,
                      centres, thread);
      }
    });
  }

  template <class Centres>
  void propose_piece(Proposal* proposals, std::int64_t count, const Task& task, Centres& centres,
                     int thread) {
    Workplace<Rows>& place = *places_[static_cast<std::size_t>(thread)];
    Piece<Rows>& piece = place.piece;
    piece.load(count, [=](std::int64_t r) { return proposals[r].row; });
    piece.meet(centres);
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
      stay[r] = staying(row, own[r], r, place);
      piece.stay(r) = static_cast<float>(stay[r]);
      if (rule_ == Rule::first) piece.rotation(r) = rotation(row, task.list);
    }
    if (!piece.scan(rule_, static_cast<bool>(row_weights_), centres, team_.watch(), thread)) return;
    for (std::int64_t r = 0; r < count; ++r) {
      if (rule_ == Rule::best && piece.index(r) >= 0)
        looks_.found(proposals[r].row, looks_.cluster(task.list, piece.index(r)));
      if (stay[r] < 0.0) continue;
      proposals[r].target = target(piece, r, proposals[r].row, task.list, stay[r], place);
      // The first better cluster is better: it is not known by how much.
      proposals[r].regret =
          rule_ == Rule::first ? -1.0f : piece.weight(r) * (piece.best(r) - piece.stay(r));
    }
  }

  // What a row costs where it is; -1 if it cannot leave. For a certificate from the row itself, else
  // from the tile: that it was rounded to float32 counts for a heavy row beside light ones.
  double staying(std::int64_t row, std::int32_t own, std::int64_t r, Workplace<Rows>& place) const {
    const double w = row_weights_[row];
    if (w <= 0.0 || !may_leave(partition_, own, w)) return -1.0;
    const double total = partition_.weights[own];
    if (options_.exact) {
      rows_.fetch(row, place.fetched);
      return leaving(total, w, distance(place.fetched, own));
    }
    const double gap = place.piece.gap(r, centre(own), looks_.table(), own);
    return leaving(total, w, gap) / reluctance_ + penalty(own);
  }

  // The column at which a row begins to look.
  std::int32_t rotation(std::int64_t row, std::int32_t list) const {
    const std::uint64_t bits = random_at(options_.seed, static_cast<std::uint64_t>(row));
    return static_cast<std::int32_t>(random_below(bits, looks_.n_columns(list)));
  }

  std::int32_t target(const Piece<Rows>& piece, std::int64_t r, std::int64_t row, std::int32_t list,
                      double stay, Workplace<Rows>& place) const {
    const std::int64_t found = piece.index(r);
    if (rule_ == Rule::first) {
      if (found == INT32_MAX) return -1;
      return looks_.cluster(list, (found + rotation(row, list)) % looks_.n_columns(list));
    }
    if (!options_.exact) {
      if (found < 0) return -1;
      // Where rows make room for others, one that would rather stay may still be the best to ask.
      return options_.exchange || piece.best(r) < stay ? looks_.cluster(list, found) : -1;
    }
    const double error = float32_error(piece.norm(r), 2.0 * stay, rows_.n_products(row));
    return piece.best(r) > stay + error ? -1 : exact_target(row, piece.norm(r), place);
  }

  // The best cluster for a row, all of it in float64.
  std::int32_t exact_target(std::int64_t row, float norm, Workplace<Rows>& place) const {
    Row& x = place.fetched;
    rows_.fetch(row, x);
    const std::int32_t own = partition_.labels[row];
    const double w = row_weights_[row];
    const double at_home = distance(x, own);
    const double leave = leaving(partition_.weights[own], w, at_home);
    double best = leave, noise = 0.0;
    std::int32_t found = -1;
    for (std::int32_t c = 0; c < static_cast<std::int32_t>(partition_.n_clusters); ++c) {
      if (c == own || !options_.limits.not_too_much(partition_.weights[c] + w)) continue;
      const double gap = distance(x, c);
      const double enter = entering(partition_.weights[c], w, gap);
      if (enter < best) best = enter, found = c, noise = rows_.noise(x, gap);
    }
    noise += leaving(partition_.weights[own], w, rows_.noise(x, at_home));
    return found >= 0 && improves(leave, best, norm, noise) ? found : -1;
  }

  Centre centre(std::int64_t cluster) const {
    return {partition_.composite(cluster), inverse_of(partition_.weights[cluster]),
            squares_.at(cluster)};
  }
  double distance(const Row& x, std::int64_t cluster) const {
    return partition_.weights[cluster] > 0.0 ? rows_.distance(x, centre(cluster)) : 0.0;
  }

  double penalty(std::int64_t cluster) const {
    return options_.penalties == nullptr ? 0.0 : options_.penalties[cluster];
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
    // Rows of a piece may have changed their cluster since, in an exchange.
    if (from == to || !may_leave(partition_, from, w)) return;
    if (options_.exchange && proposal.regret >= 0.0f) return offers_.add(offer_of(proposal, from));
    const bool spared = options_.limits.enough(partition_.weights[from] - w);
    const bool fits = options_.limits.not_too_much(partition_.weights[to] + w);
    if (!spared || !fits) {
      if (options_.exchange && !exchange(proposal, from, !spared, !fits))
        offers_.add(offer_of(proposal, from));
      return;
    }
    const Terms terms = terms_of(proposal.row, to, fetched_);
    const double leave = terms.leave + penalty(from), enter = reluctance_ * terms.enter + penalty(to);
    if (!improves(leave, enter, proposal.norm, terms.noise)) return;
    take(proposal.row, to, fetched_, terms);
  }

  static Offer offer_of(const Proposal& proposal, std::int32_t from) {
    return {proposal.row, from, proposal.target, proposal.regret};
  }

  // A row at a limit: together with a partner that makes up for it. True if both moved.
  bool exchange(const Proposal& proposal, std::int32_t from, bool needs_one_in, bool needs_room) {
    const std::int32_t to = proposal.target;
    std::vector<Offer>& offers = needs_room ? offers_.leaving(to) : offers_.entering(from);
    for (std::size_t i = 0; i < offers.size();) {
      const Offer offer = offers[i];
      const bool stale = partition_.labels[offer.row] != offer.from || offer.row == proposal.row;
      if (stale) {
        offers.erase(offers.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      if (offer.loss + proposal.regret >= 0.0) break;  // and so do all that follow
      ++i;
      if (needs_one_in && offer.to != from) continue;
      if (sizes_allow(proposal, from, offer) && move_both(proposal, from, offer)) return true;
    }
    return false;
  }

  // Whether all sizes are within the limits after both moves.
  bool sizes_allow(const Proposal& proposal, std::int32_t from, const Offer& offer) const {
    const double w = row_weights_[proposal.row], v = row_weights_[offer.row];
    const std::int32_t clusters[4] = {from, proposal.target, offer.from, offer.to};
    return std::all_of(clusters, clusters + 4, [&](std::int32_t c) {
      double weight = partition_.weights[c];
      weight += (c == proposal.target ? w : 0.0) - (c == from ? w : 0.0);
      weight += (c == offer.to ? v : 0.0) - (c == offer.from ? v : 0.0);
      return options_.limits.allow(weight);
    });
  }

  // The partner goes first; if the two do not gain, it comes back.
  bool move_both(const Proposal& proposal, std::int32_t from, const Offer& offer) {
    const double w = row_weights_[proposal.row], v = row_weights_[offer.row];
    if (!may_leave(partition_, offer.from, v)) return false;
    const Terms partner = terms_of(offer.row, offer.to, other_);
    save(offer);
    move(offer.row, offer.from, offer.to, v, other_);
    const Terms own = terms_of(proposal.row, proposal.target, fetched_);
    const double leave = w * own.leave + v * partner.leave;
    const double enter = w * own.enter + v * partner.enter;
    const double norm = std::max(w, v) * std::max<double>(proposal.norm, partner.norm);
    const double noise = w * own.noise + v * partner.noise;
    if (!may_leave(partition_, from, w) || !improves(leave, reluctance_ * enter, norm, noise)) {
      restore(offer);
      return false;
    }
    result_.gain += v * (partner.leave - partner.enter);
    ++result_.moves;
    take(proposal.row, proposal.target, fetched_, own);
    return true;
  }

  // The two clusters of a partner (which is `other_`) as they were, to the last bit.
  void save(const Offer& offer) {
    rows_.save(other_, partition_.composite(offer.from), saved_.get());
    rows_.save(other_, partition_.composite(offer.to), saved_.get() + rows_.most_cells());
    saved_values_[0] = {partition_.weights[offer.from], squares_.at(offer.from)};
    saved_values_[1] = {partition_.weights[offer.to], squares_.at(offer.to)};
  }
  void restore(const Offer& offer) {
    restore_cluster(offer.from, offer.row, 0);
    restore_cluster(offer.to, offer.row, 1);
    ++partition_.counts[offer.from];
    --partition_.counts[offer.to];
    partition_.labels[offer.row] = offer.from;
  }
  void restore_cluster(std::int64_t cluster, std::int64_t row, int i) {
    rows_.restore(other_, saved_.get() + i * rows_.most_cells(), partition_.composite(cluster));
    const double w = row_weights_[row];
    update_lines(looks_.table(), other_, cluster, partition_.composite(cluster), w);
    partition_.weights[cluster] = saved_values_[i].weight;
    squares_.set(cluster, saved_values_[i].square);
  }

  // What a row costs where it is and where it would go, and how far these may be off; |x|^2, where rows
  // are exchanged. Fetches it.
  struct Terms {
    double leave, enter, norm, noise;
  };
  Terms terms_of(std::int64_t row, std::int32_t to, Row& x) const {
    const std::int32_t from = partition_.labels[row];
    const double w = row_weights_[row];
    rows_.fetch(row, x);
    const double out = partition_.weights[from], in = partition_.weights[to];
    const double from_gap = distance(x, from), to_gap = distance(x, to);
    return {leaving(out, w, from_gap), entering(in, w, to_gap), options_.exchange ? rows_.norm(x) : 0.0,
            leaving(out, w, rows_.noise(x, from_gap)) + entering(in, w, rows_.noise(x, to_gap))};
  }

  void take(std::int64_t row, std::int32_t to, const Row& x, const Terms& terms) {
    const double w = row_weights_[row];
    move(row, partition_.labels[row], to, w, x);
    result_.gain += w * (terms.leave - terms.enter);
    ++result_.moves;
  }

  void move(std::int64_t row, std::int32_t from, std::int32_t to, double w, const Row& x) {
    // An empty cluster's composite may be anything: it begins with this row.
    if (partition_.counts[to] == 0) {
      std::fill_n(partition_.composite(to), partition_.n_features, 0.0);
      clear_lines(looks_.table(), to);
      squares_.set(to, 0.0);
    }
    const double lost = rows_.add(x, -w, partition_.composite(from));
    squares_.add(from, lost, partition_.composite(from));
    const double won = rows_.add(x, w, partition_.composite(to));
    squares_.add(to, won, partition_.composite(to));
    update_lines(looks_.table(), x, from, partition_.composite(from), w);
    update_lines(looks_.table(), x, to, partition_.composite(to), w);
    partition_.weights[from] -= w;
    partition_.weights[to] += w;
    --partition_.counts[from];
    ++partition_.counts[to];
    partition_.labels[row] = to;
    touch(from);
    touch(to);
    looks_.moved(from, to);
  }

  const Rows& rows_;
  RowWeights row_weights_;
  const Partition& partition_;
  const SweepOptions& options_;
  const double reluctance_;  // what it costs to go counts so much: 1, or less in a relaxed sweep
  const Rule rule_;
  Looks& looks_;
  Team& team_;
  Squares<Rows> squares_;
  std::vector<unsigned char> touched_;
  std::vector<std::int64_t> touched_list_;
  std::vector<std::unique_ptr<Workplace<Rows>>> places_;
  std::vector<Proposal> proposals_;
  std::vector<Task> tasks_;
  Row fetched_, other_;
  Buffer<double> saved_;
  struct {
    double weight, square;
  } saved_values_[2];
  Offers offers_;
  double smallest_ = 0.0;  // weight of a row
  SweepResult result_;
};

}  // namespace

template <class Rows>
SweepResult sweep(const Rows& rows, RowWeights row_weights, const Partition& partition, Visit& visit,
                  const SweepOptions& options, Team& team) {
  if (auto* candidates = std::get_if<CandidateVisit>(&visit)) {
    Candidates<Rows> looks(rows, partition, *candidates, team.size());
    return Sweep(rows, row_weights, partition, options, looks, false, team).run();
  }
  const bool low = is_low(rows, options);
  AllClusters<Rows> looks(rows, partition, std::get<FullVisit>(visit), low);
  return Sweep(rows, row_weights, partition, options, looks, low, team).run();
}

template SweepResult sweep(const DenseRows&, RowWeights, const Partition&, Visit&, const SweepOptions&,
                           Team&);
template SweepResult sweep(const SparseRows&, RowWeights, const Partition&, Visit&, const SweepOptions&,
                           Team&);

}  // namespace boostkmeans
