#include "control/control_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

#include "entrain/control.hpp"

namespace entrain::control {
namespace {

/// The path of a socket has at most 107 bytes: the folder is named by its descriptor.
template <class Use>
int in_folder(const std::filesystem::path& folder, Use use) noexcept {
  const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return -1;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  fmt::format_to_n(address.sun_path, sizeof(address.sun_path) - 1, "/proc/self/fd/{}/{}", directory, kControlSocket);
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int result =
      descriptor < 0 ? -1 : use(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const int error = errno;
  ::close(directory);
  if (result != 0 && descriptor >= 0) ::close(descriptor);
  errno = error;
  return result == 0 ? descriptor : -1;
}

}  // namespace

int listen_in(const std::filesystem::path& folder) noexcept {
  remove_socket(folder);  // of a run that was killed: the folder is locked
  return in_folder(folder, [](int descriptor, const sockaddr* address, socklen_t size) {
    // Before it has a name: Linux gives the file of the socket the mode of its descriptor.
    if (::fchmod(descriptor, S_IRWXU) != 0 || ::bind(descriptor, address, size) != 0) return -1;
    constexpr int kWaiting = 16;
    // A connection that is gone again when it is accepted must not stop the thread.
    if (::fcntl(descriptor, F_SETFL, O_NONBLOCK) != 0) return -1;
    return ::listen(descriptor, kWaiting);
  });
}

int connect_to(const std::filesystem::path& folder) noexcept {
  return in_folder(folder, [](int descriptor, const sockaddr* address, socklen_t size) {
    return ::connect(descriptor, address, size);
  });
}

void remove_socket(const std::filesystem::path& folder) noexcept {
  std::error_code unknown;
  std::filesystem::remove(folder / kControlSocket, unknown);
}

}  // namespace entrain::control
