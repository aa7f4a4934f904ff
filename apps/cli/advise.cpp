#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <optional>

#include "cli/advice_sentences.hpp"
#include "cli/common.hpp"
#include "cli/system_arguments.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/text_report.hpp"
#include "entrain/entrain.hpp"
#include "entrain/text.hpp"

namespace entrain::cli {
namespace {

struct AdviseArguments : SystemArguments {
  AdviceSettings settings;
  RequiredGrade required = RequiredGrade::Trusted;
  std::vector<std::string> parameters;
  std::optional<std::string> report;
  bool apply = false;
  bool json = false;
};

std::optional<double> number_in(std::string_view text) {
  double value = 0.0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && stopped == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// "sub.var" or "sub.var=LOW..HIGH"; nullopt when it is neither.
std::optional<ParameterQuestion> question_of(const std::string& text) {
  const auto equals = text.find('=');
  ParameterQuestion question{text.substr(0, equals), {}, {}};
  if (equals == std::string::npos) return question;
  const auto dots = text.find("..", equals);
  if (dots == std::string::npos) return std::nullopt;
  question.low = number_in(std::string_view(text).substr(equals + 1, dots - equals - 1));
  question.high = number_in(std::string_view(text).substr(dots + 2));
  return question.low && question.high ? std::optional(question) : std::nullopt;
}

CLI::Validator question_validator() {
  return {[](const std::string& text) {
            return question_of(text) ? std::string() : "'" + text + "' is not of the form SUB.VAR or SUB.VAR=LOW..HIGH";
          },
          ""};
}

std::string number_or_dash(const std::optional<double>& value) {
  return value ? fmt::format("{:.2g}", *value) : "-";
}

std::string stability_of(const Candidate& of) {
  if (!of.radius) return "-";
  return fmt::format("{} ({:.6g})", of.growth(), *of.radius);
}

/// The first range: a limit when it begins where the search does, else an island; and where the search ended is none.
std::string stable_to(const Candidate& of) {
  if (of.stable_steps.empty()) return "-";
  constexpr double kRounding = 1e-9;
  const auto& [ranges, searched] = of.stable_steps;
  const auto& first = ranges.front();
  const bool from_below = first.low <= searched.low * (1.0 + kRounding);
  const bool to_the_end = first.high >= searched.high * (1.0 - kRounding);
  const auto low = from_below ? std::string() : fmt::format("{:.2g} .. ", first.low);
  return fmt::format("{}{}{:.2g}{}", low, to_the_end && from_below ? ">= " : "", first.high,
                     ranges.size() > 1 ? " *" : "");
}

std::string candidates_text(const Advice& advice) {
  Table table({"method", "stability", "stable to, s", "forecast", "calls/step", "error in a run", "at most", "at, s",
               "over, s"});
  for (std::size_t column = 2; column < 9; ++column) table.align_right(column);
  std::string hindered;
  for (std::size_t i = 0; i < advice.candidates.size(); ++i) {
    const auto& of = advice.candidates[i];
    if (!of.obstacles.empty()) {
      hindered += fmt::format("  {}: {}\n", of.title(), render(of.obstacles, "; "));
      continue;
    }
    const bool chosen = advice.choice && *advice.choice == i;
    const auto tried = [&](double TriedRun::*part) {
      return of.tried ? short_number((*of.tried).*part) : std::string("-");
    };
    const auto error = [&](double TriedRun::*part) {
      return number_or_dash(of.tried ? std::optional((*of.tried).*part) : std::nullopt);
    };
    table.add_row({of.title() + (chosen ? " <-" : ""), stability_of(of), stable_to(of), number_or_dash(of.error),
                   number_or_dash(of.calls_per_step), error(&TriedRun::error), error(&TriedRun::bound),
                   tried(&TriedRun::step), tried(&TriedRun::length)});
  }
  auto text = fmt::format("methods at a step of {} s (errors: rms relative to the range of the worst output)\n{}",
                          short_number(advice.step), table.text(2));
  const bool islands = std::any_of(advice.candidates.begin(), advice.candidates.end(),
                                   [](const Candidate& of) { return of.stable_steps.ranges.size() > 1; });
  if (islands) text += "  * and again with longer steps\n";
  if (const auto sequence = advice.sequence_judged(); !sequence.empty()) text += "  " + sequence + "\n";
  if (!hindered.empty()) text += "cannot run it\n" + hindered;
  return text;
}

std::string list_text(const std::string& heading, const std::vector<std::string>& lines) {
  std::string text;
  if (!lines.empty()) text = heading + "\n";
  for (const auto& line : lines) text += "  " + line + "\n";
  return text;
}

std::string list_text(const std::string& heading, const std::vector<Fact>& facts) {
  std::vector<std::string> lines;
  lines.reserve(facts.size());
  for (const auto& fact : facts) lines.push_back(render(fact));
  return list_text(heading, lines);
}

std::string advice_text(const Advice& advice) {
  std::string text = list_text("subsystems", advice.capabilities);
  text += "algebraic loops\n" + groups_text(advice.loops, "none");
  if (advice.fastest_rate && !(*advice.fastest_rate > 0.0)) {
    text += "fastest motion of the coupled system: none, left alone everything moves on evenly\n";
  } else if (advice.fastest_rate) {
    text += fmt::format("fastest motion of the coupled system: {:.3g} 1/s, a time of {:.3g} s ({} operating point{})\n",
                        *advice.fastest_rate, 1.0 / *advice.fastest_rate, advice.operating_points,
                        advice.operating_points == 1 ? "" : "s");
  }
  text += candidates_text(advice);
  text += list_text("how robust it is", robustness_sentences(advice));
  text += list_text("parameters", parameter_sentences(advice));
  text += front_text(advice);
  text += list_text("remarks", advice.remarks);
  text += list_text("missing for a better answer", advice.missing);
  if (!advice.choice) return text + "no recommendation: " + advice.reason() + "\n";
  text += fmt::format(
      "recommended: {}{}\n  because: {}\n", advice.candidates[*advice.choice].title(),
      advice.recommended_step ? fmt::format(" with a step of {} s", short_number(*advice.recommended_step)) : "",
      advice.reason());
  if (advice.grade) text += fmt::format("verified with runs at h, h/2 and h/4: {}\n", to_string(*advice.grade));
  return text;
}

/// On a terminal, a line that is written over.
void show_progress(const AdviceProgress& progress) {
  const auto run =
      fmt::format("run {}: {} at a step of {} s", progress.run, progress.method, short_number(progress.step));
  fmt::print(stderr, "\r\x1b[K{}", progress.run > 0 ? run : progress.part);
  std::fflush(stderr);
}

int run(const AdviseArguments& arguments) {
  const auto description = arguments.described();
  AdviceSettings settings = arguments.settings;
  for (const auto& text : arguments.parameters) settings.parameters.push_back(*question_of(text));
  settings.curves = arguments.report.has_value();
  if (arguments.report) require_pages();
  settings.interrupt = &catch_signals();
  const bool shows = stderr_is_terminal() && !arguments.json;
  if (shows) settings.progress = show_progress;
  const auto advice = advise(description, settings);
  if (shows) fmt::print(stderr, "\r\x1b[K");
  arguments.json ? print_exact(advice_json(advice)) : print(advice_text(advice));
  if (arguments.report) {
    write_advice_page(advice, *arguments.report);
    if (!arguments.json) print(fmt::format("report: {}\n", *arguments.report));
  }
  if (arguments.apply) {
    auto file = description.file;
    file.replace_extension(".advised.toml");
    save(applied(description, advice), file);
    if (!arguments.json) print(fmt::format("written: {}\n", file.string()));
  }
  if (!advice.choice || settings.interrupt->load()) return kFailed;
  return advice.grade ? exit_code(*advice.grade, arguments.required) : kDone;
}

}  // namespace

Command add_advise(CLI::App& program) {
  auto* command = add_subcommand(program, "advise", "Which method, which step, and why: before the run",
                                 "entrain advise examples/mechanical --verify");
  const auto arguments = std::make_shared<AdviseArguments>();
  arguments->add_system(*command);
  command->get_option("--step")->description("Macro step in s, the longest that is recommended (default: found)");
  arguments->add_tolerance(*command);
  arguments->add_exclude(*command);
  add_require(*command, arguments->required);
  command->add_flag("--verify", arguments->settings.verify,
                    "Run what is recommended at h, h/2 and h/4; the exit code follows the grade");
  command->add_flag(
      "--search", arguments->settings.search,
      "Search sequence, gains, degree and step: the best compromises, and the best of them as candidates");
  command->add_option("--gain", arguments->settings.gains, "Input that the search may give a gain (default: all)")
      ->needs("--search")
      ->type_name("SUB.VAR")
      ->allow_extra_args(false);
  command
      ->add_option("--parameter", arguments->parameters,
                   "Parameter whose limits of stability are reported; may be repeated")
      ->type_name("SUB.VAR[=LOW..HIGH]")
      ->allow_extra_args(false)
      ->check(question_validator());
  command
      ->add_option("--threads", arguments->settings.threads,
                   "Threads of the search; the advice does not depend on them")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  command->add_option("--report", arguments->report, "Write a page to look at (default: advice.html)")
      ->type_name("FILE")
      ->expected(0, 1)
      ->default_str("advice.html");
  command->add_flag("--apply", arguments->apply, "Write the choice into a copy, NAME.advised.toml beside the file");
  command->add_flag("--json", arguments->json, "Print JSON");
  return {command, [arguments] { return run(*arguments); }};
}

}  // namespace entrain::cli
