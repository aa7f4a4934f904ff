#include "base/posix_write.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
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

void silence(std::initializer_list<int> descriptors) {
  int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere < 0) nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);  // where a sandbox forbids to read it
  if (nowhere < 0) return;
  for (const int descriptor : descriptors) ::dup2(nowhere, descriptor);
  if (std::find(descriptors.begin(), descriptors.end(), nowhere) == descriptors.end()) ::close(nowhere);
}

}  // namespace entrain::base
