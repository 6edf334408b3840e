// The order in which several threads may decide on proposals, with the result of deciding in sequence.
//
// A decision reads and writes two clusters. Its level is 1 + the highest level of the previous decisions
// on these clusters. Decisions of the same level concern different clusters, so their order does not
// matter. Sorted by level, a decision comes after all decisions that it depends on.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "parallel/thread_pool.hpp"
#include "support/alignment.hpp"
#include "sweep/visit_policies.hpp"

namespace boostkmeans {

// A decision on a proposal to move a row, and its result.
struct Decision {
  std::int64_t row;
  std::int32_t from, to;
  float norm;  // |x|^2
  std::int32_t level;
  // Number of earlier decisions of the block on each cluster.
  std::uint32_t turn_from, turn_to;
  double gain;  // decrease of the inertia, if the row moved
  bool moved;
};

class DecisionOrder {
 public:
  explicit DecisionOrder(std::int64_t n_clusters) : clusters_(static_cast<std::size_t>(n_clusters)) {}

  // Replaces the decisions by those on the proposals of a block, and finds their levels.
  void assign(const std::vector<Proposal>& proposals) {
    for (const Decision& decision : decisions) {
      of(decision.from).reset();
      of(decision.to).reset();
    }
    decisions.clear();
    n_levels_ = 0;
    for (const Proposal& proposal : proposals)
      if (proposal.target >= 0 && proposal.target != proposal.own) append(proposal);
  }
  std::int64_t size() const { return static_cast<std::int64_t>(decisions.size()); }
  std::int32_t n_levels() const { return n_levels_; }
  // Mean number of decisions per level.
  double width() const { return static_cast<double>(size()) / std::max(1, n_levels_); }

  // Returns the numbers of the decisions, sorted by level. Decisions of a level stay in sequence.
  const std::vector<std::int32_t>& sort_by_level() {
    starts_.assign(static_cast<std::size_t>(n_levels_) + 1, 0);
    for (const Decision& decision : decisions) ++starts_[static_cast<std::size_t>(decision.level)];
    for (std::size_t level = 1; level < starts_.size(); ++level) starts_[level] += starts_[level - 1];
    sorted_.resize(decisions.size());
    for (std::size_t i = 0; i < decisions.size(); ++i) {
      const auto before = static_cast<std::size_t>(decisions[i].level - 1);
      sorted_[static_cast<std::size_t>(starts_[before]++)] = static_cast<std::int32_t>(i);
    }
    return sorted_;
  }

  // Waits until all earlier decisions on the two clusters were made. Returns false if the pool stops
  // before that.
  bool wait_for_turn(const Decision& decision, ThreadPool& pool, int thread) const {
    return wait(of(decision.from), decision.turn_from, pool, thread) &&
           wait(of(decision.to), decision.turn_to, pool, thread);
  }
  // Called after a decision was made.
  void end_turn(const Decision& decision) {
    of(decision.from).n_made.store(decision.turn_from + 1, std::memory_order_release);
    of(decision.to).n_made.store(decision.turn_to + 1, std::memory_order_release);
  }

  std::vector<Decision> decisions;

 private:
  // Threads that decide on different clusters write at the same time, so each has its own cache line.
  struct alignas(kAlignment) ClusterTurns {
    std::int32_t level = 0;
    std::uint32_t n_decisions = 0;
    std::atomic<std::uint32_t> n_made{0};

    void reset() {
      level = 0;
      n_decisions = 0;
      n_made.store(0, std::memory_order_relaxed);
    }
  };

  ClusterTurns& of(std::int32_t cluster) { return clusters_[static_cast<std::size_t>(cluster)]; }
  const ClusterTurns& of(std::int32_t cluster) const {
    return clusters_[static_cast<std::size_t>(cluster)];
  }

  void append(const Proposal& proposal) {
    ClusterTurns &from = of(proposal.own), &to = of(proposal.target);
    const std::int32_t level = 1 + std::max(from.level, to.level);
    from.level = to.level = level;
    n_levels_ = std::max(n_levels_, level);
    decisions.push_back({proposal.row, proposal.own, proposal.target, proposal.norm, level,
                         from.n_decisions++, to.n_decisions++, 0.0, false});
  }

  static bool wait(const ClusterTurns& cluster, std::uint32_t turn, ThreadPool& pool, int thread) {
    // Number of reads after which a waiting thread lets others run, in case there are more threads than
    // processors.
    constexpr int kSpins = 1000;
    if (cluster.n_made.load(std::memory_order_acquire) == turn) return true;
    const auto began = StopToken::Clock::now();
    for (int i = 0; cluster.n_made.load(std::memory_order_acquire) != turn; ++i) {
      if (i < kSpins) {
        pause();
        continue;
      }
      if (pool.abandoned()) return false;
      std::this_thread::yield();
    }
    pool.add_waiting_time(thread, StopToken::Clock::now() - began);
    return true;
  }

  std::vector<ClusterTurns> clusters_;
  std::int32_t n_levels_ = 0;
  std::vector<std::int32_t> starts_;  // by level: position of its next decision
  std::vector<std::int32_t> sorted_;
};

}  // namespace boostkmeans
