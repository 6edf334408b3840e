// A hint to the processor that a thread waits in a loop.
#pragma once

namespace boostkmeans {

// Leaves the execution units to another thread of the same core for a moment.
inline void pause() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

}  // namespace boostkmeans
