#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/common.hpp"
#include "description/system_file.hpp"
#include "entrain/entrain.hpp"
#include "facade/advice.hpp"
#include "report/json_parts.hpp"
#include "report/table.hpp"
#include "results/replace_file.hpp"

namespace entrain::cli {
namespace {

struct AdviseArguments {
  std::string system;
  std::optional<double> step;
  std::optional<double> stop;
  double tolerance = AdviceSettings{}.tolerance;
  bool apply = false;
  bool verify = false;
  bool json = false;
};

std::string title_of(const Candidate& candidate) {
  return candidate.explicit_method() ? fmt::format("{}, degree {}", candidate.method, candidate.degree)
                                     : candidate.method;
}

template <class T>
nlohmann::ordered_json optional_json(const std::optional<T>& value) {
  return value && std::isfinite(static_cast<double>(*value)) ? nlohmann::ordered_json(*value) : nullptr;
}

std::string advice_json(const Advice& advice) {
  auto candidates = nlohmann::ordered_json::array();
  for (const auto& of : advice.candidates) {
    candidates.push_back({{"method", of.method},
                          {"degree", of.degree},
                          {"obstacles", of.obstacles},
                          {"radius", optional_json(of.radius)},
                          {"stable", of.radius ? nlohmann::ordered_json(of.stable) : nullptr},
                          {"longest_stable_step", optional_json(of.longest_step)},
                          {"error", optional_json(of.error)},
                          {"equal_cost_error", optional_json(of.equal_cost_error)},
                          {"probed_error", optional_json(of.probed_error)},
                          {"calls_per_step", optional_json(of.calls_per_step)},
                          {"wall_seconds_per_second", optional_json(of.wall_seconds)}});
  }
  auto measured = nlohmann::ordered_json::array();
  for (const auto& of : advice.measured) {
    measured.push_back({{"method", advice.candidates[of.candidate].method},
                        {"degree", advice.candidates[of.candidate].degree},
                        {"foretold", of.foretold},
                        {"measured", of.measured}});
  }
  nlohmann::ordered_json json{{"system", advice.system},
                              {"step", advice.step},
                              {"capabilities", advice.capabilities},
                              {"algebraic_loops", advice.loops},
                              {"fastest_rate", optional_json(advice.fastest_rate)},
                              {"operating_points", advice.operating_points},
                              {"candidates", candidates},
                              {"method", nullptr},
                              {"degree", nullptr},
                              {"recommended_step", optional_json(advice.recommended_step)},
                              {"reason", advice.reason},
                              {"remarks", advice.remarks},
                              {"missing", advice.missing},
                              {"measured", measured}};
  if (advice.choice) {
    json["method"] = advice.candidates[*advice.choice].method;
    if (advice.candidates[*advice.choice].explicit_method()) json["degree"] = advice.candidates[*advice.choice].degree;
  }
  return json_text(json);
}

std::string number_or_dash(const std::optional<double>& value) {
  return value ? fmt::format("{:.2g}", *value) : "-";
}

std::string stability_of(const Candidate& of) {
  if (!of.radius) return "-";
  return fmt::format("{} ({:.6g})", of.stable ? "stable" : "grows", *of.radius);
}

std::string candidates_text(const Advice& advice) {
  Table table(
      {"method", "stability", "stable to, s", "error", "at equal cost", "in short runs", "calls/step", "s per s"});
  for (std::size_t column = 2; column < 8; ++column) table.align_right(column);
  std::string hindered;
  for (std::size_t i = 0; i < advice.candidates.size(); ++i) {
    const auto& of = advice.candidates[i];
    if (!of.obstacles.empty()) {
      hindered += fmt::format("  {}: {}\n", title_of(of), fmt::join(of.obstacles, "; "));
      continue;
    }
    const bool chosen = advice.choice && *advice.choice == i;
    table.add_row({title_of(of) + (chosen ? " <-" : ""), stability_of(of), number_or_dash(of.longest_step),
                   number_or_dash(of.error), number_or_dash(of.equal_cost_error), number_or_dash(of.probed_error),
                   number_or_dash(of.calls_per_step), number_or_dash(of.wall_seconds)});
  }
  auto text = fmt::format("methods at a step of {} s (errors: rms relative to the range of the worst output)\n{}",
                          short_number(advice.step), table.text(2));
  if (!hindered.empty()) text += "cannot run it\n" + hindered;
  return text;
}

std::string list_text(const std::string& heading, const std::vector<std::string>& lines) {
  std::string text;
  if (!lines.empty()) text = heading + "\n";
  for (const auto& line : lines) text += "  " + line + "\n";
  return text;
}

std::string advice_text(const Advice& advice) {
  std::string text = list_text("subsystems", advice.capabilities);
  text += "algebraic loops\n" + groups_text(advice.loops, "none");
  if (advice.fastest_rate) {
    text += fmt::format("fastest motion of the coupled system: {:.3g} 1/s, a time of {:.3g} s ({} operating point{})\n",
                        *advice.fastest_rate, 1.0 / *advice.fastest_rate, advice.operating_points,
                        advice.operating_points == 1 ? "" : "s");
  }
  text += candidates_text(advice);
  if (!advice.measured.empty()) {
    Table table({"in a short run", "foretold", "measured"});
    table.align_right(1);
    table.align_right(2);
    for (const auto& of : advice.measured) {
      table.add_row({title_of(advice.candidates[of.candidate]), fmt::format("{:.3g}", of.foretold),
                     fmt::format("{:.3g}", of.measured)});
    }
    text += table.text(2);
  }
  text += list_text("remarks", advice.remarks);
  text += list_text("missing for a better answer", advice.missing);
  if (!advice.choice) return text + "no recommendation: " + advice.reason + "\n";
  text += fmt::format(
      "recommended: {}{}\n  because: {}\n", title_of(advice.candidates[*advice.choice]),
      advice.recommended_step ? fmt::format(" with a step of {} s", short_number(*advice.recommended_step)) : "",
      advice.reason);
  return text;
}

int run(const AdviseArguments& arguments) {
  auto description = load(arguments.system);
  if (arguments.step) description.step = {*arguments.step, {"--step", 0, 0}};
  if (arguments.stop) description.stop = {*arguments.stop, {"--stop", 0, 0}};
  const auto advice = advise(description, {.tolerance = arguments.tolerance, .verify = arguments.verify});
  print(arguments.json ? advice_json(advice) : advice_text(advice));
  if (arguments.apply) {
    auto file = description.file;
    file.replace_extension(".advised.toml");
    replace_file(file, write_system(applied(description, advice)));
    if (!arguments.json) print(fmt::format("written: {}\n", file.string()));
  }
  return advice.choice ? kDone : kFailed;
}

}  // namespace

Command add_advise(CLI::App& program) {
  auto* command = add_subcommand(program, "advise", "Which method, which step, and why: before the run",
                                 "entrain advise examples/mechanical --verify");
  const auto arguments = std::make_shared<AdviseArguments>();
  command->add_option("SYSTEM", arguments->system, "System file (.toml), a folder holding one, or an FMU")
      ->required()
      ->type_name("");
  command->add_option("--step", arguments->step, "Macro step in s that the methods are compared at")->type_name("H");
  command->add_option("--stop", arguments->stop, "Stop time in s")->type_name("T");
  command
      ->add_option("--tolerance", arguments->tolerance, "Error that the recommended step keeps, relative to the range")
      ->type_name("R")
      ->check(CLI::PositiveNumber);
  command->add_flag("--verify", arguments->verify, "Run the best briefly: foretold beside measured");
  command->add_flag("--apply", arguments->apply, "Write the choice into a copy, NAME.advised.toml beside the file");
  command->add_flag("--json", arguments->json, "Print JSON");
  return {command, [arguments] { return run(*arguments); }};
}

}  // namespace entrain::cli
