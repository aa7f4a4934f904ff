#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <string>

#include "entrain/rig.hpp"
#include "support/systems.hpp"

namespace entrain::test {

/// A UDP port of loopback that was free a moment ago.
inline int free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("no free port");
  }
  ::close(descriptor);
  return ntohs(address.sin_port);
}

/// How the right mass of a bench is reached: `udp = { ... }` on free ports, or `shm = { ... }`; `more` goes into it.
inline std::string udp_link(const std::string& more = "") {
  return fmt::format("udp = {{ local = \":{}\", remote = \":{}\", step = 0.01{}{} }}", free_port(), free_port(),
                     more.empty() ? "" : ", ", more);
}
inline std::string shm_link(const std::string& more = "") {
  static std::atomic<int> number{0};
  return fmt::format("shm = {{ name = \"test-{}-{}\", step = 0.01{}{} }}", ::getpid(), ++number,
                     more.empty() ? "" : ", ", more);
}

/// Long enough for a loaded machine: a test waits so long only if it fails.
inline constexpr const char* kPatient = "timeout = 30.0, wait = 20.0";

/// The oscillator of examples/learning, with its motion side outside.
inline std::string bench_text(const std::string& link, const std::string& run = "stop = 1.0\nstep = 0.01") {
  return fmt::format(R"(
[run]
{}
method = "jacobi"
[subsystems.left]
model = "oscillator.force_side"
start = {{ x1 = 0.0, v1 = 1.0 }}
[subsystems.right]
model = "oscillator.motion_side"
{}
start = {{ m2 = 2.0, v = -1.0 }}
[connections]
"left.F" = "right.F"
"right.x" = "left.x"
"right.v" = "left.v"
)",
                     run, link);
}

/// Plays the right mass in another thread.
class RigInThread {
 public:
  explicit RigInThread(const SystemDescription& description, RigOptions options = {}, std::string subsystem = "right") {
    std::promise<void> listening;
    auto listens = listening.get_future();
    options.interrupt = &interrupt_;
    options.patience = 60.0;
    options.listening = [&](const std::string&) { listening.set_value(); };
    played_ = std::async(std::launch::async,
                         [description, options, subsystem] { return play_rig(description, subsystem, options); });
    while (listens.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready) {
      if (played_.wait_for(std::chrono::milliseconds(5)) == std::future_status::ready) played_.get();  // it threw
    }
  }
  ~RigInThread() {
    interrupt_ = true;
    if (played_.valid()) played_.wait();
  }
  RigInThread(const RigInThread&) = delete;
  RigInThread& operator=(const RigInThread&) = delete;

  /// When the run is over.
  RigReport report() { return played_.get(); }
  /// Of one that would serve further runs.
  RigReport stop() {
    interrupt_ = true;
    return played_.get();
  }

 private:
  std::atomic<bool> interrupt_{false};
  std::future<RigReport> played_;
};

}  // namespace entrain::test
