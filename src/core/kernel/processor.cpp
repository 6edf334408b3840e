#include "kernel/processor.hpp"

#if defined(BK_X86)
#include <cpuid.h>
#include <cstdint>
#elif defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#elif defined(__APPLE__)
#include <cstddef>
#include <sys/sysctl.h>
#elif defined(_WIN32)
#include <windows.h>
#endif

namespace boostkmeans {

namespace {

#if defined(BK_X86)

// __builtin_cpu_supports needs a library that clang-cl does not link.
struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(unsigned leaf) {
  Registers found;
  if (__get_cpuid_count(leaf, 0, &found.a, &found.b, &found.c, &found.d) == 0) return {};
  return found;
}

// Returns XCR0: the sets of registers that the operating system saves. Valid if CPUID reports OSXSAVE.
std::uint64_t saved_registers() {
  std::uint32_t low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

constexpr bool has_bit(std::uint64_t value, int bit) { return (value >> bit & 1) != 0; }

Processor detect() {
  constexpr std::uint64_t kYmm = 0x06, kZmm = 0xe6;  // bits of XCR0
  const Registers basic = cpuid(1), extended = cpuid(7);
  const std::uint64_t saved = has_bit(basic.c, 27) ? saved_registers() : 0;
  Processor found;
  found.avx2 = (saved & kYmm) == kYmm && has_bit(basic.c, 12) && has_bit(extended.b, 5);
  found.avx512 = found.avx2 && (saved & kZmm) == kZmm && has_bit(extended.b, 16) &&
                 has_bit(extended.b, 17) && has_bit(extended.b, 30) && has_bit(extended.b, 31);
  found.avx512_vnni = found.avx512 && has_bit(extended.c, 11);
  found.avx512_vbmi = found.avx512 && has_bit(extended.c, 1);
  return found;
}

#elif defined(__aarch64__) && defined(__linux__)

Processor detect() {
  Processor found;
  found.dot_products = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
  return found;
}

#elif defined(__aarch64__) && defined(__APPLE__)

Processor detect() {
  int value = 0;
  std::size_t size = sizeof value;
  Processor found;
  found.dot_products =
      sysctlbyname("hw.optional.arm.FEAT_DotProd", &value, &size, nullptr, 0) == 0 && value != 0;
  return found;
}

#elif defined(__aarch64__) && defined(_WIN32)

Processor detect() {
  Processor found;
  found.dot_products = IsProcessorFeaturePresent(PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE) != 0;
  return found;
}

#else

Processor detect() { return {}; }

#endif

}  // namespace

const Processor& this_processor() {
  static const Processor found = detect();
  return found;
}

}  // namespace boostkmeans
