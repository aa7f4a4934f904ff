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
#include <iostream>
#include <mutex>

#include "base/facts/fact_bytes.hpp"
#include "base/fault_watch.hpp"
#include "base/file_error.hpp"
#include "base/long_calls.hpp"
#include "base/looking.hpp"
#include "base/posix_write.hpp"
#include "sweep/frame.hpp"

namespace entrain::sweeping {
namespace {

/// Of an answer: whether the process ends with it. Else it is a call that takes long, while it lasts.
constexpr std::uint64_t kMore = 0, kLast = 1, kLongCall = 2;

[[noreturn]] void serve(int descriptor, pid_t parent, CaseServer& server, const std::filesystem::path& temporary) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);  // the parent decides
  base::silence({STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});  // what is known of runs is in the table
  ::setenv("TMPDIR", temporary.c_str(), 1);
  base::FaultWatch::begin_anew_in_child();
  const base::FaultWatch watch(
      [&](const Error& error) { write_frame(descriptor, kLast, server.after_fault(error.what())); });
  std::mutex writing;
  bool answers = false;  // a report behind the answer would be taken for one of the next case
  const base::LongCalls long_calls([&](const Fact& call) {
    const std::lock_guard lock(writing);
    if (answers) write_frame(descriptor, kLongCall, base::to_bytes(call));
  });
  while (!server.is_used_up()) {
    const auto request = read_frame(descriptor);
    if (!request) break;
    {
      const std::lock_guard lock(writing);
      answers = true;
    }
    const base::Bytes answer = server.answer(request->kind);
    const std::lock_guard lock(writing);
    answers = false;
    write_frame(descriptor, server.is_used_up() ? kLast : kMore, answer);
  }
  ::_exit(0);
}

}  // namespace

CaseProcess::CaseProcess(CaseServer& server, std::size_t at_once) {
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
    base::share_processors(base::processes_that_share() * static_cast<int>(at_once));
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
  asked_ = request;
  // Of a process that has ended nothing comes back, which `answer` notices.
  write_frame(descriptor_, request, {});
}

bool CaseProcess::receive() {
  auto frame = read_frame(descriptor_);
  if (frame && frame->kind == kLongCall) {
    Fact call;
    base::from_bytes(frame->bytes, call);
    if (asked_ != kLook) call.values.emplace_back("case", asked_);
    base::LongCalls::report(call);
    return false;
  }
  ended_ = !frame || frame->kind == kLast;
  if (ended_) reap();
  answer_ = frame ? std::optional(std::move(frame->bytes)) : std::nullopt;
  return true;
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
