#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace entrain::base {

/// Pages of their own between two that must not be touched: foreign code that writes beyond the end of its memory ends
/// there, and does not change what lies here. Throws std::bad_alloc.
void* allocate_guarded(std::size_t bytes);
void free_guarded(void* memory, std::size_t bytes) noexcept;

/// For containers that hold what must not be lost, in a process with foreign code.
template <class T>
struct GuardedMemory {
  using value_type = T;

  GuardedMemory() = default;
  template <class Other>
  // NOLINTNEXTLINE(google-explicit-constructor): containers convert allocators
  GuardedMemory(const GuardedMemory<Other>& /*other*/) noexcept {}

  T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(allocate_guarded(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) noexcept { free_guarded(memory, count * sizeof(T)); }
  bool operator==(const GuardedMemory&) const = default;
};

template <class T>
using GuardedVector = std::vector<T, GuardedMemory<T>>;

}  // namespace entrain::base
