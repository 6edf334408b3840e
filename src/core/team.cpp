#include "team.hpp"

#include <algorithm>

namespace boostkmeans {

namespace {

// About 50 microseconds of multiply-adds: what starting and joining a thread costs.
constexpr double kWorthAThread = 2e6;
// How often a thread looks before it sleeps. Rounds follow each other within microseconds.
constexpr int kSpins = 2000;

template <class T>
void wait_while(const std::atomic<T>& value, T old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

}  // namespace

Team::Team(int n_threads, Watch& watch) : watch_(watch) {
  threads_.reserve(static_cast<std::size_t>(std::max(0, n_threads - 1)));
  try {
    for (int i = 1; i < n_threads; ++i) threads_.emplace_back([this, i] { serve(i); });
  } catch (...) {
    close();  // the system has no more threads: let go of those it gave
    throw;
  }
}

Team::~Team() { close(); }

void Team::close() {
  closing_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void Team::serve(int thread) {
  for (std::uint32_t seen = 0;; ++seen) {
    wait_while(round_, seen);
    if (closing_) return;
    work(thread);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

void Team::work(int thread) {
  try {
    while (!failed_.load(std::memory_order_relaxed)) {
      if (thread == 0 ? watch_.check() : watch_.stopped()) return;
      const std::int64_t item = next_.fetch_add(1, std::memory_order_relaxed);
      if (item >= n_items_) return;
      (*body_)(item, thread);
    }
  } catch (...) {
    if (!failed_.exchange(true)) error_ = std::current_exception();
  }
}

void Team::for_each(std::int64_t n_items, const std::function<void(std::int64_t, int)>& body) {
  body_ = &body;
  n_items_ = n_items;
  next_.store(0, std::memory_order_relaxed);
  const int others = static_cast<int>(threads_.size());
  if (others > 0 && n_items > 1) {
    busy_.store(others, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    work(0);
    for (int left = busy_.load(std::memory_order_acquire); left > 0;
         left = busy_.load(std::memory_order_acquire))
      wait_while(busy_, left);
  } else {
    work(0);
  }
  if (failed_.exchange(false)) std::rethrow_exception(error_);
}

int threads_for(double operations, int n_threads) {
  return static_cast<int>(std::clamp(operations / kWorthAThread, 1.0, static_cast<double>(n_threads)));
}

}  // namespace boostkmeans
