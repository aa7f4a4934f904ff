#include "cli/common.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "cli/terminal.hpp"
#include "entrain/watchdog.hpp"

namespace entrain::cli {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not lock");

/// A stream of the program: not the one that FMUs write to.
struct OwnStream {
  int number;  ///< in the process that waits for this one, which has no FMUs
  std::FILE* file;
  struct stat about {};
};
OwnStream own_output{STDOUT_FILENO, stdout};
OwnStream own_error_output{STDERR_FILENO, stderr};

/// Those whose default is the end of the program, without faults of the program itself and SIGPIPE, which is ignored.
struct EndingSignal {
  int number;
  const char* name;
};
constexpr std::array kEndingSignals{
    EndingSignal{SIGINT, "SIGINT"},   EndingSignal{SIGTERM, "SIGTERM"},     EndingSignal{SIGHUP, "SIGHUP"},
    EndingSignal{SIGQUIT, "SIGQUIT"}, EndingSignal{SIGXCPU, "SIGXCPU"},     EndingSignal{SIGUSR1, "SIGUSR1"},
    EndingSignal{SIGUSR2, "SIGUSR2"}, EndingSignal{SIGVTALRM, "SIGVTALRM"}, EndingSignal{SIGPROF, "SIGPROF"},
    EndingSignal{SIGALRM, "SIGALRM"}, EndingSignal{SIGPOLL, "SIGPOLL"},     EndingSignal{SIGPWR, "SIGPWR"}};
std::atomic<int> error_descriptor = STDERR_FILENO;
bool silent = false;             // another rank speaks
std::optional<int> silent_rank;  // this one, if it is not the first

void write_text(const char* text) {
  [[maybe_unused]] const ssize_t ignored = ::write(error_descriptor.load(), text, std::strlen(text));
}

extern "C" void on_signal(int signal) {
  const int error_number = errno;
  if (interrupted.exchange(true)) {
    // Of the limit of processor time it comes again every second, and of a timer whenever it is due.
    const bool asks_again = signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
    if (asks_again) Watchdog::end_at_once();
  } else {
    for (const auto& known : kEndingSignals) {
      if (known.number != signal) continue;
      for (const char* part :
           {"entrain: ", known.name, ": the run ends after this step; a second signal ends it at once\n"}) {
        write_text(part);
      }
    }
  }
  errno = error_number;
}

std::FILE* copy_of(std::FILE* stream) {
  constexpr int kAboveStreams = 3;
  const int descriptor = ::fcntl(::fileno(stream), F_DUPFD_CLOEXEC, kAboveStreams);
  std::FILE* copy = descriptor < 0 ? nullptr : ::fdopen(descriptor, "w");
  return copy == nullptr ? stream : copy;
}

void keep(OwnStream& stream) {
  stream.file = copy_of(stream.file);
  ::fstat(::fileno(stream.file), &stream.about);
}

/// An FMU may close all descriptors, and open files of its own in their place.
std::FILE* sound(OwnStream& stream) {
  const auto is_it = [&](int descriptor) {
    struct stat now {};
    return ::fstat(descriptor, &now) == 0 && now.st_dev == stream.about.st_dev && now.st_ino == stream.about.st_ino;
  };
  if (stream.about.st_ino == 0 || is_it(::fileno(stream.file))) return stream.file;
  const std::string path = fmt::format("/proc/{}/fd/{}", ::getppid(), stream.number);
  const int again = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  std::FILE* file = again >= 0 && is_it(again) ? ::fdopen(again, "w") : nullptr;
  if (file != nullptr) {
    stream.file = file;
  } else if (again >= 0) {
    ::close(again);
  }
  return stream.file;
}

void write_error(std::string lines) {
  if (::isatty(::fileno(error_output())) == 1) lines = wrapped(lines, terminal_columns());
  std::fwrite(lines.data(), 1, lines.size(), error_output());
}

}  // namespace

CLI::App* add_subcommand(CLI::App& program, const std::string& name, const std::string& description,
                         const std::string& example) {
  auto* command = program.add_subcommand(name, description);
  command->footer("Example:\n  " + example);
  return command;
}

CLI::Validator assignment_validator() {
  return CLI::Validator(
      [](std::string& text) {
        const auto equals = text.find('=');
        return equals == 0 || equals == std::string::npos ? "'" + text + "' is not NAME=VALUE" : std::string();
      },
      "");
}

CLI::Validator positive_number() {
  return CLI::Validator(
      [](std::string& text) {
        double value = 0.0;
        const bool fits = CLI::detail::lexical_cast(text, value) && value > 0.0 && std::isfinite(value);
        return fits ? std::string() : "'" + text + "' is not a number above 0";
      },
      "");
}

void add_require(CLI::App& command, RequiredGrade& required) {
  const std::map<std::string, RequiredGrade> words{
      {"trusted", RequiredGrade::Trusted}, {"check", RequiredGrade::Check}, {"any", RequiredGrade::Any}};
  command
      .add_option_function<std::string>(
          "--require", [&required, words](const std::string& word) { required = words.at(word); },
          fmt::format("Least grade: trusted, check or any; below it the exit code is 3 (default: {})",
                      required == RequiredGrade::Trusted ? "trusted" : "not unreliable"))
      ->type_name("GRADE")
      ->check(CLI::IsMember(words));
}

int exit_code(Grade grade, RequiredGrade required) {
  if (meets(grade, required)) return kDone;
  const auto* least = required == RequiredGrade::Trusted ? "trusted"
                      : required == RequiredGrade::Check ? "check"
                                                         : "any but unreliable";
  print_error(fmt::format("the grade of the result is {}; required: {}", to_string(grade), least));
  return kBelowGrade;
}

std::FILE* output() {
  return sound(own_output);
}

std::FILE* error_output() {
  return sound(own_error_output);
}

void keep_streams() {
  keep(own_output);
  keep(own_error_output);
  std::setvbuf(own_error_output.file, nullptr, _IONBF, 0);
  error_descriptor = ::fileno(own_error_output.file);
  if (own_output.file != stdout) ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

void be_silent(int rank) {
  silent = true;
  silent_rank = rank;
}

void speak_again() {
  silent = false;
}

void print_exact(std::string_view text) {
  if (silent) return;
  std::fwrite(text.data(), 1, text.size(), output());
}

void print(std::string_view text) {
  const auto columns = output_columns();
  print_exact(columns == kAnyWidth ? text : wrapped(text, columns));
}

void print_error(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.append("entrain: ").append(text.substr(0, end)).append("\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (silent) return;
  write_error(std::move(lines));
}

void print_long_call(Fact call) {
  if (silent_rank) call.values.emplace_back("rank", *silent_rank);
  const char* end = call.number("case")             ? "ends the sweep"
                    : call.text("process") == "own" ? "ends the run"
                                                    : "twice ends it";
  write_error(fmt::format("entrain: {}; Ctrl-C {}\n", render(call), end));
}

TextStyle stdout_style() {
  const char* no_colour = std::getenv("NO_COLOR");
  return {.colour = ::isatty(::fileno(output())) == 1 && (no_colour == nullptr || *no_colour == '\0')};
}

const std::atomic<bool>& catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const auto& known : kEndingSignals) {
    struct sigaction inherited {};
    sigaction(known.number, nullptr, &inherited);
    if (known.number == SIGHUP && inherited.sa_handler == SIG_IGN) continue;  // nohup: it outlives its terminal
    sigaction(known.number, &action, nullptr);
  }
  return interrupted;
}

}  // namespace entrain::cli
