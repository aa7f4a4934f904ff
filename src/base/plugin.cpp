#include "base/plugin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

namespace entrain::base {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> places_of(const std::string& library) {
  std::vector<fs::path> found;
  const auto add = [&](const fs::path& file) {
    for (const char* relative : {".", "..", "../..", "../" ENTRAIN_LIBRARIES "/entrain", "../lib/entrain", "../lib",
                                 "../../lib/entrain", "entrain"})
      found.push_back((file.parent_path() / relative / library).lexically_normal());
  };
  std::error_code unknown;
  if (const auto self = fs::read_symlink("/proc/self/exe", unknown); !unknown) add(self);
  Dl_info own{};
  if (::dladdr(reinterpret_cast<const void*>(&load_plugin), &own) != 0 && own.dli_fname != nullptr) {
    if (const auto file = fs::canonical(own.dli_fname, unknown); !unknown) add(file);
  }
  return found;
}

}  // namespace

Plugin load_plugin(const std::string& library, const char* entry, const char* place) {
  auto places = places_of(library);
  if (place != nullptr) places.insert(places.begin(), place);
  Plugin plugin{nullptr, fmt::format("this build of Entrain has no {}", library)};
  for (const auto& file : places) {
    if (::access(file.c_str(), R_OK) != 0) continue;
    if (void* handle = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
      plugin.entry = ::dlsym(handle, entry);
      if (plugin.entry != nullptr) return plugin;
    }
    plugin.why = ::dlerror();
  }
  return plugin;
}

}  // namespace entrain::base
