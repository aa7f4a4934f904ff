#pragma once

#include <sys/socket.h>

#include <optional>
#include <string>
#include <string_view>

namespace entrain::base {

/// A numeric address with a port, ready for a socket. Names are not looked up.
struct InternetAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  std::string text;  ///< "127.0.0.1:9001", "[::1]:9001"

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
};

/// "127.0.0.1:9001", "[::1]:9001"; a port alone, "9001" or ":9001", is on loopback. Nothing, and `why`, for a text that
/// is none.
std::optional<InternetAddress> parse_address(std::string_view text, std::string& why);

}  // namespace entrain::base
