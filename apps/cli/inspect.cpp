#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "cli/common.hpp"
#include "cli/system_arguments.hpp"
#include "cli/table.hpp"
#include "cli/text_report.hpp"
#include "entrain/entrain.hpp"
#include "entrain/sandbox.hpp"
#include "entrain/text.hpp"

namespace entrain::cli {
namespace {

std::string inspection_text(const SystemInspection& inspection) {
  std::string text;
  const bool loaded = !inspection.methods.empty();  // else only what the files contain is known
  for (const auto& subsystem : inspection.subsystems) {
    text += fmt::format("{}: {}\n", subsystem.name, subsystem.source);
    if (!subsystem.about.empty()) text += fmt::format("  {}\n", subsystem.about);
    text += variables_text(subsystem.variables);
    if (loaded) text += capabilities_text(subsystem.capabilities, subsystem.variables);
    if (!subsystem.otherwise.empty()) text += fmt::format("  by model exchange: {}\n", subsystem.otherwise);
    for (const auto& warning : subsystem.warnings) text += fmt::format("  warning: {}\n", render(warning));
    text += '\n';
  }
  if (!loaded) return text;
  if (inspection.subsystems.size() > 1 || !inspection.loops.empty()) {
    text +=
        "strongly connected subsystems\n" + groups_text(inspection.components, "none: the data flow in one direction");
    text += "algebraic loops\n" + groups_text(inspection.loops, "none");
    text += fmt::format("sequence\n  {}\n", fmt::join(inspection.sequence, ", "));
  }
  text += "methods\n";
  for (const auto& verdict : inspection.methods) {
    text += fmt::format("  {}: {}\n", verdict.method,
                        verdict.obstacles.empty() ? "can run it" : render(verdict.obstacles, "; "));
    for (const auto& note : verdict.notes) text += fmt::format("    {}\n", render(note));
  }
  return text;
}

std::string initial_text(const std::vector<InitialInput>& inputs) {
  Table table({"input", "value at the start", "unit", "from"});
  for (const auto& input : inputs) table.add_row({input.name, value_text(input.value), input.unit, input.from});
  return table.empty() ? "no inputs\n" : table.text(0);
}

std::string placement_text(const PlacementInspection& placement) {
  std::string text = fmt::format("placement on {} ranks, {}\n", placement.ranks, placement.by);
  Table table({"rank", "subsystems", "s per macro step"});
  for (std::size_t rank = 0; rank < placement.ranks; ++rank) {
    std::vector<std::string> names;
    double seconds = 0.0;
    for (const auto& place : placement.places) {
      if (place.rank != rank) continue;
      names.push_back(place.subsystem);
      seconds += place.seconds;
    }
    table.add_row({std::to_string(rank), names.empty() ? "none: idle" : fmt::format("{}", fmt::join(names, ", ")),
                   names.empty() || std::isnan(seconds) ? "" : short_number(seconds)});
  }
  return text + table.text(2);
}

}  // namespace

Command add_inspect(CLI::App& program) {
  struct Arguments {
    std::string system;
    bool json = false;
    bool initial = false;
    int ranks = 0;
    std::vector<std::string> sets;
    LoadOptions options;
  };
  auto* command = add_subcommand(program, "inspect", "Show the variables, capabilities and loops of a system or an FMU",
                                 "entrain inspect examples/mechanical");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("SYSTEM", arguments->system, "System file (.toml, .ssp, .ssd), a folder holding one, or an FMU")
      ->required()
      ->type_name("");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->add_flag("--initial", arguments->initial, "Show what each input gets at the start, and from where");
  command->add_option("--ranks", arguments->ranks, "Show where the subsystems of a run over N ranks would be")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--set", arguments->sets, "Start value or parameter; may be repeated")
      ->type_name("SUB.VAR=VALUE")
      ->allow_extra_args(false)
      ->check(assignment_validator());
  add_sandbox(*command, arguments->options.sandbox);
  return {command, [arguments] {
            auto description = load(arguments->system, {}, arguments->options);
            for (const auto& assignment : arguments->sets) apply_set(description, assignment);
            if (arguments->ranks > 0) {
              const auto placement = inspect_placement(description, static_cast<std::size_t>(arguments->ranks));
              arguments->json ? print_exact(placement_json(placement)) : print(placement_text(placement));
              return kDone;
            }
            if (arguments->initial) {
              const auto inputs = inspect_initial(description);
              arguments->json ? print_exact(initial_json(inputs)) : print(initial_text(inputs));
              return kDone;
            }
            const auto inspection = inspect(description);
            arguments->json ? print_exact(inspection_json(inspection)) : print(inspection_text(inspection));
            return kDone;
          }};
}

}  // namespace entrain::cli
