// Threads that live as long as one call: started by the constructor, joined by the destructor.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "kernel/kernel.hpp"
#include "parallel/stop_token.hpp"

namespace boostkmeans {

class Team {
 public:
  Team(int n_threads, Watch& watch);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }
  Watch& watch() const { return watch_; }

  // body(item, thread) for every item, in no particular order, until the watch says stop. The
  // calling thread takes its share. An exception in any thread is thrown here, after all have ended.
  void for_each(std::int64_t n_items, const std::function<void(std::int64_t, int)>& body);

 private:
  void serve(int thread);
  void work(int thread);
  bool join(std::uint32_t round);
  void close();

  Watch& watch_;
  std::vector<std::thread> threads_;
  const std::function<void(std::int64_t, int)>* body_ = nullptr;
  std::int64_t n_items_ = 0;
  std::int64_t grain_ = 1;
  std::atomic<std::uint32_t> round_{0};
  // Who takes part in a round: its number, whether it is open, and how many joined. A thread that has no
  // processor when its turn comes joins late or not at all, and nobody waits for it.
  std::atomic<std::uint64_t> gate_{0};
  std::atomic<std::uint32_t> finished_{0};
  std::atomic<bool> closing_{false};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
  alignas(kAlignment) std::atomic<std::int64_t> next_{0};  // written by all: on a line of its own
};

// A row to be fetched, for each thread.
template <class Rows>
std::vector<typename Rows::Row> row_for_each_thread(const Rows& rows, const Team& team) {
  std::vector<typename Rows::Row> fetched;
  for (int t = 0; t < team.size(); ++t) fetched.emplace_back(rows);
  return fetched;
}

// As many threads as the work feeds: below kWorthAThread operations each, starting one costs more.
int threads_for(double operations, int n_threads);

}  // namespace boostkmeans
