#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "outside/link.hpp"

namespace entrain::outside {
namespace {

constexpr std::size_t kSlots = 64;
constexpr std::size_t kSlotBytes = 8192;

/// One datagram. `number` is 0 while it is written.
struct Slot {
  std::atomic<std::uint64_t> number;
  std::uint32_t size;
  std::uint32_t reserved;
  std::array<std::byte, kSlotBytes> bytes;
};
/// From one side to the other; memory that is all zero is an empty one. Datagram n lies in slot n mod 64.
struct Channel {
  std::atomic<std::uint64_t> written;  ///< the number of the latest datagram
  std::atomic<std::uint32_t> bell;     ///< its low half: a futex
  std::uint32_t reserved;
  std::array<Slot, kSlots> slots;
};
struct SharedArea {
  Channel to_rig, to_run;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(Slot) == 16 + kSlotBytes);

[[noreturn]] void fail_shared(const char* what, const std::string& address, const std::string& why) {
  throw Error(ErrorCode::SubsystemFailed,
              {FactCode::RigLinkFailed, {}, {{"what", what}, {"address", address}, {"why", why}}});
}

class SharedLink final : public Link {
 public:
  SharedLink(const std::string& name, LinkEnd end)
      : address_("shared memory '" + name + "'"), file_("/entrain-" + name), end_(end) {
    descriptor_ = ::shm_open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (descriptor_ < 0) fail_shared("open", address_, std::strerror(errno));
    try {
      take_place();
      map_area();
    } catch (...) {
      ::close(descriptor_);
      throw;
    }
    incoming_ = end == LinkEnd::Run ? &area_->to_run : &area_->to_rig;
    outgoing_ = end == LinkEnd::Run ? &area_->to_rig : &area_->to_run;
    next_ = incoming_->written.load(std::memory_order_acquire) + 1;  // what lies there is of an earlier run
  }
  ~SharedLink() override {
    ::munmap(area_, sizeof(SharedArea));
    if (end_ == LinkEnd::Rig) ::shm_unlink(file_.c_str());
    ::close(descriptor_);
  }
  SharedLink(const SharedLink&) = delete;
  SharedLink& operator=(const SharedLink&) = delete;

  bool send(std::span<const std::byte> bytes) noexcept override {
    if (bytes.size() > kSlotBytes) return false;
    const std::uint64_t number = outgoing_->written.load(std::memory_order_relaxed) + 1;
    Slot& slot = outgoing_->slots[number % kSlots];
    slot.number.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    slot.size = static_cast<std::uint32_t>(bytes.size());
    std::memcpy(slot.bytes.data(), bytes.data(), bytes.size());
    slot.number.store(number, std::memory_order_release);
    outgoing_->written.store(number, std::memory_order_release);
    outgoing_->bell.store(static_cast<std::uint32_t>(number), std::memory_order_release);
    ::syscall(SYS_futex, &outgoing_->bell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    return true;
  }

  std::span<const std::byte> receive(std::int64_t deadline) noexcept override {
    for (;;) {
      const std::uint32_t bell = incoming_->bell.load(std::memory_order_acquire);
      const std::uint64_t written = incoming_->written.load(std::memory_order_acquire);
      if (written >= next_) {
        if (written - next_ >= kSlots) next_ = written - kSlots / 2;  // too late for the others: they are lost
        if (const auto size = copy(next_++)) return std::span(buffer_).first(*size);
        continue;
      }
      const std::int64_t left = deadline - instant_now();
      if (left <= 0 || !wait(bell, left)) return {};
    }
  }

  const std::string& address() const noexcept override { return address_; }

 private:
  /// Each side once: byte 0 of the file is the place of the run, byte 1 that of the rig.
  void take_place() const {
    struct flock place {};
    place.l_type = F_WRLCK;
    place.l_whence = SEEK_SET;
    place.l_start = end_ == LinkEnd::Run ? 0 : 1;
    place.l_len = 1;
    if (::fcntl(descriptor_, F_OFD_SETLK, &place) != 0) fail_shared("use", address_, "another process uses it");
  }

  void map_area() {
    struct stat file {};
    if (::fstat(descriptor_, &file) != 0) fail_shared("open", address_, std::strerror(errno));
    if (file.st_uid != ::geteuid()) fail_shared("use", address_, "it belongs to another user");
    const auto size = static_cast<off_t>(sizeof(SharedArea));
    if (file.st_size != 0 && file.st_size != size) fail_shared("use", address_, "it has another size");
    if (file.st_size == 0 && ::ftruncate(descriptor_, size) != 0) fail_shared("make", address_, std::strerror(errno));
    void* memory = ::mmap(nullptr, sizeof(SharedArea), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (memory == MAP_FAILED) fail_shared("map", address_, std::strerror(errno));
    area_ = static_cast<SharedArea*>(memory);
  }

  /// Nothing when it was overwritten meanwhile.
  std::optional<std::size_t> copy(std::uint64_t number) noexcept {
    const Slot& slot = incoming_->slots[number % kSlots];
    if (slot.number.load(std::memory_order_acquire) != number) return std::nullopt;
    const std::size_t size = std::min<std::size_t>(slot.size, kSlotBytes);
    std::memcpy(buffer_.data(), slot.bytes.data(), size);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (slot.number.load(std::memory_order_relaxed) != number || size == 0) return std::nullopt;
    return size;
  }

  /// False when a signal arrived.
  bool wait(std::uint32_t bell, std::int64_t nanoseconds) const noexcept {
    const timespec limit{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    const bool woken = ::syscall(SYS_futex, &incoming_->bell, FUTEX_WAIT, bell, &limit, nullptr, 0) == 0;
    return woken || errno != EINTR;
  }

  std::string address_;
  std::string file_;
  LinkEnd end_;
  int descriptor_ = -1;
  SharedArea* area_ = nullptr;
  Channel* incoming_ = nullptr;
  Channel* outgoing_ = nullptr;
  std::uint64_t next_ = 1;
  std::array<std::byte, kSlotBytes> buffer_{};
};

}  // namespace

std::unique_ptr<Link> open_shared(const OutsideDescription& description, LinkEnd end) {
  return std::make_unique<SharedLink>(description.name.value, end);
}

}  // namespace entrain::outside
