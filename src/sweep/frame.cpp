#include "sweep/frame.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace entrain::sweeping {
namespace {

struct FrameHead {
  std::uint64_t size = 0;
  std::uint64_t kind = 0;
};

bool read_all(int socket, void* to, std::size_t size) {
  auto* next = static_cast<std::byte*>(to);
  while (size > 0) {
    const auto got = ::read(socket, next, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(int socket, const void* from, std::size_t size) {
  const auto* next = static_cast<const std::byte*>(from);
  while (size > 0) {
    const auto put = ::send(socket, next, size, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    next += put;
    size -= static_cast<std::size_t>(put);
  }
  return true;
}

}  // namespace

bool write_frame(int socket, std::uint64_t kind, const base::Bytes& bytes) {
  const FrameHead head{bytes.size(), kind};
  return write_all(socket, &head, sizeof head) && write_all(socket, bytes.data(), bytes.size());
}

std::optional<SocketFrame> read_frame(int socket) {
  FrameHead head;
  if (!read_all(socket, &head, sizeof head)) return std::nullopt;
  SocketFrame frame{head.kind, base::Bytes(head.size)};
  if (!read_all(socket, frame.bytes.data(), frame.bytes.size())) return std::nullopt;
  return frame;
}

}  // namespace entrain::sweeping
