#include "base/guarded_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace entrain::base {
namespace {

std::size_t page() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

/// With a page before and one behind. The address space ends long before the sum would overflow.
std::size_t with_guards(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
  return (bytes + page() - 1) / page() * page() + 2 * page();
}

}  // namespace

void* allocate_guarded(std::size_t bytes) {
  const std::size_t whole = with_guards(bytes);
  void* begin = ::mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED) throw std::bad_alloc();
  auto* memory = static_cast<std::byte*>(begin) + page();
  if (bytes > 0 && ::mprotect(memory, whole - 2 * page(), PROT_READ | PROT_WRITE) != 0) {
    ::munmap(begin, whole);
    throw std::bad_alloc();
  }
  return memory;
}

void free_guarded(void* memory, std::size_t bytes) noexcept {
  ::munmap(static_cast<std::byte*>(memory) - page(), with_guards(bytes));
}

}  // namespace entrain::base
