#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.hpp"

namespace entrain::sweeping {

/// What goes over a socket between a process and a copy of it.
struct SocketFrame {
  std::uint64_t kind = 0;
  base::Bytes bytes;
};

/// False when the other process has ended.
bool write_frame(int socket, std::uint64_t kind, const base::Bytes& bytes);
std::optional<SocketFrame> read_frame(int socket);

}  // namespace entrain::sweeping
