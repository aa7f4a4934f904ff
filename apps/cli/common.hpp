#pragma once

#include <CLI/App.hpp>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "cli/text_report.hpp"
#include "entrain/verdict.hpp"

namespace entrain::cli {

/// Exit codes; a promise to scripts.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUsage = 2;
inline constexpr int kBelowGrade = 3;  ///< it finished, but the result is not as good as required

/// A subcommand: what CLI11 knows of it, and what it does once the arguments are read.
struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

Command add_run(CLI::App& program);
Command add_learn(CLI::App& program);
Command add_rig(CLI::App& program);
Command add_control(CLI::App& program);
Command add_check(CLI::App& program);
Command add_inspect(CLI::App& program);
Command add_new(CLI::App& program);
Command add_convert(CLI::App& program);
Command add_methods(CLI::App& program);
Command add_advise(CLI::App& program);
Command add_verify(CLI::App& program);
Command add_studio(CLI::App& program);
Command add_sweep(CLI::App& program);
Command add_reproduce(CLI::App& program);
Command add_report(CLI::App& program);
Command add_compare(CLI::App& program);
Command add_version(CLI::App& program);
Command add_completion(CLI::App& program);

/// A subcommand with its "Example:" line at the end of --help.
CLI::App* add_subcommand(CLI::App& program, const std::string& name, const std::string& description,
                         const std::string& example);

/// For options of the form NAME=VALUE.
CLI::Validator assignment_validator();

/// --require GRADE; without it anything but unreliable will do.
void add_require(CLI::App& command, RequiredGrade& required);
/// kDone, or kBelowGrade after the reason was printed.
int exit_code(Grade grade, RequiredGrade required);

/// Above zero and finite; CLI11's own takes "nan" too.
CLI::Validator positive_number();

/// The streams that the program prints to. From `keep_streams` on they are copies: FMUs print to the standard streams,
/// which is to be seen on stderr or in fmu.log, never between the lines of the program.
std::FILE* output();
std::FILE* error_output();
void keep_streams();

/// From now on nothing is printed: another rank speaks. But for what ends this process in the middle of its work, and
/// calls that take long.
void be_silent(int rank);
void speak_again();
/// For a LongCallWatch.
void print_long_call(Fact call);

/// For people: on a terminal, lines that are too long are broken at spaces.
void print(std::string_view text);
/// For programs: JSON, scripts.
void print_exact(std::string_view text);
/// To stderr, every line prefixed by "entrain: ".
void print_error(std::string_view text);

/// From now on each signal that would end the program sets the flag that is returned (SIGINT, SIGTERM, SIGHUP, SIGQUIT,
/// SIGXCPU, ...): a run ends in order. A second one ends it at once, with what is there.
const std::atomic<bool>& catch_signals();

/// Colour when stdout is a terminal and NO_COLOR is not set (no-color.org).
TextStyle stdout_style();

}  // namespace entrain::cli
