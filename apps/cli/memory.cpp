// The program's own operator new: as the standard one, and an allocation that fails is known by its size. FMUs that
// share the C++ library of the program use it, too.
#include <cstdlib>
#include <new>

#include "entrain/watchdog.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)  // they have their own

void* operator new(std::size_t bytes) {
  for (;;) {
    if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
    const auto handler = std::get_new_handler();
    if (handler == nullptr) break;
    handler();
  }
  entrain::note_refused_memory(bytes);
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

#endif
