#pragma once

#include <atomic>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/foreign_code.hpp"

namespace entrain::subsystem {

/// In a process that exists for FMUs alone: from now on a library that expects Python there gets it.
void provide_interpreters() noexcept;

/// Whether a file refers to functions of Python, as the libraries of PythonFMU do.
bool expects_python(const std::filesystem::path& library);

/// The shared library of an FMU, loaded. The only place that knows how this platform does it.
class FmuLibrary {
 public:
  /// `root`: the unpacked FMU; `platform`: the folder in binaries/ ("linux64"). Throws Error{InvalidSystem} with
  /// what is missing.
  FmuLibrary(const std::filesystem::path& root, const std::string& platform, const std::string& model_identifier,
             std::string fmu, std::optional<Duration> timeout = {});
  ~FmuLibrary();
  FmuLibrary(const FmuLibrary&) = delete;
  FmuLibrary& operator=(const FmuLibrary&) = delete;

  /// nullptr when the library has no such function.
  void* find(const char* symbol) const;
  /// Throws Error{SubsystemFailed} naming FMU, file and symbol, and subsystem and time of `caller`.
  void* require(const char* symbol, const base::ForeignCode* caller = nullptr) const;

 private:
  void* load(const std::filesystem::path& file, std::string& message);

  std::string fmu_;
  std::string file_;        ///< inside the FMU
  base::ForeignCode code_;  ///< what runs when it is loaded and unloaded
  void* handle_ = nullptr;
  std::set<pid_t> threads_before_;  ///< it was loaded
  int attempts_ = 0;
  std::vector<void*> siblings_;  ///< libraries in the same folder, loaded because it needs them
};

/// Changes the libraries of an unpacked FMU as loading would: for a process that may only read there.
void make_readable_libraries(const std::filesystem::path& root);

/// Why the unpacked FMU cannot be loaded on this platform at all: "it has no binary for this platform (linux64), only
/// for: win64". Empty when it has one.
std::string missing_binary(const std::filesystem::path& root, const std::string& platform,
                           const std::string& model_identifier);

/// A function of the library, looked up when first needed: FMUs lack functions that the standard requires, and many are
/// never called. May be used from several threads.
template <class Function>
class FmuSymbol {
 public:
  FmuSymbol(const FmuLibrary& library, const char* name) : library_(library), name_(name) {}

  const char* name() const { return name_; }
  bool exists() const { return known_.load(std::memory_order_relaxed) != nullptr || library_.find(name_) != nullptr; }
  /// `code`: the instance that is called.
  template <class... Arguments>
  auto operator()(base::ForeignCode& code, Arguments... arguments) const {
    return code.call(name_, function(&code), arguments...);
  }
  /// Throws Error{SubsystemFailed} when the library does not have it. `caller`: the instance that needs it, if known.
  Function* function(const base::ForeignCode* caller = nullptr) const {
    Function* known = known_.load(std::memory_order_relaxed);
    if (known == nullptr) {
      known = reinterpret_cast<Function*>(library_.require(name_, caller));
      known_.store(known, std::memory_order_relaxed);
    }
    return known;
  }

 private:
  const FmuLibrary& library_;
  const char* name_;
  mutable std::atomic<Function*> known_ = nullptr;
};

}  // namespace entrain::subsystem
