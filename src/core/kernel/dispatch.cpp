// The kernels of this build, and those that this machine supports.
#include <cstring>

#include "kernel/kernel.hpp"

namespace boostkmeans {

extern const Kernel kernel_baseline;
#ifdef BK_X86
extern const Kernel kernel_avx2;
extern const Kernel kernel_avx512;
extern const Kernel kernel_avx512vnni;
extern const Kernel kernel_avx512vbmi;
#endif

const Kernel* available_kernel(int n) {
  if (n == 0) return &kernel_baseline;
#ifdef BK_X86
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (n == 1 && avx2) return &kernel_avx2;
  if (n == 2 && avx512) return &kernel_avx512;
  const bool vnni = avx512 && __builtin_cpu_supports("avx512vnni");
  if (n == 3 && vnni) return &kernel_avx512vnni;
  if (n == 4 && vnni && __builtin_cpu_supports("avx512vbmi")) return &kernel_avx512vbmi;
#endif
  return nullptr;
}

const Kernel* find_kernel(const char* name) {
  const Kernel* last = nullptr;
  for (int n = 0; const Kernel* kernel = available_kernel(n); ++n) {
    if (std::strcmp(name, kernel->name) == 0) return kernel;
    last = kernel;
  }
  return *name == '\0' ? last : nullptr;
}

}  // namespace boostkmeans
