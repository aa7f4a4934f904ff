#include "base/posix_write.hpp"

#include <unistd.h>

#include <cerrno>

namespace entrain::base {

WriteResult write_all(int descriptor, std::string_view data) {
  WriteResult result;
  while (result.written < data.size()) {
    const auto count = ::write(descriptor, data.data() + result.written, data.size() - result.written);
    if (count > 0) {
      result.written += static_cast<std::size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      result.error_number = count == 0 ? ENOSPC : errno;
      break;
    }
  }
  return result;
}

}  // namespace entrain::base
