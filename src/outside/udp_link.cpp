#include <fmt/format.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/internet_address.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "outside/datagram.hpp"
#include "outside/link.hpp"

namespace entrain::outside {
namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;

[[noreturn]] void fail_link(const char* what, const std::string& address, int error) {
  throw Error(ErrorCode::SubsystemFailed,
              {FactCode::RigLinkFailed, {}, {{"what", what}, {"address", address}, {"why", std::strerror(error)}}});
}

base::InternetAddress address_of(const Written<std::string>& written) {
  std::string why;
  if (auto address = base::parse_address(written.value, why)) return *address;
  throw Error(ErrorCode::InvalidSystem, {FactCode::AddressWrong, {"udp"}, {{"value", written.value}, {"why", why}}});
}

/// A descriptor that is closed.
class Socket {
 public:
  Socket() = default;
  /// Bound to the address, which two sockets of this process share.
  explicit Socket(const base::InternetAddress& local)
      : descriptor_(::socket(local.family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    if (descriptor_ < 0) fail_link("open a socket for", local.text, errno);
    const int on = 1;
    ::setsockopt(descriptor_, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
    if (::bind(descriptor_, local.get(), local.size) == 0) return;
    const int error = errno;
    ::close(descriptor_);
    fail_link("listen at", local.text, error);
  }
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

/// No other process listens there: sockets that may share an address would take each other's datagrams.
void require_free(const base::InternetAddress& local) {
  const int probe = ::socket(local.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe < 0) fail_link("open a socket for", local.text, errno);
  const int error = ::bind(probe, local.get(), local.size) == 0 ? 0 : errno;
  ::close(probe);
  if (error != 0) fail_link("listen at", local.text, error);
}

/// The connected socket gets what comes from the other side, a second one at the same address everything else: the
/// kernel prefers the connected one for datagrams of its peer. What the second one gets is counted and never read while
/// the run goes on; when its buffer is full, the kernel counts.
class UdpLink final : public Link {
 public:
  UdpLink(const base::InternetAddress& local, const base::InternetAddress& remote)
      : address_((require_free(local), remote.text)), foreign_(local), connected_(local), buffer_(kLongestDatagram) {
    if (::connect(connected_.get(), remote.get(), remote.size) != 0) fail_link("reach", remote.text, errno);
    // What came before the socket was connected may be from anywhere.
    while (::recv(connected_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT) >= 0 || errno == ECONNREFUSED) {
    }
  }

  bool send(std::span<const std::byte> bytes) noexcept override {
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (::send(connected_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return true;
      if (errno != ECONNREFUSED && errno != EINTR) return false;  // the first of an earlier datagram: not of this one
    }
    return false;
  }

  std::span<const std::byte> receive(std::int64_t deadline) noexcept override {
    for (;;) {
      const auto size = ::recv(connected_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT | MSG_TRUNC);
      // A longer one than there may be is no datagram of ours: its length alone makes it invalid.
      if (size > 0) return std::span(buffer_).first(std::min(static_cast<std::size_t>(size), buffer_.size()));
      if (size == 0 || errno == ECONNREFUSED) continue;
      const std::int64_t left = deadline - instant_now();
      if (left <= 0) return {};
      pollfd waited{connected_.get(), POLLIN, 0};
      const timespec limit{left / kNanoseconds, left % kNanoseconds};
      if (::ppoll(&waited, 1, &limit, nullptr) < 0) return {};
    }
  }

  std::uint64_t foreign() noexcept override {
    // At most what the buffer of the socket can hold, so that this ends however fast they come.
    constexpr int kMost = 4096;
    std::array<std::byte, 1> nothing{};
    for (int i = 0; i < kMost && ::recv(foreign_.get(), nothing.data(), 0, MSG_DONTWAIT) >= 0; ++i) ++read_;
    std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
    socklen_t size = sizeof(memory);
    if (::getsockopt(foreign_.get(), SOL_SOCKET, SO_MEMINFO, memory.data(), &size) != 0) return read_;
    return read_ + memory[SK_MEMINFO_DROPS];
  }

  const std::string& address() const noexcept override { return address_; }

 private:
  std::string address_;
  Socket foreign_;
  Socket connected_;
  std::vector<std::byte> buffer_;
  std::uint64_t read_ = 0;
};

}  // namespace

std::int64_t instant_now() noexcept {
  timespec at{};
  ::clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * kNanoseconds + at.tv_nsec;
}

std::int64_t instant_after(std::int64_t from, Duration seconds) noexcept {
  constexpr double kLongest = 1e8;
  return from + static_cast<std::int64_t>(std::min(seconds, kLongest) * static_cast<double>(kNanoseconds));
}

std::unique_ptr<Link> open_udp(const OutsideDescription& description, LinkEnd end) {
  const auto run = address_of(description.local);
  const auto rig = address_of(description.remote);
  return end == LinkEnd::Run ? std::make_unique<UdpLink>(run, rig) : std::make_unique<UdpLink>(rig, run);
}

std::unique_ptr<Link> open_link(const OutsideDescription& description, LinkEnd end) {
  return description.name.value.empty() ? open_udp(description, end) : open_shared(description, end);
}

}  // namespace entrain::outside
