#include "cli/supervisor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "cli/common.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/report.hpp"
#include "entrain/watchdog.hpp"

namespace entrain::cli {
namespace {

constexpr char kEnd = '\n';  // of the name of a folder
constexpr std::string_view kWholeEnd = "\1";
constinit int report = -1;  // of the child: the pipe to its parent

std::string everything_from(int descriptor) {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t count = ::read(descriptor, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("with exit code {}, by _exit() or exec() of an FMU, or a second signal", WEXITSTATUS(status));
}

/// The end of the child, and what would end or stop this process.
sigset_t awaited_signals() {
  sigset_t awaited;
  ::sigemptyset(&awaited);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF,
                           SIGALRM, SIGPOLL, SIGPWR, SIGTSTP})
    ::sigaddset(&awaited, signal);
  return awaited;
}

/// The child is in a process group of its own, so that it gets each signal once, from here.
void pass_on(int signal, pid_t child) {
  if (signal == SIGCHLD) return;
  ::kill(child, signal);
  if (signal != SIGTSTP) return;
  ::raise(SIGSTOP);  // until the shell goes on with it
  ::kill(child, SIGCONT);
}

int wait_for(pid_t child, const sigset_t& waited) {
  int status = 0;
  for (;;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return status;
    siginfo_t signal{};
    if (::sigwaitinfo(&waited, &signal) > 0) pass_on(signal.si_signo, child);
  }
}

[[noreturn]] void watch(pid_t child, int from_child) {
  const int status = wait_for(child, awaited_signals());
  ::fcntl(from_child, F_SETFL, O_NONBLOCK);  // a process that an FMU started may hold the other end
  const std::string heard = everything_from(from_child);
  if (WIFEXITED(status) && heard.ends_with(kWholeEnd)) std::_Exit(WEXITSTATUS(status));
  remove_abandoned_files();
  const Error error(
      ErrorCode::SubsystemFailed, {FactCode::RunProcessEnded, {}, {{"how", how_it_ended(status)}}},
      {.subsystem = {}, .variable = {}, .time = {}, .remedy = "With --isolate the FMU that did it is named"});
  bool added = false;
  if (const auto end = heard.rfind(kEnd); end != std::string::npos) {
    const auto begin = heard.rfind(kEnd, end - 1);
    added = complete_run_json(heard.substr(begin + 1, end - begin - 1), error);
  }
  const bool reported = WIFEXITED(status) && WEXITSTATUS(status) == kFailed && !added;  // by the watch over FMUs
  if (!reported) print_error(error.what());
  std::_Exit(kFailed);
}

void tell(std::string_view text) {
  if (report >= 0) {
    [[maybe_unused]] const ssize_t ignored = ::write(report, text.data(), text.size());
  }
}

}  // namespace

void supervise() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  const sigset_t awaited = awaited_signals();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &awaited, &before);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child >= 0) ::setpgid(child, child);  // in both, whichever is first
  if (child > 0) {
    ::close(ends[1]);
    watch(child, ends[0]);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::close(ends[0]);
  if (child < 0) {  // then without
    ::close(ends[1]);
    return;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kFailed);
  report = ends[1];
}

void tell_supervisor(const std::filesystem::path& folder) {
  std::error_code unknown;
  const auto whole = std::filesystem::absolute(folder, unknown);
  tell(std::string(1, kEnd) + whole.string() + kEnd);
}

void report_end() {
  tell(kWholeEnd);
}

}  // namespace entrain::cli
