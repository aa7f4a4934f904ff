#pragma once

#include <dlfcn.h>
#include <zip.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "subsystem/fmi/fmi2_api.h"
#include "subsystem/fmi/fmi3_api.h"
#include "support/places.hpp"

namespace entrain::test {

/// A file inside an archive.
inline std::string text_in_archive(const std::string& archive_path, const std::string& name) {
  zip_t* archive = zip_open(archive_path.c_str(), ZIP_RDONLY, nullptr);
  if (archive == nullptr) throw std::runtime_error("cannot open " + archive_path);
  zip_stat_t entry;
  std::string text;
  if (zip_stat(archive, name.c_str(), 0, &entry) == 0) {
    text.resize(entry.size);
    zip_file_t* file = zip_fopen(archive, name.c_str(), 0);
    zip_fread(file, text.data(), text.size());
    zip_fclose(file);
  }
  zip_discard(archive);
  return text;
}

/// The first match of the group in the pattern.
inline std::string matched(const std::string& text, const std::string& pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern)) ? match[1].str() : std::string();
}

inline std::string fmu_file(const std::string& folder, const std::string& name) {
  return test::fmu_folder() + "/" + folder + "/" + name + ".fmu";
}

/// The library of an FMU as the build left it, loaded without the engine. `folder` is "2", "test/strict/3", ...
class FmuLibrary {
 public:
  FmuLibrary(const std::string& folder, const std::string& name)
      : path_(test::fmu_library_folder() + "/" + folder + "/" + name + ".so"),
        description_(text_in_archive(fmu_file(folder, name), "modelDescription.xml")),
        handle_(::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) throw std::runtime_error(::dlerror());
  }
  ~FmuLibrary() { ::dlclose(handle_); }
  FmuLibrary(const FmuLibrary&) = delete;
  FmuLibrary& operator=(const FmuLibrary&) = delete;

  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(handle_, name));
  }
  const std::string& path() const { return path_; }
  const std::string& description() const { return description_; }
  std::string token() const { return matched(description_, "(?:guid|instantiationToken)=\"([^\"]+)\""); }

 private:
  std::string path_;
  std::string description_;
  void* handle_;
};

/// Calls `name` of an FMU loaded as `fmu`: FMU_CALL(fmu, fmi2DoStep)(component, 0.0, 0.1, fmi2True).
#define ENTRAIN_FMU_CALL(library, name) (*(library).function<name##TYPE>(#name))

/// What FMUs log, in the order they did; given to them as their environment.
using FmuLog = std::vector<std::string>;

inline void log_fmi2(fmi2ComponentEnvironment environment, fmi2String, fmi2Status, fmi2String, fmi2String format, ...) {
  std::array<char, 1000> text{};
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  static_cast<FmuLog*>(environment)->push_back(text.data());
}

inline void log_fmi3(fmi3InstanceEnvironment environment, fmi3Status, fmi3String, fmi3String text) {
  static_cast<FmuLog*>(environment)->push_back(text);
}

}  // namespace entrain::test
