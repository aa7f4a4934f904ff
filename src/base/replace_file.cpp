#include "base/replace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/file_error.hpp"
#include "base/posix_write.hpp"

namespace entrain::base {

void replace_file(const std::filesystem::path& path, std::string_view text) {
  // In the same folder, because a rename is atomic only inside one file system.
  auto temporary = path;
  temporary += fmt::format(".{}.tmp", ::getpid());
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) throw file_error("create", path, errno);
  int error_number = write_all(descriptor, text).error_number;
  if (error_number == 0 && ::fsync(descriptor) != 0) error_number = errno;
  if (::close(descriptor) != 0 && error_number == 0) error_number = errno;
  if (error_number == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error_number = errno;
  if (error_number != 0) {
    ::unlink(temporary.c_str());
    throw file_error("write", path, error_number);
  }
}

}  // namespace entrain::base
