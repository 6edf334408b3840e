// The kernels of this build, and those that this machine supports.
#include <cstring>

#include "kernel/kernel.hpp"
#include "kernel/processor.hpp"

namespace boostkmeans {

extern const Kernel kernel_baseline;
#ifdef BK_X86
extern const Kernel kernel_avx2;
extern const Kernel kernel_avx512;
extern const Kernel kernel_avx512vnni;
extern const Kernel kernel_avx512vbmi;
#elif defined(BK_ARM64)
extern const Kernel kernel_dotprod;
#endif

const Kernel* available_kernel(int n) {
  if (n == 0) return &kernel_baseline;
  [[maybe_unused]] const Processor& processor = this_processor();
#ifdef BK_X86
  if (n == 1 && processor.avx2) return &kernel_avx2;
  if (n == 2 && processor.avx512) return &kernel_avx512;
  if (n == 3 && processor.avx512_vnni) return &kernel_avx512vnni;
  if (n == 4 && processor.avx512_vnni && processor.avx512_vbmi) return &kernel_avx512vbmi;
#elif defined(BK_ARM64)
  if (n == 1 && processor.dot_products) return &kernel_dotprod;
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
