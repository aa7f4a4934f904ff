#include "studio/guard.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <stdexcept>

namespace entrain::studio {
namespace {

constexpr std::string_view kCookieName = "entrain-studio";
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kBytes = "application/octet-stream";

}  // namespace

std::string random_secret() {
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw std::runtime_error("the system has no random numbers");
  }
  std::string text;
  for (const auto byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

bool equal_secrets(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0U : 1U;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(other);
  }
  return difference == 0;
}

Guard::Guard(std::string address, int port)
    : address_(std::move(address)), port_(port), token_(random_secret()), session_(random_secret()) {}

std::string Guard::cookie() const {
  // Cookies know no ports: the port in the name distinguishes two studios.
  return fmt::format("{}-{}={}; Path=/; HttpOnly; SameSite=Strict", kCookieName, port_, session_);
}

std::string Guard::origin() const {
  return fmt::format("http://{}:{}", address_, port_);
}

bool Guard::is_own_host(std::string_view host) const {
  return host == fmt::format("{}:{}", address_, port_) || host == fmt::format("localhost:{}", port_);
}

bool Guard::has_cookie(std::string_view header) const {
  const std::string name = fmt::format("{}-{}=", kCookieName, port_);
  while (!header.empty()) {
    const auto end = std::min(header.find(';'), header.size());
    std::string_view one = header.substr(0, end);
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (one.starts_with(name) && equal_secrets(one.substr(name.size()), session_)) return true;
    header.remove_prefix(std::min(end + 1, header.size()));
  }
  return false;
}

GuardDecision Guard::decide(const RequestHead& head) const {
  if (!is_own_host(head.host)) return {403, "the name of the host is not that of this server"};
  if (head.method != "GET" && head.method != "POST") return {405, "only GET and POST are answered"};
  const bool has_own_origin =
      head.origin.starts_with("http://") && is_own_host(std::string_view(head.origin).substr(7));
  if (!head.origin.empty() && !has_own_origin) return {403, "the request comes from a page of another site"};
  const bool is_own_site = head.fetch_site.empty() || head.fetch_site == "same-origin" || head.fetch_site == "none";
  const bool is_entrance = head.path == "/" && head.method == "GET";
  // A link to the printed address may stand in any page: it leads to the page itself, and to nothing else.
  if (!is_own_site && !is_entrance) return {403, "the request comes from a page of another site"};
  if (is_entrance && equal_secrets(head.token, token_)) return {200, {}, true};
  if (!has_cookie(head.cookie)) return {403, "open the address that 'entrain studio' printed: it has the token"};
  if (head.method == "POST") {
    if (!has_own_origin) return {403, "the origin of the request is missing"};
    if (head.content_type != kJson && head.content_type != kBytes)
      return {415, "the content is neither JSON nor a file"};
  }
  return {};
}

}  // namespace entrain::studio
