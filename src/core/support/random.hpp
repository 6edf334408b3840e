// SplitMix64: random numbers that depend only on a seed and a counter.
#pragma once

#include <cstdint>

namespace boostkmeans {

inline std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Returns the n-th number of the stream with this seed.
inline std::uint64_t random_at(std::uint64_t seed, std::uint64_t n) {
  return mix(seed + (n + 1) * 0x9e3779b97f4a7c15u);
}

// Returns an integer in [0, n), computed from random bits.
inline std::int64_t random_below(std::uint64_t bits, std::int64_t n) {
  return static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(n));
}

// Generator of the stream with a given seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t bits() { return random_at(seed_, n_++); }
  // Returns a number in [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

 private:
  std::uint64_t seed_;
  std::uint64_t n_ = 0;
};

}  // namespace boostkmeans
