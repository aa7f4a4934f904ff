#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <optional>

#include "cli/common.hpp"
#include "cli/usage.hpp"
#include "entrain/entrain.hpp"
#include "entrain/text.hpp"

namespace entrain::cli {
namespace {

struct ControlArguments {
  std::string run;
  std::string command;
  std::vector<std::string> words;
  double every = 0.1;
};

void print_state(const ControlledState& state) {
  print(fmt::format("{} at t = {} s of {} s, {} macro steps\n", state.state, short_number(state.time),
                    short_number(state.stop), state.macro_steps));
}

/// A number, true, false, or else a text.
Value value_of(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  std::int64_t whole = 0;
  const char* end = text.data() + text.size();
  if (const auto read = std::from_chars(text.data(), end, whole); read.ec == std::errc{} && read.ptr == end)
    return whole;
  double number = 0.0;
  if (const auto read = std::from_chars(text.data(), end, number); read.ec == std::errc{} && read.ptr == end)
    return number;
  return text;
}

int watch(RunControl& run, const ControlArguments& arguments) {
  print_exact(fmt::format("time{}{}\n", arguments.words.empty() ? "" : ",", fmt::join(arguments.words, ",")));
  const auto& stopped = catch_signals();
  run.subscribe(arguments.words, arguments.every, [&](const ControlledSample& sample) {
    print_exact(fmt::format("{}{}{}\n", sample.time, sample.values.empty() ? "" : ",", fmt::join(sample.values, ",")));
    std::fflush(output());
    return !stopped.load();
  });
  return kDone;
}

int control(const ControlArguments& arguments) {
  RunControl run(arguments.run);
  const auto& words = arguments.words;
  if (arguments.command == "watch") return watch(run, arguments);
  if (arguments.command == "pause") print_state(run.pause());
  if (arguments.command == "resume") print_state(run.resume());
  if (arguments.command == "status") print_state(run.status());
  if (arguments.command == "step") {
    std::uint64_t steps = 1;
    if (!words.empty()) {
      const char* end = words[0].data() + words[0].size();
      const auto read = std::from_chars(words[0].data(), end, steps);
      if (read.ec != std::errc{} || read.ptr != end || steps == 0) {
        print_error(fmt::format("'{}' is no number of steps", words[0]));
        return kWrongUsage;
      }
    }
    print_state(run.step(steps));
  }
  if (arguments.command == "set") {
    for (const auto& assignment : words) {
      const auto equals = assignment.find('=');
      if (equals == std::string::npos) {
        print_error(fmt::format("'{}' is no SUB.VAR=VALUE", assignment));
        return kWrongUsage;
      }
      print_state(run.set(assignment.substr(0, equals), value_of(assignment.substr(equals + 1))));
    }
  }
  if (arguments.command == "stop") {
    run.stop();
    print("stopped\n");
  }
  return kDone;
}

}  // namespace

Command add_control(CLI::App& program) {
  auto* command = add_subcommand(program, "control", "Pause, step, change, watch or stop a run that goes on",
                                 "entrain control runs/bench-1 set left.k=2");
  const auto arguments = std::make_shared<ControlArguments>();
  command->add_option("RUN", arguments->run, "Folder of the run")->required()->type_name("");
  command
      ->add_option("COMMAND", arguments->command,
                   "status, pause, resume, step [N], set SUB.VAR=VALUE, watch SUB.VAR, stop")
      ->required()
      ->type_name("")
      ->check(CLI::IsMember({"status", "pause", "resume", "step", "set", "watch", "stop"}));
  command->add_option("WORDS", arguments->words, "What the command needs")->type_name("");
  command->add_option("--every", arguments->every, "Of watch: seconds between two lines (default: 0.1)")
      ->type_name("T")
      ->transform(time_in_seconds())
      ->check(positive_number());
  return {command, [arguments] { return control(*arguments); }};
}

}  // namespace entrain::cli
