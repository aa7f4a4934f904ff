#include "sweep/case_host.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <thread>
#include <utility>

#include "base/facts/error_record.hpp"
#include "base/fault_watch.hpp"
#include "base/file_error.hpp"
#include "sweep/case_pool.hpp"

namespace entrain::sweeping {
namespace {

using namespace std::chrono_literals;

constexpr auto kLongestEnd = 2s;  // of a host that was asked to end, until it is killed

/// In the host.
class Hosting {
 public:
  Hosting(int socket, PreparedSweep& sweep) : socket_(socket), sweep_(sweep) {}

  /// Until the other end of the socket is closed.
  void serve() {
    for (;;) {
      if (pool_) {
        for (const auto& end : pool_->wait_also_for(socket_)) answer(HostWord::Ended, base::to_bytes(end));
      }
      pollfd event{socket_, POLLIN, 0};
      if (::poll(&event, 1, pool_ ? 0 : -1) <= 0) continue;
      const auto frame = read_frame(socket_);
      if (!frame) return;
      handle(*frame);
    }
  }

 private:
  void handle(const SocketFrame& frame) {
    switch (static_cast<HostWord>(frame.kind)) {
      case HostWord::Look: return look();
      case HostWord::Begin: return begin(frame.bytes);
      case HostWord::Case: {
        std::uint64_t number = 0;
        base::from_bytes(frame.bytes, number);
        return pool_->take(number);
      }
      default: return;
    }
  }

  void look() {
    try {
      answer(HostWord::Found, base::to_bytes(sweep_.look()));
    } catch (const Error& error) {
      answer(HostWord::Failed, base::to_bytes(base::ErrorRecord(error)));
    }
  }

  void begin(const base::Bytes& bytes) {
    SweepLook found;
    std::string folder;
    base::from_bytes(bytes, found, folder);
    sweep_.adopt(std::move(found));
    context_.emplace(sweep_.context(folder));
    pool_.emplace(*context_, jobs_of(sweep_.options()));
  }

  void answer(HostWord word, const base::Bytes& bytes) const {
    write_frame(socket_, static_cast<std::uint64_t>(word), bytes);
  }

  int socket_;
  PreparedSweep& sweep_;
  std::optional<CaseContext> context_;
  std::optional<ProcessPool> pool_;
};

[[noreturn]] void host(int socket, pid_t parent, PreparedSweep& sweep) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);  // the parent decides
  base::FaultWatch::forget_in_child();
  int code = 0;
  try {
    Hosting(socket, sweep).serve();
  } catch (const std::exception&) {
    code = 1;  // no process or no folder can be made: the parent notices that this one has ended
  }
  ::_exit(code);
}

}  // namespace

CaseHost::CaseHost(PreparedSweep& sweep) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw base::file_error("make", "a socket", errno);
  std::cout.flush();
  std::fflush(nullptr);  // else both would write what waits there
  const pid_t parent = ::getpid();
  process_ = ::fork();
  const int error = errno;
  if (process_ == 0) {
    ::close(ends[0]);
    host(ends[1], parent, sweep);
  }
  ::close(ends[1]);
  socket_ = ends[0];
  if (process_ > 0) return;
  ::close(socket_);
  throw base::file_error("start", "a process", error);
}

void CaseHost::end() {
  if (process_ < 0) return;
  ended_ = true;
  ::close(socket_);
  const auto asked = std::chrono::steady_clock::now();
  while (::waitpid(process_, nullptr, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() - asked > kLongestEnd) ::kill(process_, SIGKILL);
    std::this_thread::sleep_for(1ms);
  }
  process_ = -1;
}

void CaseHost::send(HostWord word, const base::Bytes& bytes) const {
  if (ended_) return;
  // Of a host that has ended nothing comes back, which `receive` notices.
  write_frame(socket_, static_cast<std::uint64_t>(word), bytes);
}

std::optional<SocketFrame> CaseHost::receive(double milliseconds) {
  pollfd event{ended_ ? -1 : socket_, POLLIN, 0};
  const double seconds = milliseconds * 1e-3;
  const timespec limit{static_cast<time_t>(seconds), static_cast<long>(std::fmod(seconds, 1.0) * 1e9)};
  if (::ppoll(&event, 1, &limit, nullptr) <= 0) return std::nullopt;
  auto frame = read_frame(socket_);
  ended_ = !frame;
  return frame;
}

}  // namespace entrain::sweeping
