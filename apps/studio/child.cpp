#include "studio/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

extern char** environ;

namespace entrain::studio {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostOutput = 64U << 20U;

class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  void set(int value) {
    close();
    value_ = value;
  }
  void close() {
    if (value_ >= 0) ::close(value_);
    value_ = -1;
  }

 private:
  int value_;
};

void make_pipe(Descriptor& reading, Descriptor& writing) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category());
  reading.set(ends[0]);
  writing.set(ends[1]);
}

/// posix_spawn with the three standard streams, in a session of its own.
pid_t spawn(const ChildCommand& command, int input, int output, int errors) {
  std::vector<std::string> words{command.program.string()};
  words.insert(words.end(), command.words.begin(), command.words.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addchdir_np(&actions, command.folder.c_str());
  ::posix_spawn_file_actions_adddup2(&actions, input, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, 1);
  ::posix_spawn_file_actions_adddup2(&actions, errors, 2);
  // A connection that the child holds would stay open when this process is killed, and the page would wait for it.
  ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  const int error = ::posix_spawn(&child, command.program.c_str(), &actions, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::generic_category(), command.program.string());
  return child;
}

/// What is there; false at the end.
bool take(int descriptor, std::string& text, bool& is_cut) {
  std::array<char, 16384> part{};
  const auto count = ::read(descriptor, part.data(), part.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (text.size() < kMostOutput) {
    text.append(part.data(), static_cast<std::size_t>(count));
  } else {
    is_cut = true;
  }
  return count > 0;
}

}  // namespace

ChildResult run_child(const ChildCommand& command, const std::string& input, std::chrono::seconds patience) {
  Descriptor child_input, to_child, from_child, child_output, from_errors, child_errors;
  make_pipe(child_input, to_child);
  make_pipe(from_child, child_output);
  make_pipe(from_errors, child_errors);
  const pid_t child = spawn(command, child_input.get(), child_output.get(), child_errors.get());
  child_input.close();
  child_output.close();
  child_errors.close();
  ::fcntl(to_child.get(), F_SETFL, O_NONBLOCK);
  ChildResult result;
  std::size_t sent = 0;
  const auto until = Clock::now() + patience;
  while (from_child.get() >= 0 || from_errors.get() >= 0) {
    if (sent == input.size()) to_child.close();
    std::array<pollfd, 3> polled{
        {{from_child.get(), POLLIN, 0}, {from_errors.get(), POLLIN, 0}, {to_child.get(), POLLOUT, 0}}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) {
      result.is_late = true;
      ::kill(-child, SIGKILL);
      break;
    }
    if (::poll(polled.data(), polled.size(), static_cast<int>(left)) <= 0) continue;
    if (polled[0].revents != 0 && !take(from_child.get(), result.output, result.is_cut)) from_child.close();
    if (polled[1].revents != 0 && !take(from_errors.get(), result.errors, result.is_cut)) from_errors.close();
    if (polled[2].revents == 0) continue;
    const auto count = ::write(to_child.get(), input.data() + sent, input.size() - sent);
    if (count > 0) sent += static_cast<std::size_t>(count);
    if (count < 0 && errno != EAGAIN && errno != EINTR) sent = input.size();
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  return result;
}

pid_t start_apart(const ChildCommand& command, const std::filesystem::path& log) {
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Descriptor output(::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (nothing.get() < 0 || output.get() < 0) throw std::system_error(errno, std::generic_category(), log.string());
  return spawn(command, nothing.get(), output.get(), output.get());
}

}  // namespace entrain::studio
