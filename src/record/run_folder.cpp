#include "record/run_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/file_error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/system_description.hpp"
#include "record/journal.hpp"

namespace entrain::recording {
namespace {

namespace fs = std::filesystem;

/// A file descriptor of the folder itself: nothing is left behind by a killed run. -1 where there is no folder.
int opened(const fs::path& folder) {
  return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool is_taken(int descriptor) {
  return descriptor >= 0 && ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/// By a run that was killed while it replaced a file.
bool is_left_behind(std::string_view name) {
  return (name.starts_with("run.json.") || name.starts_with("results.") || name.starts_with("steps.json.") ||
          name.starts_with("timeline.json.") || name.starts_with("calls.csv.")) &&
         (name.ends_with(".tmp") || name.ends_with(".reserve"));
}

}  // namespace

RunFolderLock::RunFolderLock(const fs::path& folder) : descriptor_(opened(folder)) {
  if (!is_taken(descriptor_)) return;
  ::close(descriptor_);
  throw Error(ErrorCode::FileFailed, {FactCode::RunFolderLocked, {folder.string()}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Wait for its end, or choose another folder"});
}

RunFolderLock::~RunFolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool RunFolderLock::is_held(const fs::path& folder) {
  const int descriptor = opened(folder.empty() ? fs::path(".") : folder);
  const bool taken = is_taken(descriptor);
  if (descriptor >= 0) ::close(descriptor);
  return taken;
}

bool contains_run(const fs::path& folder) {
  std::error_code unknown;
  return fs::exists(folder / "run.json", unknown);
}

void remove_run(const fs::path& folder) {
  std::vector<fs::path> files{"report.html", "fmu.log",    "steps.json",           "timeline.json",
                              "calls.csv",   "frames.csv", "system.resolved.toml", "control.socket"};
  for (const auto format : {kCsvFormat, kHdf5Format, kMatFormat}) {
    files.emplace_back(results_file_name(format));
    files.push_back(journal_of(files.back()));
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename();
    if (is_left_behind(name.string())) files.push_back(name);
  }
  files.emplace_back("run.json");  // last: what is left is still a run
  for (const auto& file : files) {
    std::error_code error;
    fs::remove(folder / file, error);
    if (error) throw base::file_error("remove", folder / file, error.value());
  }
}

}  // namespace entrain::recording
