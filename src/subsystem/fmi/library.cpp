#include "subsystem/fmi/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gnu/libc-version.h>

#include <algorithm>
#include <vector>

#include "entrain/error.hpp"

namespace entrain {
namespace {

// An FMU that carries a library of its own (SUNDIALS, zlib, ...) must call that one, not the one this program uses.
// Sanitizers refuse it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kHowToLoad = RTLD_NOW | RTLD_LOCAL;
#else
constexpr int kHowToLoad = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& fmu, const std::string& what, const std::string& remedy) {
  throw Error(ErrorCode::InvalidSystem, fmt::format("FMU '{}': {}", fmu, what),
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = remedy});
}

std::vector<std::string> platforms_in(const fs::path& root) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(root / "binaries", error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The part of `text` between two marks; empty when they are not there.
std::string between(const std::string& text, std::string_view before, std::string_view after) {
  const auto begin = text.find(before);
  if (begin == std::string::npos) return {};
  const auto end = text.find(after, begin + before.size());
  if (end == std::string::npos) return {};
  return text.substr(begin + before.size(), end - begin - before.size());
}

/// The loader of this platform says it in one line; the user needs to know which of four things it is.
[[noreturn]] void explain(const std::string& fmu, const std::string& file, const std::string& said) {
  if (said.find("cannot open shared object file") != std::string::npos) {
    fail(fmu,
         fmt::format("'{}' needs the shared library '{}', which is not there", file, said.substr(0, said.find(':'))),
         "Install the library, or add its folder to LD_LIBRARY_PATH");
  }
  if (const auto wanted = between(said, "version `GLIBC_", "'"); !wanted.empty()) {
    fail(fmu, fmt::format("'{}' needs GLIBC {}; this system has {}", file, wanted, ::gnu_get_libc_version()),
         "Use a newer system, or have the FMU built on an older one");
  }
  if (const auto at = said.find("undefined symbol: "); at != std::string::npos) {
    fail(fmu, fmt::format("'{}' uses the symbol '{}', which nothing defines", file, said.substr(at + 18)),
         "The FMU was linked without a library that it uses: tell who made it");
  }
  if (said.find("ELF") != std::string::npos || said.find("file too short") != std::string::npos) {
    fail(fmu, fmt::format("'{}' is no shared library for this platform (x86_64 Linux): {}", file, said),
         "The file is broken or misplaced: get the FMU again");
  }
  fail(fmu, fmt::format("'{}' cannot be loaded: {}", file, said), "");
}

}  // namespace

FmuLibrary::FmuLibrary(const fs::path& root, const std::string& platform, const std::string& model_identifier,
                       std::string fmu)
    : fmu_(std::move(fmu)), file_(fmt::format("binaries/{}/{}.so", platform, model_identifier)) {
  const fs::path path = root / file_;
  if (!fs::exists(path)) {
    const auto platforms = platforms_in(root);
    const bool ours = std::find(platforms.begin(), platforms.end(), platform) != platforms.end();
    if (ours) fail(fmu_, fmt::format("'{}' is missing from it", file_), "The FMU is incomplete: get it again");
    fail(fmu_,
         platforms.empty() ? "it has no binaries at all"
                           : fmt::format("it has no binary for this platform ({}), only for: {}", platform,
                                         fmt::join(platforms, ", ")),
         "Ask for an FMU with a binary for x86_64 Linux");
  }
  handle_ = ::dlopen(path.c_str(), kHowToLoad);
  if (handle_ != nullptr) return;
  std::string said = ::dlerror();
  // The path in the private folder says nothing to the user.
  if (const std::string prefix = path.string() + ": "; said.starts_with(prefix)) said.erase(0, prefix.size());
  explain(fmu_, file_, said);
}

FmuLibrary::~FmuLibrary() {
  ::dlclose(handle_);
}

void* FmuLibrary::find(const char* symbol) const {
  return ::dlsym(handle_, symbol);
}

void* FmuLibrary::require(const char* symbol) const {
  if (void* found = find(symbol)) return found;
  throw Error(ErrorCode::SubsystemFailed,
              fmt::format("FMU '{}': '{}' has no function '{}', which the standard wants", fmu_, file_, symbol),
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Tell who made the FMU"});
}

}  // namespace entrain
