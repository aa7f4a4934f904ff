#include "subsystem/fmi/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gnu/libc-version.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "base/printable.hpp"
#include "base/sanitized.hpp"
#include "base/signal_stack.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/fmi/elf_file.hpp"

namespace entrain::subsystem {
namespace {

#ifdef ENTRAIN_SANITIZED
constexpr bool kMayBeApart = false;  // sanitizers refuse it
#else
constexpr bool kMayBeApart = true;
#endif

namespace fs = std::filesystem;

[[noreturn]] void fail(Fact fact, const std::string& remedy) {
  throw Error(ErrorCode::InvalidSystem, std::move(fact),
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = remedy});
}

constinit std::atomic<bool> interpreters = false;

/// Libraries of the Python that the user's shell finds, then of any.
std::vector<std::string> python_libraries() {
  std::vector<std::string> names;
  const char* path = std::getenv("PATH");
  std::stringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code none;
    const fs::path program = fs::canonical(fs::path(folder) / "python3", none);  // "/usr/bin/python3.11"
    if (none) continue;
    const std::string library = fmt::format("lib{}.so.1.0", program.filename().string());
    names.push_back((program.parent_path().parent_path() / "lib" / library).string());
    names.push_back(library);
  }
  constexpr int kNewest = 30;
  constexpr int kOldest = 6;
  for (int minor = kNewest; minor >= kOldest; --minor) names.push_back(fmt::format("libpython3.{}.so.1.0", minor));
  return names;
}

/// The symbol that nothing defines, from the message of the loader; empty for another message.
std::string missing_symbol(const std::string& message) {
  constexpr std::string_view kMark = "undefined symbol: ";
  const auto at = message.find(kMark);
  if (at == std::string::npos) return {};
  const std::string rest = message.substr(at + kMark.size());
  return rest.substr(0, rest.find_first_of(", "));  // a version may follow
}

bool is_of_python(std::string_view symbol) {
  return symbol.starts_with("Py") || symbol.starts_with("_Py");
}

