// What the program costs before it computes: `entrain version`, and `entrain run` of two FMUs up to their first step.
// By the wall clock, the best of several starts: what is loaded and mapped is of the operating system as much as ours.
// The folder of the run is in memory where there is such a file system: how long a disk takes is not ours.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "budget.hpp"
#include "wide_fmu.hpp"

namespace {

namespace fs = std::filesystem;
using namespace entrain;

constexpr int kStarts = 40;

double now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Start {
  double began = 0.0;
  double seconds = 0.0;
  double megabytes = 0.0;  // at most, of the program and of what it started
};

Start start_program(std::vector<std::string> words) {
  words.insert(words.begin(), ENTRAIN_PROGRAM);
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  Start start{.began = now()};
  pid_t child = 0;
  if (::posix_spawn(&child, ENTRAIN_PROGRAM, &actions, nullptr, arguments.data(), environ) != 0) std::exit(1);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  rusage usage{};
  if (::wait4(child, &status, 0, &usage) != child || !WIFEXITED(status)) std::exit(1);
  start.seconds = now() - start.began;
  start.megabytes = static_cast<double>(usage.ru_maxrss) / 1024.0;
  return start;
}

/// Of a file with a number in each line.
std::vector<double> numbers_in(const fs::path& file) {
  std::ifstream stream(file);
  std::vector<double> numbers;
  for (double number = 0.0; stream >> number;) numbers.push_back(number);
  return numbers;
}

class TwoFmus {
 public:
  explicit TwoFmus(const fs::path& folder) : folder_(folder) {
    bench::write_wide_fmu(ENTRAIN_STAMPED_FMU, folder / "a.fmu");
    bench::write_wide_fmu(ENTRAIN_STAMPED_FMU, folder / "b.fmu");
    std::ofstream(folder / "system.toml") << "[run]\nstop = 0.1\nstep = 0.1\nmethod = \"jacobi\"\n"
                                             "[subsystems.a]\nfmu = \"a.fmu\"\n[subsystems.b]\nfmu = \"b.fmu\"\n"
                                             "[connections]\n\"a.y0\" = \"b.u0\"\n\"b.y0\" = \"a.u0\"\n";
    ::setenv("ENTRAIN_STAMPS", (folder / "stamps").c_str(), 1);
    ::setenv("ENTRAIN_CACHE", (folder / "cache").c_str(), 1);
  }

  /// Seconds to the first step of the run: with nothing in the cache, others are tried before.
  double seconds_to_first_step() const {
    fs::remove(folder_ / "stamps");
    const auto start = start_program({"run", (folder_ / "system.toml").string(), "--no-estimate", "--quiet", "--out",
                                      (folder_ / "out").string(), "--overwrite"});
    const auto stamps = numbers_in(folder_ / "stamps");
    if (stamps.empty()) std::exit(1);
    return stamps.back() - start.began;
  }

 private:
  fs::path folder_;
};

}  // namespace

int main() {
  bench::Budgets budgets;
  Start best = start_program({"version"});
  for (int i = 0; i < kStarts; ++i) {
    const Start start = start_program({"version"});
    best.seconds = std::min(best.seconds, start.seconds);
    best.megabytes = std::max(best.megabytes, start.megabytes);
  }
  budgets.check("entrain version", 1e3 * best.seconds, 5.0, "ms");
  budgets.check("entrain version, memory", best.megabytes, 10.0, "MB");

  const fs::path in_memory = "/dev/shm";
  const bool has_memory = ::access(in_memory.c_str(), W_OK) == 0;
  std::string pattern = ((has_memory ? in_memory : fs::temp_directory_path()) / "entrain-bench-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return 1;
  const TwoFmus two(pattern);
  const double cold = two.seconds_to_first_step();
  double warm = two.seconds_to_first_step();
  for (int i = 0; i < kStarts; ++i) warm = std::min(warm, two.seconds_to_first_step());
  budgets.check("entrain run of two FMUs, to its first step", 1e3 * warm, 15.0, "ms");
  fmt::print("{:<44} {:>9.3g} ms  (what FMUs claim is tried first)\n", "  with an empty cache", 1e3 * cold);
  fs::remove_all(pattern);
  return budgets.exit_code();
}
