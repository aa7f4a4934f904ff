// What large results cost to look at: `entrain report` of 1e8 numbers in each format, its memory and its time. The
// memory has a budget; the time is that of the machine's disk as much as ours, and is printed.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "budget.hpp"
#include "entrain/system_description.hpp"
#include "support/large_results.hpp"

namespace {

namespace fs = std::filesystem;
using namespace entrain;

constexpr std::size_t kColumns = 10;
constexpr std::size_t kRows = 10'000'000;

struct Ended {
  bool good = false;
  double seconds = 0.0;
  double megabytes = 0.0;
};

Ended run_program(std::vector<std::string> words) {
  words.insert(words.begin(), ENTRAIN_PROGRAM);
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    ::execv(ENTRAIN_PROGRAM, arguments.data());
    ::_exit(127);
  }
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  return {WIFEXITED(status) && WEXITSTATUS(status) == 0,
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
          static_cast<double>(usage.ru_maxrss) / 1024.0};
}

}  // namespace

int main() {
  std::string pattern = (fs::temp_directory_path() / "entrain-bench-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return 1;
  const auto out = (fs::path(pattern) / "out").string();
  if (!run_program({"run", ENTRAIN_EXAMPLES "/oscillator", "--stop", "0.1", "--no-estimate", "--out", out}).good)
    return 1;
  fs::remove(fs::path(out) / "results.csv");
  bench::Budgets budgets;
  bool good = true;
  for (const auto format : kRecordFormats) {
    const auto file = fs::path(out) / recording::results_file_name(format);
    test::write_large_results(format, file, kColumns, kRows);
    const auto report = run_program({"report", out});
    good = good && report.good;
    budgets.check(fmt::format("report of 1e8 numbers, {}, memory", format), report.megabytes, 300.0, "MB");
    fmt::print("{:<44} {:>9.3g} s   ({:.2f} GB{})\n", "", report.seconds,
               1e-9 * static_cast<double>(fs::file_size(file)), report.good ? "" : ", it failed");
    fs::remove(file);
  }
  fs::remove_all(pattern);
  return good ? budgets.exit_code() : 1;
}