/// PythonFMU and others leave it to the process to have Python in it. False when there is none, or no need for it.
bool provide_python(const std::string& message) {
  if (!interpreters || !is_of_python(missing_symbol(message))) return false;
  static const bool provided = [] {
    for (const auto& library : python_libraries()) {
      if (::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
    }
    return false;
  }();
  return provided;
}

bool contains_file(const fs::path& folder) {
  std::error_code error;
  const fs::recursive_directory_iterator entries(folder, error);
  return !error && std::any_of(begin(entries), end(entries), [](const auto& entry) {
    std::error_code unknown;
    return entry.is_regular_file(unknown);
  });
}

/// Some tools leave an empty folder for each platform that there is no binary for.
std::vector<std::string> platforms_in(const fs::path& root) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(root / "binaries", error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (contains_file(entry->path())) names.push_back(entry->path().filename().string());
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

/// The library that is missing, from the message of the loader; empty for another message.
std::string missing_library(const std::string& message) {
  return message.find("cannot open shared object file") == std::string::npos ? std::string()
                                                                             : message.substr(0, message.find(':'));
}

/// An FMU that carries a library of its own (SUNDIALS, zlib, ...) must call that one, not the one this program uses.
/// For its own library DT_SYMBOLIC does that. For one beside it RTLD_DEEPBIND does, which alone would not find data
/// that the program holds a copy of (std::cout): then it must not look for the original. The files are ours, unpacked
/// copies.
int loading_flags(const fs::path& file) {
  constexpr int kUsual = RTLD_NOW | RTLD_LOCAL;
  const ElfLoading required = required_loading(file);
  const bool own_first = !required.own_symbols || ElfFile::prefer_own_symbols(file);
  if (!kMayBeApart || (!required.apart && own_first)) return kUsual;
  return use_copies(file, required.copied) ? kUsual | RTLD_DEEPBIND : kUsual;
}

[[noreturn]] void fail_not_library(const std::string& fmu, const std::string& file, const std::string& why) {
  fail({FactCode::FmuNotLibrary, {fmu}, {{"file", file}, {"why", why}}},
       "The file is broken or misplaced: get the FMU again");
}

/// What the loader says in other words, or not at all.
void look_before_loading(const std::string& fmu, const fs::path& path, const std::string& file) {
  const auto misfit = elf_misfit(path);
  if (!misfit) return;
  if (misfit->machine.empty()) fail_not_library(fmu, file, misfit->why);
  fail({FactCode::FmuWrongMachine, {fmu}, {{"file", file}, {"machine", misfit->machine}, {"present", misfit->present}}},
       "Ask for an FMU with a binary for this machine");
}

/// The loader of this platform says it in one line; the user needs to know which of four things it is.
[[noreturn]] void explain(const std::string& fmu, const fs::path& path, const std::string& file,
                          const std::string& message) {
  if (const auto first = missing_library(message); !first.empty()) {
    std::vector<std::string> subjects{fmu, first};
    for (auto& missing : missing_libraries(path)) {
      if (missing != first) subjects.push_back(std::move(missing));
    }
    fail({FactCode::FmuLibraryMissing, std::move(subjects), {{"file", file}}},
         "Install what is missing, or add its folder to LD_LIBRARY_PATH");
  }
  if (const auto wanted = between(message, "version `GLIBC_", "'"); !wanted.empty()) {
    fail({FactCode::FmuNeedsGlibc, {fmu}, {{"file", file}, {"wanted", wanted}, {"present", ::gnu_get_libc_version()}}},
         "Use a newer system, or have the FMU built on an older one");
  }
  if (const auto symbol = missing_symbol(message); !symbol.empty()) {
    fail({FactCode::FmuSymbolMissing, {fmu, symbol}, {{"file", file}}},
         is_of_python(symbol)
             ? "It expects Python in its process: install the shared library of Python (libpython3.N.so.1.0), or start "
               "with LD_PRELOAD=/path/to/libpython3.N.so, of the version it was made with"
             : "The FMU was linked without a library that it uses: report it to its vendor");
  }
  if (message.find("ELF") != std::string::npos) fail_not_library(fmu, file, message);
  if (message.find("failed to map segment") != std::string::npos) {
    fail({FactCode::FmuNotLoaded, {fmu}, {{"file", file}, {"why", message}}},
         "Often the temporary folder allows no programs (mounted with noexec): set TMPDIR to another");
  }
  fail({FactCode::FmuNotLoaded, {fmu}, {{"file", file}, {"why", message}}}, "");
}

}  // namespace

bool expects_python(const fs::path& library) {
  const ElfFile file(library);
  const auto symbols = file.symbols();
  return std::any_of(symbols.begin(), symbols.end(),
                     [](const auto& symbol) { return !symbol.defined && is_of_python(symbol.name); });
}

void provide_interpreters() noexcept {
  interpreters = true;
}

std::string missing_binary(const fs::path& root, const std::string& platform, const std::string& model_identifier) {
  const std::string file = fmt::format("binaries/{}/{}.so", platform, model_identifier);
  if (fs::exists(root / file)) return {};
  const auto platforms = platforms_in(root);
  if (std::find(platforms.begin(), platforms.end(), platform) != platforms.end()) {
    return fmt::format("'{}' is missing from it", file);
  }
  if (platforms.empty()) return "it has no binaries at all";
  return fmt::format("it has no binary for this platform ({}), only for: {}", platform, fmt::join(platforms, ", "));
}

void make_readable_libraries(const fs::path& root) {
  std::error_code none;
  for (fs::recursive_directory_iterator entry(root / "binaries", none);
       !none && entry != fs::recursive_directory_iterator(); entry.increment(none)) {
    if (entry->is_regular_file(none) && entry->path().extension() == ".so") loading_flags(entry->path());
  }
}

FmuLibrary::FmuLibrary(const fs::path& root, const std::string& platform, const std::string& model_identifier,
                       std::string fmu, std::optional<Duration> timeout)
    : fmu_(std::move(fmu)),
      file_(fmt::format("binaries/{}/{}.so", platform, model_identifier)),
      code_({.code = fmt::format("FMU '{}'", fmu_), .timeout = timeout}) {
  const fs::path path = root / file_;
  if (const std::string missing = missing_binary(root, platform, model_identifier); !missing.empty()) {
    fail({FactCode::FmuBinaryMissing, {fmu_}, {{"why", missing}}},
         missing.find(file_) != std::string::npos ? "The FMU is incomplete: get it again"
                                                  : "Ask for an FMU with a binary for x86_64 Linux");
  }
  look_before_loading(fmu_, path, file_);
  threads_before_ = base::other_threads();
  std::fenv_t arithmetic{};
  std::fegetenv(&arithmetic);
  std::string message;
  handle_ = code_.call("dlopen, while it was loaded", [&] { return load(path, message); });
  std::fesetenv(&arithmetic);  // a library linked with -ffast-math turns denormals to zero in the thread that loads it
  if (handle_ != nullptr) return;
  message = base::printable(message);
  // The path in the private folder is of no use to the user.
  if (const std::string prefix = path.string() + ": "; message.starts_with(prefix)) message.erase(0, prefix.size());
  explain(fmu_, path, file_, message);
}

/// A thread that it left behind would go on in code that is no longer there.
FmuLibrary::~FmuLibrary() {
  for (const pid_t thread : base::other_threads()) {
    if (threads_before_.count(thread) == 0) return;
  }
  code_.call("dlclose, while it was unloaded", [&] {
    ::dlclose(handle_);
    for (void* sibling : siblings_) ::dlclose(sibling);
  });
}

/// Many FMUs bring the libraries they need in the same folder, but do not declare that they are to be looked for there
/// (with $ORIGIN, as the standard asks). Those already loaded are found by their name. `message`: why it failed.
void* FmuLibrary::load(const fs::path& file, std::string& message) {
  constexpr int kMostAttempts = 100;  // libraries may need each other in circles
  const int flags = loading_flags(file);
  while (++attempts_ < kMostAttempts) {
    if (void* handle = ::dlopen(file.c_str(), flags)) return handle;
    message = ::dlerror();
    if (provide_python(message)) continue;
    const fs::path sibling = file.parent_path() / fs::path(missing_library(message)).filename();
    if (sibling == file || !fs::is_regular_file(sibling)) break;
    void* found = load(sibling, message);
    if (found == nullptr) break;
    siblings_.push_back(found);
  }
  return nullptr;
}

void* FmuLibrary::find(const char* symbol) const {
  if (void* found = ::dlsym(handle_, symbol)) return found;
  // FMI 1 has the model identifier, which is the name of the file, before every name.
  return ::dlsym(handle_, fmt::format("{}_{}", fs::path(file_).stem().string(), symbol).c_str());
}

void* FmuLibrary::require(const char* symbol, const base::ForeignCode* caller) const {
  if (void* found = find(symbol)) return found;
  ErrorContext where{.subsystem = {}, .variable = {}, .time = {}, .remedy = "Report it to the vendor of the FMU"};
  if (caller != nullptr) {
    where.subsystem = caller->owner().subsystem;
    where.time = caller->time();
  }
  throw Error(ErrorCode::SubsystemFailed, {FactCode::FmuFunctionMissing, {fmu_, symbol}, {{"file", file_}}}, where);
}

}  // namespace entrain::subsystem
