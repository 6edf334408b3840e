// Memory that is aligned to whole vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "support/alignment.hpp"

namespace boostkmeans {

// An aligned array of a fixed size. Its values are not initialised.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::int64_t size)
      : data_(static_cast<T*>(::operator new[](static_cast<std::size_t>(size) * sizeof(T),
                                               std::align_val_t(kAlignment)))) {}
  T* get() const { return data_.get(); }
  T& operator[](std::int64_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* p) const { ::operator delete[](p, std::align_val_t(kAlignment)); }
  };
  std::unique_ptr<T[], Free> data_;
};

}  // namespace boostkmeans
