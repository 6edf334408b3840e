#include "parallel/thread_pool.hpp"

#include <algorithm>

#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#endif

namespace boostkmeans {

namespace {

// Moves each new thread to its own processor. Without this, a new thread may share the processor of
// its parent until the scheduler spreads them, which takes milliseconds and thus longer than many
// calls. Each thread is bound to one processor when it starts and unbound immediately.
class CpuSpreader {
 public:
#ifdef __linux__
  CpuSpreader() : known_(sched_getaffinity(0, sizeof allowed_, &allowed_) == 0) {}

  // `number` is the index of the thread, starting from 1. Processors are counted from that of the
  // calling thread.
  void spread(std::thread& thread, int number) const {
    const int n_allowed = known_ ? CPU_COUNT(&allowed_) : 1;
    if (n_allowed < 2) return;
    int skip = number % n_allowed;
    int cpu = sched_getcpu();
    while (skip > 0) {
      cpu = (cpu + 1) % CPU_SETSIZE;
      if (CPU_ISSET(cpu, &allowed_)) --skip;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (pthread_setaffinity_np(thread.native_handle(), sizeof one, &one) == 0)
      pthread_setaffinity_np(thread.native_handle(), sizeof allowed_, &allowed_);
  }

 private:
  cpu_set_t allowed_{};
  bool known_;
#else
  void spread(std::thread&, int) const {}
#endif
};

// Minimum number of operations per thread: about 50 microseconds of multiply-adds, which is the
// time to start and join a thread.
constexpr double kWorthAThread = 2e6;
// Minimum number of shares per thread, which balances the load. A share consists of neighbouring
// items, because threads that alternate would write to the same cache lines.
constexpr std::int64_t kSharesPerThread = 8;
// Maximum number of items in a share.
constexpr std::int64_t kMaxGrain = 16;
// Bit of the gate that is set while a round is open. The bits below it count the threads that joined.
constexpr std::uint64_t kOpen = std::uint64_t{1} << 31;
// Number of times that a waiting thread reads a value before it sleeps. Rounds often follow each other
// within microseconds.
constexpr int kSpins = 2000;

double seconds_between(StopToken::Clock::time_point from, StopToken::Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// Returns when the value is no longer `old`.
template <class T>
void wait_while(const std::atomic<T>& value, T old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(int n_threads, StopToken& stop_token, SectionTimes& times, double max_threads)
    : stop_token_(stop_token),
      times_(times),
      max_threads_(max_threads),
      thread_times_(static_cast<std::size_t>(std::max(1, n_threads))) {
  threads_.reserve(static_cast<std::size_t>(std::max(0, n_threads - 1)));
  try {
    const CpuSpreader spreader;
    for (int i = 1; i < n_threads; ++i) {
      threads_.emplace_back([this, i] { serve(i); });
      spreader.spread(threads_.back(), i);
    }
  } catch (...) {
    close();  // the system cannot create more threads: join those that were started
    throw;
  }
}

ThreadPool::~ThreadPool() { close(); }

void ThreadPool::close() {
  closing_.store(true, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (auto& thread : threads_) thread.join();
}

// Waits for rounds and works on them until the pool closes.
void ThreadPool::serve(int thread) {
  std::uint32_t seen = 0;
  for (;;) {
    wait_while(round_, seen);
    seen = round_.load(std::memory_order_acquire);
    if (closing_.load(std::memory_order_relaxed)) return;
    if (!join(seen)) continue;
    work(thread);
    finished_.fetch_add(1, std::memory_order_release);
    finished_.notify_one();
  }
}

// Returns true if the round was still open. The calling thread then waits for this thread.
bool ThreadPool::join(std::uint32_t round) {
  std::uint64_t gate = gate_.load(std::memory_order_acquire);
  while ((gate >> 32) == round && (gate & kOpen) != 0)
    if (gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acq_rel)) return true;
  return false;
}

// Takes shares of items until none are left, a stop is requested or a thread has failed.
void ThreadPool::work(int thread) {
  ThreadTime time;
  try {
    StopToken::Clock::time_point began = StopToken::Clock::now();
    for (std::int64_t first = 0; first < n_items_ && !failed_.load(std::memory_order_relaxed);) {
      first = next_.fetch_add(grain_, std::memory_order_relaxed);
      for (std::int64_t item = first; item < std::min(first + grain_, n_items_); ++item) {
        if (failed_.load(std::memory_order_relaxed) || stop_token_.stop_requested(thread)) {
          first = n_items_;
          break;
        }
        (*body_)(item, thread);
        const StopToken::Clock::time_point now = StopToken::Clock::now();
        const double seconds = seconds_between(began, now);
        began = now;
        time.busy += seconds;
        time.longest_item = std::max(time.longest_item, seconds);
      }
    }
  } catch (...) {
    if (!failed_.exchange(true)) error_ = std::current_exception();
  }
  ThreadTime& total = thread_times_[static_cast<std::size_t>(thread)];
  total.busy = std::max(0.0, time.busy - total.waiting);
  total.longest_item = time.longest_item;
}

// Works on the current round together with all threads that join it.
void ThreadPool::run_round() {
  if (threads_.empty() || n_items_ <= 1) {
    work(0);
    return;
  }
  const std::uint32_t round = round_.load(std::memory_order_relaxed) + 1;
  finished_.store(0, std::memory_order_relaxed);
  gate_.store(std::uint64_t{round} << 32 | kOpen, std::memory_order_release);
  round_.store(round, std::memory_order_release);
  round_.notify_all();
  work(0);
  const auto joined =
      static_cast<std::uint32_t>(gate_.fetch_and(~kOpen, std::memory_order_acq_rel) & (kOpen - 1));
  for (std::uint32_t n = finished_.load(std::memory_order_acquire); n < joined;
       n = finished_.load(std::memory_order_acquire))
    wait_while(finished_, n);
}

void ThreadPool::for_each(std::int64_t n_items, const std::function<void(std::int64_t, int)>& body) {
  const std::int64_t shares = kSharesPerThread * size();
  run_section(n_items, std::clamp<std::int64_t>(n_items / shares, 1, kMaxGrain), 0.0, body);
}

void ThreadPool::for_each_in_order(std::int64_t n_items, double chain,
                                   const std::function<void(std::int64_t, int)>& body) {
  run_section(n_items, 1, chain, body);
}

void ThreadPool::run_section(std::int64_t n_items, std::int64_t grain, double chain,
                             const std::function<void(std::int64_t, int)>& body) {
  body_ = &body;
  n_items_ = n_items;
  grain_ = grain;
  next_.store(0, std::memory_order_relaxed);
  std::fill(thread_times_.begin(), thread_times_.end(), ThreadTime{});
  const StopToken::Clock::time_point began = StopToken::Clock::now();
  run_round();
  if (n_items > 1 && max_threads_ >= 2.0) {
    double busy = 0.0, longest = 0.0;
    for (const ThreadTime& time : thread_times_) {
      busy += time.busy;
      longest = std::max(longest, time.longest_item);
    }
    times_.add(seconds_between(began, StopToken::Clock::now()), busy, std::max(longest, chain * busy),
               max_threads_);
  }
  if (failed_.exchange(false)) std::rethrow_exception(error_);
}

double useful_threads(double operations) { return operations / kWorthAThread; }

int threads_for(double operations, int n_threads) {
  return static_cast<int>(std::clamp(useful_threads(operations), 1.0, static_cast<double>(n_threads)));
}

}  // namespace boostkmeans
