// Threads that exist for the duration of one call: the constructor starts them, the destructor
// joins them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "parallel/pause.hpp"
#include "parallel/section_times.hpp"
#include "parallel/stop_token.hpp"
#include "support/alignment.hpp"

namespace boostkmeans {

class ThreadPool {
 public:
  // `max_threads` is the number of threads beyond which another thread would not pay (see
  // useful_threads). If it is below 2, all sections count as serial. Otherwise the times of the
  // sections are added to `times`.
  ThreadPool(int n_threads, StopToken& stop_token, SectionTimes& times, double max_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool(ThreadPool&&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ThreadPool& operator=(ThreadPool&&) = delete;

  // Number of threads, including the calling thread.
  int size() const { return static_cast<int>(threads_.size()) + 1; }
  StopToken& stop_token() const { return stop_token_; }

  // Calls body(item, thread) for all items in [0, n_items), in no particular order, until a stop is
  // requested. The calling thread is thread 0. If a call throws, the exception is rethrown here after
  // all threads have finished.
  void for_each(std::int64_t n_items, const std::function<void(std::int64_t, int)>& body);
  // As for_each, for items that may wait for earlier items. Threads take the items one by one, in
  // order, so that the first unfinished item never waits. A waiting item must return once `abandoned`
  // is true. `chain` is the length of the longest chain of items that wait for each other, as a share
  // of all items.
  void for_each_in_order(std::int64_t n_items, double chain,
                         const std::function<void(std::int64_t, int)>& body);
  // Returns true if items may be left out, because a stop was requested or an item failed.
  bool abandoned() const { return failed_.load(std::memory_order_relaxed) || stop_token_.stopped(); }
  // Called by an item that has waited for an earlier item. The time does not count as work.
  void add_waiting_time(int thread, StopToken::Clock::duration time) {
    thread_times_[static_cast<std::size_t>(thread)].waiting +=
        std::chrono::duration<double>(time).count();
  }

 private:
  // Time that a thread spent on the items of the current round. Threads write it, so that each has a
  // cache line of its own.
  struct alignas(kAlignment) ThreadTime {
    double busy = 0.0, longest_item = 0.0, waiting = 0.0;
  };

  void serve(int thread);
  void work(int thread);
  void run_section(std::int64_t n_items, std::int64_t grain, double chain,
                   const std::function<void(std::int64_t, int)>& body);
  void run_round();
  bool join(std::uint32_t round);
  void close();

  StopToken& stop_token_;
  SectionTimes& times_;
  const double max_threads_;
  std::vector<ThreadTime> thread_times_;
  std::vector<std::thread> threads_;
  // The current round, that is, the current call of for_each.
  const std::function<void(std::int64_t, int)>* body_ = nullptr;
  std::int64_t n_items_ = 0;
  std::int64_t grain_ = 1;  // number of neighbouring items that a thread takes at a time
  std::atomic<std::uint32_t> round_{0};
  // Number of the round (upper 32 bits), whether it is open (one bit), and the number of threads
  // that joined it. A thread without processor time joins late or not at all. The round does not
  // wait for it.
  std::atomic<std::uint64_t> gate_{0};
  std::atomic<std::uint32_t> finished_{0};  // threads that joined the round and are done
  std::atomic<bool> closing_{false};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
  // Next item. All threads write it, so it has a cache line of its own.
  alignas(kAlignment) std::atomic<std::int64_t> next_{0};
};

// Returns the number of threads that is efficient for this number of operations on a machine with any
// number of processors. It may be below 1.
double useful_threads(double operations);
// Returns the number of threads, at most n_threads, that is efficient for this number of
// operations.
int threads_for(double operations, int n_threads);

}  // namespace boostkmeans
