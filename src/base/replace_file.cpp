#include "base/replace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/file_error.hpp"
#include "base/posix_write.hpp"

namespace entrain::base {
namespace {

constexpr std::uintmax_t kLeastReserve = std::uintmax_t{64} * 1024;
constexpr std::uintmax_t kGrowth = 4;  // of a summary, from the start of a run to its end

/// Into `temporary`, from its beginning, then in place of `path`. Returns the number of the error; 0 = done.
int write_and_rename(const std::filesystem::path& temporary, const std::filesystem::path& path, std::string_view text) {
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return errno;
  int error_number = write_all(descriptor, text).error_number;
  if (error_number == 0 && ::ftruncate(descriptor, static_cast<off_t>(text.size())) != 0) error_number = errno;
  if (error_number == 0 && ::fsync(descriptor) != 0) error_number = errno;
  if (::close(descriptor) != 0 && error_number == 0) error_number = errno;
  if (error_number == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error_number = errno;
  if (error_number != 0) ::unlink(temporary.c_str());
  return error_number;
}

/// In the same folder, because a rename is atomic only inside one file system.
std::filesystem::path beside(const std::filesystem::path& path, std::string_view what) {
  auto other = path;
  return other += fmt::format(".{}.{}", ::getpid(), what);
}

}  // namespace

void replace_file(const std::filesystem::path& path, std::string_view text) {
  const int error_number = write_and_rename(beside(path, "tmp"), path, text);
  if (error_number != 0) throw file_error("write", path, error_number);
}

ReservedFile::ReservedFile(std::filesystem::path path) : path_(std::move(path)), reserve_(beside(path_, "reserve")) {}

ReservedFile::~ReservedFile() {
  release();
}

void ReservedFile::release() const {
  ::unlink(reserve_.c_str());
}

void ReservedFile::reserve() {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(path_, unknown);
  const auto bytes = std::max(kLeastReserve, unknown ? 0 : kGrowth * size);
  const int descriptor = ::open(reserve_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return;
  if (::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes)) != 0) ::unlink(reserve_.c_str());
  ::close(descriptor);
}

void ReservedFile::replace(std::string_view text) {
  try {
    replace_file(path_, text);
  } catch (const Error&) {
    if (::access(reserve_.c_str(), F_OK) != 0 || write_and_rename(reserve_, path_, text) != 0) throw;
  }
}

}  // namespace entrain::base
