#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cli/common.hpp"
#include "cli/supervisor.hpp"
#include "cli/terminal.hpp"
#include "cli/usage.hpp"
#include "entrain/cache.hpp"
#include "entrain/report.hpp"
#include "entrain/watchdog.hpp"
#include "entrain/worker.hpp"

namespace entrain::cli {
namespace {

/// `command`: whose help helps; empty = that of the program.
int wrong_usage(std::string_view what, std::string_view command = {}) {
  print_error(what);
  print_error(fmt::format("see 'entrain {}{}--help'", command, command.empty() ? "" : " "));
  return kWrongUsage;
}

/// Everything that is wrong was written on the command line, not in a file.
bool is_wrong_usage(const Error& error) {
  const auto& problems = error.problems();
  return !problems.empty() && std::all_of(problems.begin(), problems.end(), [](const Problem& problem) {
    return problem.severity == Problem::Severity::Warning || problem.where.file.starts_with("--");
  });
}

/// Who asked for JSON gets an error as JSON too.
int run_command(const Command& command) {
  try {
    return command.run();
  } catch (const Error& error) {
    const auto* json = command.app->get_option_no_throw("--json");
    if (json != nullptr && json->count() > 0) print_exact(error_json(error));
    if (!is_wrong_usage(error)) throw;
    return wrong_usage(error.what(), command.app->get_name());
  }
}

int print_help(const CLI::App& program, const CLI::ParseError& request) {
  std::ostringstream text;
  program.exit(request, text, text);
  const auto columns = output_columns();
  print_exact(columns == kAnyWidth ? text.str() : wrapped_help(text.str(), columns));
  return kDone;
}

/// The subcommands, in the order and under the headings of --help.
std::vector<Command> add_commands(CLI::App& program) {
  const std::pair<std::string, std::vector<Command>> groups[] = {
      {"Start here", {add_new(program), add_check(program), add_inspect(program), add_studio(program)}},
      {"Run", {add_run(program), add_sweep(program), add_control(program), add_rig(program), add_learn(program)}},
      {"Judge", {add_advise(program), add_verify(program), add_compare(program), add_report(program)}},
      {"More",
       {add_methods(program), add_convert(program), add_reproduce(program), add_completion(program),
        add_version(program)}}};
  std::vector<Command> commands;
  for (const auto& [heading, members] : groups) {
    for (const auto& command : members) {
      command.app->group(heading);
      commands.push_back(command);
    }
  }
  return commands;
}

int dispatch(int argc, char** argv) {
  CLI::App program("Entrain couples simulators and advances them together in time.", "entrain");
  program.require_subcommand(1);
  program.footer(
      "Examples:\n  entrain new plant engine.fmu gearbox.fmu\n  entrain run plant\n"
      "'entrain help COMMAND' or 'entrain COMMAND --help' for one of them, 'entrain --version'");
  const auto commands = add_commands(program);
  const auto words = usual_form({argv + 1, argv + argc});
  if (words.empty()) return wrong_usage("a command is missing");
  if (const auto what = unknown_command(program, words.front()); !what.empty()) return wrong_usage(what);
  try {
    program.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them from the end
    for (const auto& command : commands) {
      if (!command.app->parsed()) continue;
      keep_streams();
      return run_command(command);
    }
  } catch (const CLI::ParseError& error) {
    // A request for help is an "error" with code 0.
    if (error.get_exit_code() == 0) return print_help(program, error);
    for (const auto& command : commands) {
      if (command.app->get_name() != words.front()) continue;
      return wrong_usage(usage_problem(*command.app, words, error), words.front());
    }
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

/// $ENTRAIN_CACHE, "off" = none; else the user's folder for what can be made again, as the XDG base directory
/// specification places it.
std::filesystem::path chosen_cache_folder() {
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text == nullptr ? "" : text);
  };
  if (const auto written = value("ENTRAIN_CACHE"); !written.empty()) return written == "off" ? "" : written;
  const std::filesystem::path general = value("XDG_CACHE_HOME");
  if (general.is_absolute()) return general / "entrain";
  const std::filesystem::path home = value("HOME");
  return home.is_absolute() ? home / ".cache" / "entrain" : "";
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
    const entrain::Watchdog watchdog([](const entrain::Error& fault) {
      speak_again();
      print_error(fault.what());
    });
    const entrain::LongCallWatch long_calls(print_long_call);
    if (const char* worker = std::getenv("ENTRAIN_WORKER")) entrain::set_worker_program(worker);
    entrain::set_cache_folder(chosen_cache_folder());
    code = dispatch(argc, argv);
    if (!output_was_written()) code = kFailed;
  } catch (const std::exception& error) {
    std::fflush(output());
    print_error(error.what());
  }
  leave(code);
}
