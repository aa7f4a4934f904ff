#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "support/places.hpp"
#include "support/temporary_folder.hpp"

namespace entrain::test {

struct ProgramResult {
  int exit_code = -1;  ///< -1 when a signal ended it
  int end_signal = 0;  ///< 0 when it ended by itself
  std::string out;
  std::string err;
};

/// The built program as a subprocess, with its working folder and both outputs in a folder of the test.
class Program {
 public:
  Program(const TemporaryFolder& folder, const std::vector<std::string>& arguments)
      : out_(folder / "stdout.txt"), err_(folder / "stderr.txt") {
    std::vector<char*> argv{const_cast<char*>("entrain")};
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      constexpr int kLastClosed = 500;  // descriptors are closed in their order when a process ends
      ::fcntl(ends[1], F_DUPFD, kLastClosed);
      redirect(STDOUT_FILENO, out_);
      redirect(STDERR_FILENO, err_);
      for (const int signal : {SIGINT, SIGQUIT}) ::signal(signal, SIG_DFL);  // which a shell ignores in the background
      ::setenv("ENTRAIN_CACHE", "off", 0);  // what a test sees must not depend on those before it
      if (::chdir(folder.path().c_str()) == 0) ::execv(test::program().c_str(), argv.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    alive_ = ends[0];
  }
  ~Program() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      wait();
    }
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void send(int signal) const { ::kill(pid_, signal); }

  ProgramResult wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    // The process that works for it ends with it, but a moment later when it was killed.
    constexpr int kLongest = 30'000;  // ms
    pollfd last{alive_, 0, 0};
    ::poll(&last, 1, kLongest);
    ::close(alive_);
    ProgramResult result;
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.end_signal = WTERMSIG(status);
    result.out = text_of(out_);
    result.err = text_of(err_);
    return result;
  }

 private:
  static void redirect(int descriptor, const std::filesystem::path& file) {
    ::dup2(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), descriptor);
  }

  std::filesystem::path out_;
  std::filesystem::path err_;
  pid_t pid_ = -1;
  int alive_ = -1;  ///< a pipe that ends when no process of the program is left
};

inline ProgramResult run_program(const TemporaryFolder& folder, const std::vector<std::string>& arguments) {
  return Program(folder, arguments).wait();
}

/// The results of a run into the folder `out`, which must succeed.
inline std::string results_of(const TemporaryFolder& folder, const std::string& system, const std::string& out,
                              const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"run", system, "--out", out, "--overwrite", "--quiet", "--require", "any"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto run = run_program(folder, arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return text_of(folder / out / "results.csv");
}

/// Waits until `condition` holds; false when it does not within half a minute.
template <class Condition>
bool eventually(Condition&& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::chrono::steady_clock::now() < deadline) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return condition();
}

}  // namespace entrain::test
