// Exchanges: two rows that move together, where one move alone would break a size limit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "partition/partition.hpp"
#include "sweep/exchange_offers.hpp"
#include "sweep/mover.hpp"
#include "sweep/proposer.hpp"
#include "sweep/sweep.hpp"
#include "sweep/visit_policies.hpp"

namespace boostkmeans {

template <class Rows, class Policy>
class Exchanger {
 public:
  Exchanger(const Rows& rows, RowWeights row_weights, const Partition& partition,
            const SweepOptions& options, Mover<Rows, Policy>& mover)
      : row_weights_(row_weights),
        partition_(partition),
        options_(options),
        annealing_factor_(annealing_factor(options)),
        mover_(mover),
        offers_(options.exchange ? partition.n_clusters : 0),
        fetched_(rows),
        partner_(rows) {}

  // Stores a proposal as an offer to make room for other rows.
  void offer(const Proposal& proposal) {
    offers_.add({proposal.row, partition_.labels[proposal.row], proposal.target, proposal.regret});
  }

  // Makes a proposed move that breaks a limit together with the move of a partner, if both together are
  // a gain. Returns true if both rows moved. `needs_entry`: the row's own cluster is at the lower limit.
  // `needs_room`: the target is at the upper limit.
  bool exchange(const Proposal& proposal, bool needs_entry, bool needs_room) {
    const std::int32_t from = partition_.labels[proposal.row], to = proposal.target;
    std::vector<ExchangeOffer>& offers = needs_room ? offers_.leaving(to) : offers_.entering(from);
    for (std::size_t i = 0; i < offers.size();) {
      const ExchangeOffer partner = offers[i];
      const bool outdated =
          partition_.labels[partner.row] != partner.from || partner.row == proposal.row;
      if (outdated) {
        offers.erase(offers.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      // Offers are sorted by their loss, so the remaining partners cannot gain either.
      if (partner.loss + proposal.regret >= 0.0) break;
      ++i;
      if (needs_entry && partner.to != from) continue;
      if (sizes_allow(proposal, from, partner) && move_both(proposal, from, partner)) return true;
    }
    return false;
  }

 private:
  // Returns true if all clusters are within the limits after both moves.
  bool sizes_allow(const Proposal& proposal, std::int32_t from, const ExchangeOffer& partner) const {
    const double w = row_weights_[proposal.row], v = row_weights_[partner.row];
    const std::int32_t clusters[4] = {from, proposal.target, partner.from, partner.to};
    return std::all_of(clusters, clusters + 4, [&](std::int32_t c) {
      double weight = partition_.weights[c];
      weight += (c == proposal.target ? w : 0.0) - (c == from ? w : 0.0);
      weight += (c == partner.to ? v : 0.0) - (c == partner.from ? v : 0.0);
      return options_.limits.allow(c, weight);
    });
  }

  // Moves the partner first, and moves it back unless the two moves together are a gain.
  bool move_both(const Proposal& proposal, std::int32_t from, const ExchangeOffer& partner) {
    const double w = row_weights_[proposal.row], v = row_weights_[partner.row];
    if (!may_leave(partition_, partner.from, v)) return false;
    const MoveCosts other = mover_.costs_of(partner.row, partner.to, partner_);
    mover_.move_with_undo(partner.row, partner.to, partner_);
    const MoveCosts own = mover_.costs_of(proposal.row, proposal.target, fetched_);
    const double leave = w * own.leave + v * other.leave;
    const double enter = w * own.enter + v * other.enter;
    const double norm = std::max(w, v) * std::max<double>(proposal.norm, other.norm);
    const double noise = w * own.noise + v * other.noise;
    if (!may_leave(partition_, from, w) || !improves(leave, annealing_factor_ * enter, norm, noise)) {
      mover_.undo(partner.row, partner_);
      return false;
    }
    mover_.count(partner.row, other);
    mover_.accept(proposal.row, proposal.target, fetched_, own);
    return true;
  }

  RowWeights row_weights_;
  const Partition& partition_;
  const SweepOptions& options_;
  const double annealing_factor_;
  Mover<Rows, Policy>& mover_;
  ExchangeOffers offers_;
  typename Rows::Row fetched_, partner_;
};

}  // namespace boostkmeans
