#include "subsystem/fmi/callbacks.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "subsystem/fmi/live_environments.hpp"
#include "subsystem/fmi/log_references.hpp"

namespace entrain::subsystem {
namespace {

/// FMUs pass messages with '%' in them that are no formats, and %n writes to memory.
bool is_harmless_format(std::string_view text) {
  constexpr std::string_view kFlags = "-+ #0123456789.*'hlLqjzt";
  for (std::size_t i = text.find('%'); i != std::string_view::npos; i = text.find('%', i + 1)) {
    const std::size_t conversion = text.find_first_not_of(kFlags, i + 1);
    if (conversion == std::string_view::npos) return false;
    if (std::string_view("diouxXeEfFgGaAcsp%").find(text[conversion]) == std::string_view::npos) return false;
    i = conversion;
  }
  return true;
}

}  // namespace

void* allocate_for_fmu(std::size_t count, std::size_t size) {
  return std::calloc(count, size);
}

void release_for_fmu(void* memory) {
  std::free(memory);
}

void log_formatted(const void* environment, bool trouble, const char* category, const char* message,
                   std::va_list arguments) {
  if (message == nullptr) return;
  const LiveEnvironments::Use use(environment);
  if (!use || !use.log().takes(trouble, category)) return;
  char formatted[1200];
  if (std::strchr(message, '%') != nullptr && is_harmless_format(message) &&
      std::vsnprintf(formatted, sizeof formatted, message, arguments) >= 0) {
    message = formatted;
  }
  use.log().add(trouble, category, with_names(message, use.description()).c_str());
}

std::string file_uri(const std::filesystem::path& path) {
  std::string uri = "file://";
  for (const char c : path.string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

}  // namespace entrain::subsystem
