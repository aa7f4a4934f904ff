#include "cli/examples.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "entrain/error.hpp"

namespace entrain::cli {
namespace {

namespace fs = std::filesystem;

struct SoughtFolder {
  const char* what;
  const char* variable;  ///< of the environment; goes before the others
  std::array<const char*, 2> beside_program;
  const char* remedy;
};

fs::path find(const SoughtFolder& sought) {
  if (const char* given = std::getenv(sought.variable); given != nullptr && *given != '\0') return given;
  std::error_code error;
  const auto folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto* path : sought.beside_program) {
    if (fs::is_directory(folder / path, error)) return fs::canonical(folder / path);
  }
  throw Error(ErrorCode::FileFailed, fmt::format("no {} beside '{}'", sought.what, folder.string()),
              {.subsystem = {},
               .variable = {},
               .time = std::nullopt,
               .remedy = fmt::format("{} {}", sought.remedy, sought.variable)});
}

}  // namespace

fs::path find_examples() {
  return find({"examples folder",
               "ENTRAIN_EXAMPLES",
               {"../examples", "../share/entrain/examples"},
               "Name the folder with the example systems in"});
}

fs::path find_fmus() {
  return find({"FMUs of the models",
               "ENTRAIN_FMUS",
               {"fmus", "../share/entrain/fmus"},
               "Build them (make build), or name the folder with '2' and '3' in it in"});
}

}  // namespace entrain::cli
