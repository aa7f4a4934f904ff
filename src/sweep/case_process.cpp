#include "sweep/case_process.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string_view>

#include "base/fault_watch.hpp"
#include "base/file_error.hpp"
#include "base/posix_write.hpp"

namespace entrain::sweeping {
namespace {

/// Before the bytes of an answer.
struct AnswerHead {
  std::uint64_t size = 0;
  std::uint64_t last = 0;  ///< 1 = the process ends
};

bool read_all(int descriptor, void* to, std::size_t size) {
  auto* next = static_cast<std::byte*>(to);
  while (size > 0) {
    const auto got = ::read(descriptor, next, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

void send_answer(int descriptor, const base::Bytes& bytes, bool last) {
  const AnswerHead head{bytes.size(), last ? std::uint64_t{1} : std::uint64_t{0}};
  std::string frame(sizeof head + bytes.size(), '\0');
  std::memcpy(frame.data(), &head, sizeof head);
  if (!bytes.empty()) std::memcpy(frame.data() + sizeof head, bytes.data(), bytes.size());
  static_cast<void>(base::write_all(descriptor, frame));  // a parent that is gone ends this process
}

[[noreturn]] void serve(int descriptor, pid_t parent, CaseServer& server, const std::filesystem::path& temporary) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);  // the parent decides
  base::silence({STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});  // what is known of runs is in the table
  ::setenv("TMPDIR", temporary.c_str(), 1);
  base::FaultWatch::begin_anew_in_child();
  const base::FaultWatch watch(
      [&](const Error& error) { send_answer(descriptor, server.after_fault(error.what()), true); });
  std::uint64_t request = 0;
  while (!server.is_used_up() && read_all(descriptor, &request, sizeof request)) {
    const base::Bytes answer = server.answer(request);
    send_answer(descriptor, answer, server.is_used_up());
  }
  ::_exit(0);
}

}  // namespace

CaseProcess::CaseProcess(CaseServer& server) {
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
    serve(ends[1], parent, server, temporary_.content());
  }
  ::close(ends[1]);
  descriptor_ = ends[0];
  if (process_ > 0) return;
  ::close(descriptor_);
  throw base::file_error("start", "a process", error);
}

CaseProcess::~CaseProcess() {
  ::close(descriptor_);
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  reap();
}

void CaseProcess::ask(std::size_t request) {
  const std::uint64_t number = request;
  asked_ = request;
  // Of a process that has ended nothing comes back, which `answer` notices.
  static_cast<void>(::send(descriptor_, &number, sizeof number, MSG_NOSIGNAL));
}

std::optional<base::Bytes> CaseProcess::answer() {
  AnswerHead head;
  if (read_all(descriptor_, &head, sizeof head)) {
    base::Bytes bytes(head.size);
    if (read_all(descriptor_, bytes.data(), bytes.size())) {
      if (head.last != 0) {
        ended_ = true;
        reap();
      }
      return bytes;
    }
  }
  ended_ = true;
  reap();
  return std::nullopt;
}

void CaseProcess::reap() {
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  killed_ = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  how_ = WIFSIGNALED(status) ? fmt::format("signal {} ({})", WTERMSIG(status), ::sigdescr_np(WTERMSIG(status)))
                             : fmt::format("exit code {}", WEXITSTATUS(status));
}

}  // namespace entrain::sweeping
