// When to stop early: Ctrl-C, or a deadline. Only the calling thread asks; the others look.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

namespace boostkmeans {

class Watch {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Reason { none, interrupted, deadline };

  // `interrupted` may be expensive (it takes Python's lock), so it is asked every kInterval.
  Watch(std::function<bool()> interrupted, double seconds_left)
      : interrupted_(std::move(interrupted)),
        start_(Clock::now()),
        seconds_left_(seconds_left) {}

  // For the calling thread. True once the work has to stop.
  bool check() {
    if (stopped()) return true;
    const double now = std::chrono::duration<double>(Clock::now() - start_).count();
    if (now >= seconds_left_) return stop(Reason::deadline);
    if (now < next_) return false;
    next_ = now + kInterval;
    return interrupted_() && stop(Reason::interrupted);
  }
  // For any thread of a team, of which 0 is the calling one.
  bool look(int thread) { return thread == 0 ? check() : stopped(); }
  bool stopped() const { return reason() != Reason::none; }
  Reason reason() const { return reason_.load(std::memory_order_relaxed); }

 private:
  static constexpr double kInterval = 0.02;  // seconds; a tenth of the promised 200 ms

  bool stop(Reason reason) {
    reason_.store(reason, std::memory_order_relaxed);
    return true;
  }

  std::function<bool()> interrupted_;
  Clock::time_point start_;
  double seconds_left_;
  double next_ = 0.0;
  std::atomic<Reason> reason_{Reason::none};
};

}  // namespace boostkmeans
