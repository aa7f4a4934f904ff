#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>

#include "cli/common.hpp"
#include "cli/system_arguments.hpp"
#include "cli/usage.hpp"
#include "entrain/entrain.hpp"

namespace entrain::cli {
namespace {

struct RigArguments {
  SystemArguments system;
  std::string subsystem;
  RigOptions options;
  std::string answer = std::string(to_word(RigAnswer::End));
  std::optional<std::string> log;
};

/// One line per step datagram: its number and when it came.
void write_arrivals(const std::string& file, const std::vector<double>& arrivals) {
  std::FILE* to = std::fopen(file.c_str(), "w");
  if (to == nullptr) throw std::runtime_error(fmt::format("cannot create '{}'", file));
  std::fputs("step,arrival [s]\n", to);
  for (std::size_t i = 0; i < arrivals.size(); ++i) fmt::print(to, "{},{:.9f}\n", i, arrivals[i]);
  std::fclose(to);
}

int play(RigArguments& arguments) {
  auto& options = arguments.options;
  options.interrupt = &catch_signals();
  options.answer = *from_word<RigAnswer>(arguments.answer);
  options.keeps_arrivals = arguments.log.has_value();
  options.listening = [&](const std::string& address) {
    print(fmt::format("'{}' listens to {}\n", arguments.subsystem, address));
    std::fflush(output());
  };
  const auto report = play_rig(arguments.system.described(), arguments.subsystem, options);
  print(
      fmt::format("{} run{}; received {}, of them {} old; {} never arrived, {} not understood; sent {}, withheld {}\n",
                  report.runs, report.runs == 1 ? "" : "s", report.received, report.old, report.gaps, report.invalid,
                  report.sent, report.withheld));
  if (arguments.log) write_arrivals(*arguments.log, report.arrivals);
  return kDone;
}

void add_duration(CLI::App& command, const std::string& name, Duration& duration, const std::string& help) {
  command.add_option(name, duration, help)->type_name("T")->transform(time_in_seconds())->check(CLI::NonNegativeNumber);
}

}  // namespace

Command add_rig(CLI::App& program) {
  auto* command = add_subcommand(program, "rig", "Play a part outside (udp, shm) by its model, in real time",
                                 "entrain rig examples/bench --subsystem right --delay 1ms --jitter 0.2ms --loss 0.01");
  const auto arguments = std::make_shared<RigArguments>();
  auto& options = arguments->options;
  arguments->system.add_system(*command);
  command->add_option("--subsystem", arguments->subsystem, "The one that is played")->required()->type_name("S");
  add_duration(*command, "--delay", options.delay, "Wall clock time from the inputs to the answer");
  add_duration(*command, "--jitter", options.jitter, "Added to the delay, evenly between 0 and this");
  command->add_option("--loss", options.loss, "Share of the answers that are not sent")
      ->type_name("R")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--doubled", options.doubled, "Share of the answers that are sent twice")
      ->type_name("R")
      ->check(CLI::Range(0.0, 1.0));
  add_duration(*command, "--actuator-delay", options.actuator_delay, "Simulated time after which inputs act");
  add_duration(*command, "--actuator-lag", options.actuator_lag, "Time constant of the actuator, simulated time");
  std::vector<std::string> words;
  for (const auto word : words_of<RigAnswer>()) words.emplace_back(word);
  command->add_option("--answer", arguments->answer, "With the outputs at the end or at the begin of a step")
      ->check(CLI::IsMember(words));
  command->add_option("--seed", options.seed, "Of jitter and loss")->type_name("N");
  command->add_option("--runs", options.runs, "Runs to be served; 0 = until it is interrupted")->type_name("N");
  command->add_option("--patience", options.patience, "Wall clock time without a datagram after which it ends")
      ->type_name("T")
      ->transform(time_in_seconds())
      ->check(positive_number());
  command->add_option("--log", arguments->log, "Write when every step arrived")->type_name("FILE");
  return {command, [arguments] { return play(*arguments); }};
}

}  // namespace entrain::cli
