#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cli/common.hpp"
#include "cli/supervisor.hpp"
#include "entrain/report.hpp"
#include "entrain/text.hpp"
#include "entrain/watchdog.hpp"
#include "entrain/worker.hpp"

namespace entrain::cli {
namespace {

/// The message about a first word that is no subcommand; CLI11 reports only that it was not expected. Empty = it is
/// one.
std::string unknown_command(const CLI::App& program, const std::string& word) {
  std::vector<std::string> known;
  for (const auto* command : program.get_subcommands({})) known.push_back(command->get_name());
  if (word.starts_with('-') || std::find(known.begin(), known.end(), word) != known.end()) return {};
  return fmt::format("unknown command '{}'; {}", word, suggestion(word, known));
}

int wrong_usage(std::string_view what) {
  print_error(what);
  print_error("see 'entrain --help'");
  return kWrongUsage;
}

/// Who asked for JSON gets an error as JSON too.
int run_command(const Command& command) {
  try {
    return command.run();
  } catch (const Error& error) {
    const auto* json = command.app->get_option_no_throw("--json");
    if (json != nullptr && json->count() > 0) print(error_json(error));
    throw;
  }
}

int dispatch(int argc, char** argv) {
  CLI::App program("Entrain couples simulators and advances them together in time.", "entrain");
  program.require_subcommand(1);
  program.footer("Example:\n  entrain run examples/mechanical");
  const std::vector<Command> commands = {
      add_run(program),     add_check(program),      add_inspect(program), add_methods(program), add_reproduce(program),
      add_version(program), add_completion(program), add_new(program),     add_convert(program), add_learn(program),
      add_report(program),  add_compare(program),    add_verify(program),  add_advise(program)};
  if (argc < 2) return wrong_usage("a command is missing");
  if (const auto what = unknown_command(program, argv[1]); !what.empty()) return wrong_usage(what);
  try {
    program.parse(argc, argv);
    for (const auto& command : commands) {
      if (!command.app->parsed()) continue;
      keep_streams();
      return run_command(command);
    }
  } catch (const CLI::ParseError& error) {
    // A request for help is an "error" with code 0.
    if (error.get_exit_code() == 0) return program.exit(error);
    return wrong_usage(error.what());
  }
  return wrong_usage("a command is missing");
}

/// A full disk behind `> file` must not look like success; a reader that went away (| head) is none of our business.
bool output_was_written() {
  const bool failed = std::fflush(output()) != 0 || std::ferror(output()) != 0;
  if (!failed || errno == EPIPE) return true;
  print_error(fmt::format("cannot write to the standard output: {}", std::strerror(errno)));
  return false;
}

/// Without exit handlers: the loader keeps the libraries of some FMUs for good, and what their destructors do at the
/// exit (those of PythonFMU read what they freed) must not turn a finished run into a crash.
[[noreturn]] void leave(int code) {
  std::fflush(nullptr);
  report_end();
  std::_Exit(code);
}

}  // namespace
}  // namespace entrain::cli

int main(int argc, char** argv) {
  using namespace entrain::cli;
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of writing
  supervise();
  int code = kFailed;
  try {
    const entrain::Watchdog watchdog([](const entrain::Error& fault) { print_error(fault.what()); });
    if (const char* worker = std::getenv("ENTRAIN_WORKER")) entrain::set_worker_program(worker);
    code = dispatch(argc, argv);
    if (!output_was_written()) code = kFailed;
  } catch (const std::exception& error) {
    std::fflush(output());
    print_error(error.what());
  }
  leave(code);
}
