#include "cli/examples.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "entrain/error.hpp"

namespace entrain::cli {

std::filesystem::path find_examples() {
  namespace fs = std::filesystem;
  if (const char* given = std::getenv("ENTRAIN_EXAMPLES"); given != nullptr && *given != '\0') return given;
  std::error_code error;
  const auto folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto* place : {"../examples", "../share/entrain/examples"}) {
    if (fs::is_directory(folder / place, error)) return fs::canonical(folder / place);
  }
  throw Error(ErrorCode::FileFailed, fmt::format("no examples folder beside '{}'", folder.string()),
              {.subsystem = {},
               .variable = {},
               .time = std::nullopt,
               .remedy = "Set ENTRAIN_EXAMPLES to the folder with the example systems"});
}

}  // namespace entrain::cli
