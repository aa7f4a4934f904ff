#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/printable.hpp"
#include "description/ssp_file.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::description {
namespace {

[[noreturn]] void refuse(FactCode code, std::string_view uri) {
  throw Error(ErrorCode::InvalidSystem, {code, {base::printable(uri)}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Name a file of the package or beside it"});
}

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

std::string decoded(std::string_view uri) {
  std::string text;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    const auto high = uri[i] == '%' && i + 2 < uri.size() ? hex_digit(uri[i + 1]) : std::nullopt;
    const auto low = high ? hex_digit(uri[i + 2]) : std::nullopt;
    if (low) {
      text += static_cast<char>(*high * 16 + *low);
      i += 2;
    } else {
      text += uri[i] == '\\' ? '/' : uri[i];  // some tools on Windows write paths of that system
    }
  }
  return text;
}

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~/").find(c) != std::string_view::npos;
}

}  // namespace

std::filesystem::path path_of_uri(std::string_view uri, std::string& fragment) {
  const auto hash = uri.find('#');
  fragment = hash == std::string_view::npos ? "" : decoded(uri.substr(hash + 1));
  std::string_view rest = uri.substr(0, hash);
  const auto colon = rest.find(':');
  if (colon != std::string_view::npos && rest.find('/') > colon) {
    if (rest.substr(0, colon) != "file") refuse(FactCode::SourceScheme, uri);
    rest.remove_prefix(colon + 1);
    if (rest.starts_with("//")) {
      const auto path = rest.find('/', 2);
      const auto host = rest.substr(2, path == std::string_view::npos ? path : path - 2);
      if (!host.empty() && host != "localhost") refuse(FactCode::SourceRemote, uri);
      rest.remove_prefix(std::min(path, rest.size()));
    }
  }
  std::string path = decoded(rest);
  const bool has_control =
      std::any_of(path.begin(), path.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (has_control || !base::is_utf8(path)) refuse(FactCode::SourceNoPath, uri);
  return std::filesystem::path(std::move(path)).lexically_normal();
}

std::string uri_of_path(const std::filesystem::path& path) {
  std::string uri;
  for (const char c : path.string()) {
    uri += is_unreserved(c) ? std::string(1, c)
                            : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return uri;
}

}  // namespace entrain::description
