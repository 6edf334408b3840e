// Early termination of native work: Ctrl-C or a deadline.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

namespace boostkmeans {

// Tells all threads of a call when to stop. Only the calling thread polls for interrupts and the
// deadline; the other threads read the result.
class StopToken {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Reason : std::uint8_t { none, interrupted, deadline };

  // `interrupted` may be expensive (it acquires the GIL), so it is called at most once per
  // kInterval.
  StopToken(std::function<bool()> interrupted, double seconds_left)
      : interrupted_(std::move(interrupted)),
        start_(Clock::now()),
        seconds_left_(seconds_left) {}

  // For the calling thread: checks for interrupts and the deadline. Returns true if the work must stop.
  bool poll() {
    if (stopped()) return true;
    const double now = std::chrono::duration<double>(Clock::now() - start_).count();
    if (now >= seconds_left_) return stop(Reason::deadline);
    if (now < next_) return false;
    next_ = now + kInterval;
    return interrupted_() && stop(Reason::interrupted);
  }
  // For any thread of a pool. Thread 0 is the calling thread, which polls.
  bool stop_requested(int thread) { return thread == 0 ? poll() : stopped(); }
  bool stopped() const { return reason() != Reason::none; }
  Reason reason() const { return reason_.load(std::memory_order_relaxed); }

 private:
  // In seconds: a tenth of the 200 ms within which a call must react to an interrupt.
  static constexpr double kInterval = 0.02;

  bool stop(Reason reason) {
    reason_.store(reason, std::memory_order_relaxed);
    return true;
  }

  std::function<bool()> interrupted_;
  Clock::time_point start_;
  double seconds_left_;
  double next_ = 0.0;  // earliest time of the next call of `interrupted_`, in seconds since the start
  std::atomic<Reason> reason_{Reason::none};
};

}  // namespace boostkmeans
