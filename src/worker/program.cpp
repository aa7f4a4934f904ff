#include "worker/program.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/worker.hpp"
#include "worker/mailbox.hpp"

namespace entrain::worker {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "entrain-worker";
constexpr int kAboveInherited = 10;

struct ChosenProgram {
  std::mutex mutex;
  fs::path path;
};
ChosenProgram& chosen() {
  static auto* program = new ChosenProgram;  // never destroyed: a static object may hold a run
  return *program;
}

/// Beside this library or executable, above it (a build tree with the tests below), or where it is installed.
std::vector<fs::path> places() {
  std::vector<fs::path> found;
  const auto add = [&](const fs::path& file) {
    const fs::path folder = file.parent_path();
    for (const char* relative : {".", "..", "../bin", "../../bin"})
      found.push_back((folder / relative / kProgram).lexically_normal());
  };
  std::error_code unknown;
  if (const auto self = fs::read_symlink("/proc/self/exe", unknown); !unknown) add(self);
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&start_program), &library) != 0 && library.dli_fname != nullptr) {
    if (const auto file = fs::canonical(library.dli_fname, unknown); !unknown) add(file);
  }
  return found;
}

fs::path program_file() {
  {
    const std::lock_guard lock(chosen().mutex);
    if (!chosen().path.empty()) return chosen().path;
  }
  const auto looked = places();
  for (const auto& place : looked) {
    if (::access(place.c_str(), X_OK) == 0) return place;
  }
  std::vector<std::string> folders;
  folders.reserve(looked.size());
  for (const auto& place : looked) folders.push_back(place.parent_path().string());
  throw Error(ErrorCode::FileFailed,
              {FactCode::WorkerMissing, {kProgram}, {{"places", fmt::format("{}", fmt::join(folders, ", "))}}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Set ENTRAIN_WORKER to its path"});
}

/// A descriptor with a number that no inherited one has; the old one is closed.
int moved_up(int descriptor) {
  const int higher = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kAboveInherited);
  ::close(descriptor);
  return higher;
}

/// A worker is no process of the launcher: an FMU that uses MPI itself must not meet the ranks of the run.
bool is_passed_on(std::string_view variable) {
  for (const char* own : {"TMPDIR=", "OMPI_COMM_", "OMPI_UNIVERSE", "OMPI_MCA_", "PMIX_", "PMI_", "ORTE_", "OMPI_APP_",
                          "OMPI_FILE_", "OMPI_FIRST_", "OMPI_NUM_", "OMPI_ARGV", "OMPI_COMMAND"}) {
    if (variable.starts_with(own)) return false;
  }
  return true;
}

std::vector<std::string> environment_with(const fs::path& folder) {
  std::vector<std::string> variables{"TMPDIR=" + folder.string()};
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (is_passed_on(*variable)) variables.emplace_back(*variable);
  }
  return variables;
}

/// The arguments of posix_spawn, released by scope.
class SpawnOrders {
 public:
  SpawnOrders(int socket, int memory, int lifeline, const fs::path& said) {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, kErrors);
    if (!said.empty()) {
      ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    }
    ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);  // the parent's output is for results
    ::posix_spawn_file_actions_adddup2(&actions, socket, kSocket);
    ::posix_spawn_file_actions_adddup2(&actions, memory, kMemory);
    ::posix_spawn_file_actions_adddup2(&actions, lifeline, kLifeline);
    ::posix_spawn_file_actions_addclosefrom_np(&actions, said.empty() ? kErrors : kErrors + 1);
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnOrders() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnOrders(const SpawnOrders&) = delete;
  SpawnOrders& operator=(const SpawnOrders&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

[[noreturn]] void fail_start(const fs::path& program, int error) {
  throw Error(ErrorCode::FileFailed,
              {FactCode::WorkerNotStarted, {program.string()}, {{"why", std::generic_category().message(error)}}});
}

}  // namespace

namespace {

/// What posix_spawn takes: pointers, the last one null.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

struct Start {
  fs::path program;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  fs::path said{};  ///< for the error stream until it has begun; empty = as that of this process
};

StartedProgram start(int memory, Start start) {
  const fs::path& program = start.program;
  std::array<int, 2> sockets{-1, -1};
  std::array<int, 2> pipe{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) fail_start(program, errno);
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    const int error = errno;
    for (const int descriptor : sockets) ::close(descriptor);
    fail_start(program, error);
  }
  const int their_socket = moved_up(sockets[1]);
  const int their_lifeline = moved_up(pipe[0]);
  const int their_memory = ::fcntl(memory, F_DUPFD_CLOEXEC, kAboveInherited);
  const auto environment = pointers_to(start.environment);
  const auto arguments = pointers_to(start.arguments);
  StartedProgram started{-1, sockets[0], pipe[1]};
  int error = 0;
  {
    const SpawnOrders orders(their_socket, their_memory, their_lifeline, start.said);
    error = ::posix_spawn(&started.process, program.c_str(), &orders.actions, &orders.attributes, arguments.data(),
                          environment.data());
  }
  for (const int descriptor : {their_socket, their_lifeline, their_memory}) ::close(descriptor);
  if (error == 0) return started;
  ::close(started.socket);
  ::close(started.lifeline);
  fail_start(program, error);
}

}  // namespace

StartedProgram start_program(int memory, const fs::path& folder) {
  return start(memory, {program_file(), {kProgram}, environment_with(folder)});
}

StartedProgram start_sandboxed_program(int memory, const SandboxFolders& folders, const fs::path& said) {
  auto command = sandboxed_command(program_file(), folders);
  const fs::path tool = command.front();
  return start(memory, {tool, std::move(command), sandboxed_environment(folders), said});
}

}  // namespace entrain::worker

namespace entrain {

void set_worker_program(std::filesystem::path program) {
  const std::lock_guard lock(worker::chosen().mutex);
  worker::chosen().path = std::move(program);
}

}  // namespace entrain
