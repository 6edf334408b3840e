// Running native work without the GIL, with several threads, Ctrl-C and a deadline.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <limits>
#include <thread>

#include "parallel/thread_pool.hpp"

namespace boostkmeans {
namespace nb = nanobind;

constexpr double kNoDeadline = std::numeric_limits<double>::infinity();

// Python runs signal handlers only in its main thread. Other threads must not poll for signals,
// because acquiring the GIL is fatal to a daemon thread that still runs while the interpreter shuts
// down.
inline bool in_main_thread() {
  const auto main = nb::module_::import_("threading").attr("main_thread")().attr("ident");
  return nb::cast<unsigned long>(main) == PyThread_get_thread_ident();
}

// Releases the GIL for its lifetime. Before Python 3.14, a daemon thread that acquires the GIL while the
// interpreter shuts down is unwound by force, which would abort the process at the first destructor.
// Such a thread sleeps here until the process ends.
class ReleaseGil {
 public:
  ReleaseGil() : state_(PyEval_SaveThread()) {}
  ~ReleaseGil() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
    }
  }
  ReleaseGil(const ReleaseGil&) = delete;
  ReleaseGil(ReleaseGil&&) = delete;
  ReleaseGil& operator=(const ReleaseGil&) = delete;
  ReleaseGil& operator=(ReleaseGil&&) = delete;

 private:
  PyThreadState* state_;
};

// Sums over all calls of the current thread. Callers compare two readings, like those of a clock.
inline SectionTimes& section_times() {
  static thread_local SectionTimes times;
  return times;
}

// Runs `work(pool)` without the GIL and returns true if the deadline ended it. Raises KeyboardInterrupt
// (or the exception of another signal handler) after the work has stopped in a consistent state.
inline bool run(int n_threads, double operations, double seconds_left, auto work) {
  StopToken stop_token(
      [polls = in_main_thread()] {
        if (!polls) return false;
        nb::gil_scoped_acquire lock;
        return PyErr_CheckSignals() != 0;
      },
      seconds_left);
  {
    const ReleaseGil released;
    ThreadPool pool(threads_for(operations, n_threads), stop_token, section_times(),
                    useful_threads(operations));
    work(pool);
  }
  if (stop_token.reason() == StopToken::Reason::interrupted) throw nb::python_error();
  return stop_token.reason() == StopToken::Reason::deadline;
}

}  // namespace boostkmeans
