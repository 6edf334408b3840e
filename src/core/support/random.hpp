// SplitMix64: a stream of random bits from a seed. The policy (which seed, when) is the caller's.
#pragma once

#include <cstdint>

namespace boostkmeans {

inline std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The n-th number of the stream.
inline std::uint64_t random_at(std::uint64_t seed, std::uint64_t n) {
  return mix(seed + (n + 1) * 0x9e3779b97f4a7c15u);
}

// In [0, n).
inline std::int64_t random_below(std::uint64_t bits, std::int64_t n) {
  return static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(n));
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t bits() { return random_at(seed_, n_++); }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // [0, 1)

 private:
  std::uint64_t seed_;
  std::uint64_t n_ = 0;
};

}  // namespace boostkmeans
