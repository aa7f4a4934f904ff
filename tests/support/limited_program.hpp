#pragma once

#include <sys/resource.h>

#include "support/program.hpp"

namespace entrain::test {

struct LimitedResult {
  ProgramResult ended;
  long peak_kilobytes = 0;  ///< of memory in use
};

/// The program as a subprocess that is killed when it needs more than `cpu_seconds` of computing or writes a file of
/// more than 64 MiB; its peak of memory is measured.
inline LimitedResult run_limited(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
                                 unsigned cpu_seconds) {
  std::vector<char*> argv{const_cast<char*>("entrain")};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const auto out = folder / "stdout.txt";
  const auto err = folder / "stderr.txt";
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit cpu{cpu_seconds, cpu_seconds};
    const rlimit written{rlim_t{64} << 20U, rlim_t{64} << 20U};
    ::setrlimit(RLIMIT_CPU, &cpu);
    ::setrlimit(RLIMIT_FSIZE, &written);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    ::setenv("ENTRAIN_CACHE", "off", 0);
    if (::chdir(folder.path().c_str()) == 0) ::execv(test::program().c_str(), argv.data());
    ::_exit(127);
  }
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  LimitedResult result;
  if (WIFEXITED(status)) result.ended.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.ended.end_signal = WTERMSIG(status);
  result.ended.out = text_of(out);
  result.ended.err = text_of(err);
  result.peak_kilobytes = usage.ru_maxrss;
  return result;
}

}  // namespace entrain::test
