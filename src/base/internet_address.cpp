#include "base/internet_address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <charconv>
#include <cstring>

namespace entrain::base {
namespace {

std::optional<std::uint16_t> port_number(std::string_view text) {
  std::uint16_t port = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool whole = read.ec == std::errc{} && read.ptr == text.data() + text.size();
  return whole && port > 0 ? std::optional(port) : std::nullopt;
}

template <class Socket>
InternetAddress address_of(const Socket& from, std::string text) {
  InternetAddress address;
  std::memcpy(&address.storage, &from, sizeof(from));
  address.size = sizeof(from);
  address.text = std::move(text);
  return address;
}

}  // namespace

std::optional<InternetAddress> parse_address(std::string_view text, std::string& why) {
  if (text.empty()) {
    why = "it is missing";
    return std::nullopt;
  }
  const auto colon = text.rfind(':');
  const std::string host(colon == std::string_view::npos || colon == 0 ? "127.0.0.1" : text.substr(0, colon));
  const auto port = port_number(colon == std::string_view::npos ? text : text.substr(colon + 1));
  if (!port) {
    why = "the port is no number from 1 to 65535";
    return std::nullopt;
  }
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(*port);
  if (::inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1)
    return address_of(four, fmt::format("{}:{}", host, *port));
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(*port);
  const bool in_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const std::string inner = in_brackets ? host.substr(1, host.size() - 2) : std::string();
  if (in_brackets && ::inet_pton(AF_INET6, inner.c_str(), &six.sin6_addr) == 1)
    return address_of(six, fmt::format("{}:{}", host, *port));
  why = "the host is no numeric address";
  return std::nullopt;
}

}  // namespace entrain::base
