#include "record/append_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file_error.hpp"
#include "base/posix_write.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::recording {

AppendFile::AppendFile(std::filesystem::path path) : path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw base::file_error("create", path_, errno);
  struct stat status {};
  ::fstat(descriptor_, &status);
  device_ = status.st_dev;
  number_ = status.st_ino;
}

AppendFile::AppendFile(std::filesystem::path path, std::uint64_t keep) : path_(std::move(path)), complete_(keep) {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw base::file_error("open", path_, errno);
  struct stat status {};
  const auto end = static_cast<off_t>(keep);
  if (::fstat(descriptor_, &status) == 0 && ::ftruncate(descriptor_, end) == 0 &&
      ::lseek(descriptor_, end, SEEK_SET) == end) {
    device_ = status.st_dev;
    number_ = status.st_ino;
    return;
  }
  const int error_number = errno;
  ::close(descriptor_);
  throw base::file_error("write", path_, error_number);
}

AppendFile::~AppendFile() {
  if (is_ours()) ::close(descriptor_);
}

/// Foreign code in this process can close our descriptor, and get its number for a file of its own.
bool AppendFile::is_ours() const {
  struct stat status {};
  return ::fstat(descriptor_, &status) == 0 && status.st_dev == device_ && status.st_ino == number_;
}

void AppendFile::append(std::initializer_list<std::string_view> pieces, std::span<const std::uint64_t> ends) {
  if (failed_) return;
  if (!is_ours()) {
    failed_ = true;
    throw Error(ErrorCode::FileFailed, {FactCode::DescriptorTaken, {path_.string()}});
  }
  std::uint64_t written = 0;
  for (const auto piece : pieces) {
    const auto result = base::write_all(descriptor_, piece);
    written += result.written;
    if (result.error_number == 0) continue;
    failed_ = true;
    const auto beyond = std::upper_bound(ends.begin(), ends.end(), written);
    if (beyond != ends.begin()) complete_ += *std::prev(beyond);
    // A device cannot be cut; then there is no half row to hide either.
    [[maybe_unused]] const int ignored = ::ftruncate(descriptor_, static_cast<off_t>(complete_));
    throw base::file_error("write", path_, result.error_number);
  }
  complete_ += written;
}

void AppendFile::sync() const {
  if (::fdatasync(descriptor_) == 0) return;
  const int error_number = errno;
  // A pipe or a device has nothing to be synchronised; a descriptor that is not ours is found by `append`.
  if (error_number == EINVAL || error_number == EROFS || error_number == EBADF) return;
  throw base::file_error("write", path_, error_number);
}

}  // namespace entrain::recording
