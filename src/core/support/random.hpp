// SplitMix64: random numbers that depend on a seed and a counter only.
#pragma once

#include <cstdint>

namespace boostkmeans {

inline std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Number n of the stream of this seed.
inline std::uint64_t random_at(std::uint64_t seed, std::uint64_t n) {
  return mix(seed + (n + 1) * 0x9e3779b97f4a7c15u);
}

// An integer in [0, n) from random bits.
inline std::int64_t random_below(std::uint64_t bits, std::int64_t n) {
  return static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(n));
}

// The stream of a seed, number by number.
class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t bits() { return random_at(seed_, n_++); }
  // In [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

 private:
  std::uint64_t seed_;
  std::uint64_t n_ = 0;
};

}  // namespace boostkmeans
