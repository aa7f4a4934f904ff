#include "cli/common.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace entrain::cli {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not lock");

extern "C" void on_signal(int) {
  if (interrupted.exchange(true)) ::_exit(kFailed);
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

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_error(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.append("entrain: ").append(text.substr(0, end)).append("\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::fwrite(lines.data(), 1, lines.size(), stderr);
}

TextStyle stdout_style() {
  const char* no_colour = std::getenv("NO_COLOR");
  return {.colour = ::isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0')};
}

const std::atomic<bool>& catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return interrupted;
}

}  // namespace entrain::cli
