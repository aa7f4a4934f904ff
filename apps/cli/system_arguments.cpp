#include "cli/system_arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/common.hpp"
#include "cli/usage.hpp"
#include "entrain/rig.hpp"
#include "entrain/sandbox.hpp"
#include "entrain/system.hpp"

namespace entrain::cli {
namespace {

template <class T>
Written<T> from_command_line(const std::string& option, const T& value) {
  return {value, {option, 0, 0}};
}

}  // namespace

std::string quoted_argument(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+=/,:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

void add_sandbox(CLI::App& command, bool& sandbox) {
  command.add_flag("--sandbox", sandbox, "Each FMU in a sandbox: no network, files or new processes (docs/workers.md)");
}

void SystemArguments::add_system(CLI::App& command) {
  command.add_option("SYSTEM", system, "System file (.toml, .ssp, .ssd), a folder holding one, or an FMU")
      ->required()
      ->type_name("");
  command.add_option("--step", step, "Macro step in s, or with a unit: 1ms")
      ->type_name("H")
      ->transform(time_in_seconds());
  command.add_option("--start", start, "Start time in s")->type_name("T")->transform(time_in_seconds());
  command.add_option("--stop", stop, "Stop time in s")->type_name("T")->transform(time_in_seconds());
  command.add_option("--set", sets, "Start value or parameter; may be repeated")
      ->type_name("SUB.VAR=VALUE")
      ->allow_extra_args(false)
      ->check(assignment_validator());
  command
      .add_option("--scenario", scenarios, "Lay the [[scenario]] entries of a file over the system; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command.add_flag("--isolate", isolate, "Each subsystem in a process of its own (docs/workers.md)");
  add_sandbox(command, sandbox);
  command.add_flag("--stand-in", stand_in, "Compute parts outside (udp, shm) by their models (docs/real_time.md)");
}

void SystemArguments::add_method(CLI::App& command) {
  command.add_option("--method", method, "Coupling method (see 'entrain methods')")->type_name("M");
  command.add_option("--option", options, "Option of the method; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->check(assignment_validator());
}

void SystemArguments::add_exclude(CLI::App& command) {
  command.add_option("--exclude", excluded, "Method that is not to be chosen; may be repeated")
      ->type_name("M")
      ->allow_extra_args(false);
}

void SystemArguments::add_tolerance(CLI::App& command) {
  command
      .add_option("--tolerance", tolerance,
                  "Error that is tolerated, as a share of the range of an output (default: 0.01)")
      ->type_name("R");
}

std::string SystemArguments::other_arguments() const {
  std::string text;
  const auto add = [&](std::string_view option, const std::string& value) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", option, quoted_argument(value));
  };
  if (method) add("--method", *method);
  if (start) add("--start", fmt::format("{}", *start));
  if (stop) add("--stop", fmt::format("{}", *stop));
  for (const auto& assignment : sets) add("--set", assignment);
  for (const auto& file : scenarios) add("--scenario", file);
  for (const auto& assignment : options) add("--option", assignment);
  for (const auto& name : excluded) add("--exclude", name);
  if (tolerance) add("--tolerance", fmt::format("{}", *tolerance));
  if (isolate) text += text.empty() ? "--isolate" : " --isolate";
  if (sandbox) text += text.empty() ? "--sandbox" : " --sandbox";
  if (stand_in) text += text.empty() ? "--stand-in" : " --stand-in";
  return text;
}

bool SystemArguments::changes() const {
  SystemArguments others = *this;
  others.sandbox = false;
  return step.has_value() || !others.other_arguments().empty();
}

SystemDescription SystemArguments::described() const {
  return changed(load(system, {}, {.sandbox = sandbox}));
}

SystemDescription SystemArguments::changed(SystemDescription description) const {
  if (method) description.method = from_command_line("--method", *method);
  if (step) description.step = from_command_line("--step", *step);
  if (start) description.start = from_command_line("--start", *start);
  if (stop) description.stop = from_command_line("--stop", *stop);
  if (stand_in) description = with_stand_ins(std::move(description));
  if (isolate) description.isolate = from_command_line("--isolate", true);
  if (sandbox) put_in_sandbox(description);
  if (tolerance) description.tolerance = from_command_line("--tolerance", *tolerance);
  if (!excluded.empty()) {
    description.exclude.emplace();
    for (const auto& name : excluded) description.exclude->push_back(from_command_line("--exclude", name));
  }
  for (const auto& assignment : sets) apply_set(description, assignment);
  for (const auto& file : scenarios) apply_scenario(description, file);
  for (const auto& assignment : options) apply_option(description, assignment);
  return description;
}

}  // namespace entrain::cli
