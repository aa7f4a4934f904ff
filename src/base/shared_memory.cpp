#include "base/shared_memory.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>
#include <system_error>

namespace entrain::base {
namespace {

constexpr std::size_t kPage = 4096;

std::size_t whole_pages(std::size_t size) {
  return (size + kPage - 1) / kPage * kPage;
}

[[noreturn]] void fail_memory(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

[[noreturn]] void refuse_segment() {
  errno = EINVAL;
  fail_memory("shared memory");
}

long futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* limit) {
  return ::syscall(SYS_futex, &word, operation, value, limit, nullptr, 0);
}

}  // namespace

int SharedMemory::new_file(std::size_t first) {
  const int descriptor = ::memfd_create("entrain", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) fail_memory("shared memory");
  // The other process may only grow it: a process that touches what has been cut off dies.
  if (::ftruncate(descriptor, static_cast<off_t>(whole_pages(first))) == 0 &&
      ::fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) == 0) {
    return descriptor;
  }
  const int error = errno;
  ::close(descriptor);
  errno = error;
  fail_memory("shared memory");
}

SharedMemory::~SharedMemory() {
  for (const auto& [offset, memory] : mapped_) ::munmap(memory.data(), memory.size());
  ::close(descriptor_);
}

Segment SharedMemory::allocate(std::atomic<std::uint64_t>& end, std::size_t size) {
  const Segment segment{end.fetch_add(whole_pages(size)), whole_pages(size)};
  if (::fallocate(descriptor_, 0, static_cast<off_t>(segment.offset), static_cast<off_t>(segment.size)) != 0) {
    fail_memory("shared memory");
  }
  return segment;
}

std::byte* SharedMemory::map(const Segment& segment) {
  const std::lock_guard lock(mutex_);
  if (const auto known = mapped_.find(segment.offset); known != mapped_.end()) {
    if (segment.size > known->second.size()) refuse_segment();
    return known->second.data();
  }
  struct stat file {};
  if (::fstat(descriptor_, &file) != 0) fail_memory("shared memory");
  const auto end = static_cast<std::uint64_t>(file.st_size);
  if (segment.offset > end || segment.size > end - segment.offset) refuse_segment();
  void* address = ::mmap(nullptr, segment.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_,
                         static_cast<off_t>(segment.offset));
  if (address == MAP_FAILED) fail_memory("shared memory");
  const std::span<std::byte> memory(static_cast<std::byte*>(address), segment.size);
  mapped_.insert({segment.offset, memory});
  return memory.data();
}

bool wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t value, Duration seconds) {
  const auto whole = static_cast<time_t>(seconds);
  const timespec limit{whole, static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
  return futex(word, FUTEX_WAIT, value, &limit) == 0 || errno != ETIMEDOUT;
}

void wake(const std::atomic<std::uint32_t>& word) {
  futex(word, FUTEX_WAKE, INT_MAX, nullptr);
}

}  // namespace entrain::base
