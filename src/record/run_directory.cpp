#include "entrain/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/file_error.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;

void create_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw base::file_error("create the folder", folder, error.value());
}

/// A system's name may hold what a folder's name may not.
std::string folder_name(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return name.empty() ? "run" : name;
}

}  // namespace

fs::path make_run_directory(const std::string& system_name, const std::optional<fs::path>& out) {
  if (out) {
    create_folders(*out);
    return *out;
  }
  const fs::path runs = "runs";
  create_folders(runs);
  for (int number = 1;; ++number) {
    auto folder = runs / fmt::format("{}-{}", folder_name(system_name), number);
    std::error_code error;
    if (fs::create_directory(folder, error)) return folder;
    // Taken by a folder: no error. Taken by a file: EEXIST or ENOTDIR, depending on the library.
    const bool taken = !error || error == std::errc::file_exists || error == std::errc::not_a_directory;
    if (!taken) throw base::file_error("create the folder", folder, error.value());
  }
}

}  // namespace entrain
