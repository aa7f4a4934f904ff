#include "base/private_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <mutex>
#include <set>
#include <system_error>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/watchdog.hpp"

namespace entrain::base {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "entrain-fmu-";
constexpr const char* kLock = "lock";

[[noreturn]] void fail_folder(std::string_view what, const fs::path& folder, int error) {
  throw Error(
      ErrorCode::FileFailed,
      {FactCode::FileFailed, {folder.string()}, {{"what", what}, {"why", std::generic_category().message(error)}}},
      {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Set TMPDIR to a folder with space and rights"});
}

fs::path temporary_parent() {
  const char* chosen = ::getenv("TMPDIR");
  return chosen != nullptr && *chosen != '\0' ? fs::absolute(chosen) : fs::path("/tmp");
}

/// The folders of this process. Never destroyed: FMUs may be held by static objects.
struct Living {
  std::mutex mutex;
  std::set<const PrivateFolder*> folders;
};
Living& living() {
  static auto* all = new Living;
  return *all;
}

bool is_ours(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
}

/// A folder gets its lock within milliseconds after it was made.
bool is_old(const fs::path& folder) {
  std::error_code error;
  const auto changed = fs::last_write_time(folder, error);
  return !error && fs::file_time_type::clock::now() - changed > std::chrono::hours(1);
}

}  // namespace

PrivateFolder::PrivateFolder() {
  const fs::path parent = temporary_parent();
  static std::once_flag cleaned;
  std::call_once(cleaned, [&] { remove_abandoned_folders(parent); });

  std::string pattern = (parent / fmt::format("{}XXXXXX", kPrefix)).string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    fail_folder("make a folder in", parent, errno);
  }
  folder_ = pattern;
  content_ = folder_ / "content";
  // Locked before it has its name, so that no process can find it unlocked.
  const fs::path unnamed = folder_ / "new";
  lock_ = ::open(unnamed.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  const bool made = lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) == 0 &&
                    ::rename(unnamed.c_str(), (folder_ / kLock).c_str()) == 0 && ::mkdir(content_.c_str(), 0700) == 0;
  if (made) {
    const std::lock_guard lock(living().mutex);
    living().folders.insert(this);
    return;
  }
  const int error = errno;
  if (lock_ >= 0) ::close(lock_);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  fail_folder("write in", folder_, error);
}

PrivateFolder::~PrivateFolder() {
  {
    const std::lock_guard lock(living().mutex);
    living().folders.erase(this);
  }
  remove();
  ::close(lock_);
}

void PrivateFolder::remove() const {
  std::error_code ignored;  // what cannot be removed now is found abandoned by the next run
  fs::remove_all(content_, ignored);
  fs::remove_all(folder_, ignored);
}

void remove_private_folders() {
  const std::lock_guard lock(living().mutex);
  for (const auto* folder : living().folders) folder->remove();
}

void remove_abandoned_folders(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const fs::path folder = entry->path();
    if (!folder.filename().string().starts_with(kPrefix) || !is_ours(folder)) continue;
    const int lock = ::open((folder / kLock).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    std::error_code ignored;
    if (lock < 0) {  // being made, or its maker was killed before it had a lock
      if (is_old(folder)) fs::remove_all(folder, ignored);
      continue;
    }
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0) fs::remove_all(folder, ignored);
    ::close(lock);
  }
}

}  // namespace entrain::base

namespace entrain {

void remove_abandoned_files() noexcept {
  try {
    base::remove_abandoned_folders(base::temporary_parent());
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the next run does it
  }
}

}  // namespace entrain
