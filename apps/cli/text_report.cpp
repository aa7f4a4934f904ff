#include "cli/text_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "cli/note_groups.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/text.hpp"

namespace entrain::cli {
namespace {

constexpr std::string_view kBold = "1";
constexpr std::string_view kRed = "31";
constexpr std::string_view kGreen = "32";
constexpr std::string_view kYellow = "33";

std::string painted(std::string_view text, std::string_view colour, TextStyle style) {
  return style.colour ? fmt::format("\x1b[{}m{}\x1b[0m", colour, text) : std::string(text);
}

std::string_view yes_or_no(bool value) {
  return value ? "yes" : "no";
}

std::string start_text(const std::optional<Value>& value) {
  return value ? value_text(*value) : "-";
}

std::string speed_text(const RunSummary& summary) {
  if (!(summary.wall_seconds > 0.0)) return {};
  return fmt::format(" ({} simulated s per s)", short_number((summary.reached - summary.start) / summary.wall_seconds));
}

std::string termination_text(const RunSummary& summary, TextStyle style, Grade grade) {
  const bool completed = summary.termination == Termination::Completed;
  const bool plain = completed && grade == Grade::Unreliable;
  return plain ? std::string(to_string(summary.termination))
               : painted(to_string(summary.termination), completed ? kGreen : kRed, style);
}

/// Only what was counted: an explicit method has no rejected steps to talk about.
std::string steps_text(const RunSummary& summary) {
  auto text = fmt::format("{} macro steps", summary.macro_steps);
  const auto smallest = short_number(summary.smallest_step);
  const auto largest = short_number(summary.largest_step);
  if (smallest != largest) {
    text += fmt::format(" of {} .. {} s", smallest, largest);
  } else if (const double size = summary.largest_step > 0.0 ? summary.largest_step : summary.step; size > 0.0) {
    text += fmt::format(" of {} s", short_number(size));
  }
  if (summary.rejected_steps > 0) text += fmt::format(", {} rejected", summary.rejected_steps);
  if (summary.iterations > 0) text += fmt::format(", {} iterations", summary.iterations);
  if (summary.linearizations > 0) text += fmt::format(", {} linearizations", summary.linearizations);
  return text;
}

std::string residual_text(const RunSummary& summary) {
  const auto unmeasured = std::count_if(summary.connections.begin(), summary.connections.end(),
                                        [](const auto& connection) { return std::isnan(connection.max_residual); });
  if (std::isnan(summary.max_coupling_residual)) return "not measured: connected subsystems never communicate together";
  auto text = short_number(summary.max_coupling_residual);
  if (!summary.worst_connection.empty()) text += fmt::format(" of the output's range, at {}", summary.worst_connection);
  if (unmeasured > 0)
    text += fmt::format("; {} of {} connections not measured", unmeasured, summary.connections.size());
  return text;
}

/// The total, and the bond with the largest share of it.
std::string energy_text(const RunSummary& summary) {
  double transferred = 0.0;
  const BondSummary* worst = nullptr;
  std::uint64_t fewest = summary.macro_steps;
  for (const auto& bond : summary.bonds) {
    fewest = std::min(fewest, bond.measurements);
    if (bond.measurements == 0) continue;
    transferred += bond.transferred_energy;
    if (worst == nullptr || std::abs(bond.residual_energy) > std::abs(worst->residual_energy)) worst = &bond;
  }
  if (worst == nullptr) return "not measured: no macro step ended with both ends of a power bond";
  if (!std::isfinite(summary.residual_energy()) || !std::isfinite(transferred)) return "overflows";
  auto text = fmt::format("{} J of {} J through {} power bond{}", short_number(summary.residual_energy()),
                          short_number(transferred), summary.bonds.size(), summary.bonds.size() > 1 ? "s" : "");
  if (summary.bonds.size() > 1)
    text += fmt::format(", most at {}: {} J", worst->name, short_number(worst->residual_energy));
  // Between two measurements the power is taken as that at the second.
  if (fewest < summary.macro_steps) {
    text += fmt::format("; measured at {}{} of {} macro steps", summary.bonds.size() > 1 ? "as few as " : "", fewest,
                        summary.macro_steps);
  }
  return text;
}

/// All of a few, those that took longest of many; in the order of the file.
std::vector<std::size_t> shown_subsystems(const RunSummary& summary) {
  constexpr std::size_t kMost = 24;
  std::vector<std::size_t> order(summary.subsystems.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() <= kMost) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return summary.subsystems[a].seconds > summary.subsystems[b].seconds;
  });
  order.resize(kMost);
  std::sort(order.begin(), order.end());
  return order;
}

std::string subsystems_text(const RunSummary& summary) {
  Table table({"subsystem", "source", "steps", "trials", "rollbacks", "seconds"});
  for (std::size_t column = 2; column < 6; ++column) table.align_right(column);
  const auto shown = shown_subsystems(summary);
  for (const std::size_t s : shown) {
    const auto& subsystem = summary.subsystems[s];
    table.add_row({subsystem.name, subsystem.source, fmt::format("{}", subsystem.steps),
                   fmt::format("{}", subsystem.trials), fmt::format("{}", subsystem.rollbacks),
                   fmt::format("{:.3f}", subsystem.seconds)});
  }
  if (table.empty()) return {};
  const std::size_t others = summary.subsystems.size() - shown.size();
  return table.text(2) +
         (others == 0 ? "" : fmt::format("  and {} others that took less time, see run.json\n", others));
}

/// With the names of its values, if it is an enumeration.
std::string description_text(const Variable& variable) {
  if (!variable.items) return variable.description;
  constexpr std::size_t kShown = 20;
  std::vector<std::string> values;
  for (const auto& [name, value] : *variable.items) {
    if (values.size() == kShown) break;
    values.push_back(fmt::format("{} = {}", value, name));
  }
  return fmt::format("{}{}{}{}", variable.description, variable.description.empty() ? "" : "; ",
                     fmt::join(values, ", "), variable.items->size() > kShown ? ", ..." : "");
}

void add_rows(Table& table, std::span<const Variable> variables, std::string_view causality) {
  for (const auto& variable : variables) {
    table.add_row(
        {variable.name, std::string(causality), variable.unit, start_text(variable.start), description_text(variable)});
  }
}

std::string feedthrough_text(const Feedthrough& feedthrough, const VariableTable& variables) {
  std::vector<std::string> pairs;
  for (std::size_t output = 0; output < feedthrough.outputs(); ++output) {
    for (std::size_t input = 0; input < feedthrough.inputs(); ++input) {
      if (!feedthrough(output, input)) continue;
      pairs.push_back(fmt::format("{} <- {}", variables.outputs[output].name, variables.inputs[input].name));
    }
  }
  return pairs.empty() ? "none" : fmt::format("{}", fmt::join(pairs, ", "));
}

std::string input_degree_text(int degree) {
  constexpr std::string_view kNames[] = {"constant", "straight lines", "parabolas", "cubics"};
  if (degree < 0 || degree > kMaxInputDegree) return fmt::format("polynomials of degree {}", degree);
  return std::string(kNames[degree]);
}

std::string derivatives_text(int order) {
  return order == 0 ? "no" : fmt::format("yes, to order {}", order);
}

}  // namespace

std::string verdict_text(bool ok, TextStyle style) {
  return painted(ok ? "ok" : "off", ok ? kGreen : kRed, style);
}

namespace {

/// The outputs with the largest bounds beside their tolerance, as a table.
std::string worst_outputs(const ErrorEstimate& estimate, const Verdict& verdict) {
  constexpr std::size_t kShown = 3;
  std::vector<const OutputError*> known;
  for (const auto& output : estimate.outputs) {
    if (!std::isnan(output.bound)) known.push_back(&output);
  }
  // The one that decides may have a tolerance of its own.
  std::stable_sort(known.begin(), known.end(), [&](const OutputError* a, const OutputError* b) {
    const bool decides = a->name == verdict.output;
    return decides != (b->name == verdict.output) ? decides : a->bound > b->bound;
  });
  if (known.size() > kShown) known.resize(kShown);
  Table table({"output", "error", "at most", "error in its unit"});
  for (std::size_t column = 1; column < 4; ++column) table.align_right(column);
  const auto percent = [](double share) { return fmt::format("{:.2g} %", 100.0 * share); };
  for (const auto* output : known) {
    table.add_row(
        {output->name, percent(output->error), percent(output->bound),
         fmt::format("{:.2g}{}{}", output->error * output->range, output->unit.empty() ? "" : " ", output->unit)});
  }
  return table.empty() ? std::string() : table.text(2);
}

/// The first ones; the others are in run.json.
std::string warnings_text(const RunSummary& summary, TextStyle style) {
  constexpr std::size_t kShown = 2;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, summary.warnings.size()); ++i) {
    text += fmt::format("{}: {}\n", painted("warning", kYellow, style), render(summary.warnings[i]));
  }
  if (summary.warnings.size() > kShown) {
    text += fmt::format("and {} more warnings: --verbose, or run.json\n", summary.warnings.size() - kShown);
  }
  return text;
}

std::string ranks_text(const std::vector<RankSummary>& ranks) {
  std::string text;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const auto& rank = ranks[r];
    constexpr std::size_t kShown = 4;
    auto names = rank.subsystems;
    const std::size_t more = names.size() - std::min(names.size(), kShown);
    names.resize(names.size() - more);
    text += fmt::format("  rank {} on {}: {:.3g} s busy, {:.3g} s waiting; {}{}\n", r, rank.host, rank.busy,
                        rank.waiting, names.empty() ? "no subsystem" : fmt::format("{}", fmt::join(names, ", ")),
                        more == 0 ? "" : fmt::format(" and {} more", more));
  }
  return text;
}

std::string pacing_text(const PacingSummary& pacing) {
  const auto time = [](double seconds) { return fmt::format("{} ms", short_number(1e3 * seconds)); };
  return fmt::format(
      "pace: {} of {} deadlines missed; computing {} (median), {} (99 %), {} at most; woken {} late at most\n",
      pacing.missed, pacing.steps, time(pacing.computing.median), time(pacing.computing.p99),
      time(pacing.computing.most), time(pacing.latency.most));
}

}  // namespace

std::string grade_painted(std::string_view text, Grade grade, TextStyle style) {
  switch (grade) {
    case Grade::Trusted: return painted(text, kGreen, style);
    case Grade::Check: return painted(text, kYellow, style);
    case Grade::Unreliable: return painted(text, kRed, style);
    case Grade::Unknown: break;
  }
  return std::string(text);
}

std::string brief_summary(const RunSummary& summary, const Verdict& verdict, const ErrorEstimate& estimate,
                          TextStyle style) {
  auto text = fmt::format("{}: {} with {} at t = {} s, {}, in {:.3g} s\n", painted(summary.system, kBold, style),
                          termination_text(summary, style, verdict.grade), summary.method,
                          short_number(summary.reached), steps_text(summary), summary.wall_seconds);
  const bool completed = summary.termination == Termination::Completed;
  if (completed && !summary.message.empty()) text += fmt::format("  {}\n", summary.message);
  for (const auto& note : summary.notes) {
    const bool important = note.code == FactCode::PatentDeclared || note.code == FactCode::CorrectionUsed ||
                           note.code == FactCode::PriorityGot;
    if (important) text += fmt::format("note: {}\n", render(note));
  }
  text += warnings_text(summary, style);
  if (summary.pacing) text += pacing_text(*summary.pacing);
  text += ranks_text(summary.ranks);
  if (!completed) return text;
  const auto headline = verdict.headline();
  text += fmt::format("verdict: {}\n", grade_painted(headline, verdict.grade, style));
  if (!verdict.reasons.empty() && verdict.reasons.front().code != FactCode::ErrorOfOutput) {
    const auto reason = render(verdict.reasons.front());
    if (headline.find(reason) == std::string::npos) text += fmt::format("  because: {}\n", reason);
  }
  text += worst_outputs(estimate, verdict);
  if (!verdict.command.empty()) text += fmt::format("  {}{}\n", kCommandMark, verdict.command);
  return text;
}

std::string full_summary(const RunSummary& summary, TextStyle style, Grade grade) {
  auto text = fmt::format("{}: {} with {}, t = {} .. {} s\n", painted(summary.system, kBold, style),
                          termination_text(summary, style, grade), summary.method, short_number(summary.start),
                          short_number(summary.reached));
  if (summary.termination == Termination::Completed && !summary.message.empty()) {
    text += fmt::format("  end                {}\n", summary.message);
  }
  text += fmt::format("  steps              {}\n", steps_text(summary));
  text += fmt::format("  wall time          {:.3f} s{}\n", summary.wall_seconds, speed_text(summary));
  text += fmt::format("  coupling residual  {}\n", residual_text(summary));
  if (!summary.bonds.empty()) text += fmt::format("  residual energy    {}\n", energy_text(summary));
  for (const auto& loop : summary.loops) {
    text += fmt::format("  algebraic loop     {} (residual at the start {})\n", fmt::join(loop.variables, ", "),
                        short_number(loop.initial_residual));
  }
  for (const auto& note : grouped_notes(summary.notes)) text += fmt::format("  note               {}\n", note);
  for (const auto& warning : summary.warnings) {
    text += fmt::format("  {}            {}\n", painted("warning", kYellow, style), render(warning));
  }
  return text + subsystems_text(summary);
}

std::string variables_text(const VariableTable& variables) {
  Table table({"variable", "kind", "unit", "start", "description"});
  table.align_right(3);
  add_rows(table, variables.inputs, "input");
  add_rows(table, variables.outputs, "output");
  add_rows(table, variables.states, "state");
  add_rows(table, variables.parameters, "parameter");
  add_rows(table, variables.discrete_inputs, "discrete input");
  add_rows(table, variables.discrete_outputs, "discrete output");
  constexpr std::size_t kLocals = 40;  // large FMUs have thousands
  const std::size_t shown = std::min(variables.locals.size(), kLocals);
  add_rows(table, std::span(variables.locals).first(shown), "local");
  const std::size_t more = variables.locals.size() - shown;
  return table.text(2) + (more == 0 ? "" : fmt::format("  and {} more locals, listed by --json\n", more));
}

std::string capabilities_text(const Capabilities& capabilities, const VariableTable& variables) {
  std::string text;
  const auto line = [&](std::string_view what, std::string_view answer) {
    text += fmt::format("  {}: {}\n", what, answer);
  };
  line("can be rolled back", yes_or_no(capabilities.rollback));
  line("inputs inside a step", input_degree_text(capabilities.input_degree) +
                                   (capabilities.internal_step ? fmt::format(", held over internal steps of {} s",
                                                                             short_number(*capabilities.internal_step))
                                                               : ""));
  if (capabilities.substeps > 1) line("sub-steps", fmt::format("{}, each with its own inputs", capabilities.substeps));
  line("provides output derivatives", derivatives_text(capabilities.output_derivative_order));
  line("provides its states", yes_or_no(capabilities.states));
  line("provides state derivatives", yes_or_no(capabilities.state_derivatives));
  line("provides its linearization", yes_or_no(capabilities.linearization));
  line("outputs can be refreshed without a step", yes_or_no(capabilities.output_refresh));
  line("equations open to an outside integrator", yes_or_no(capabilities.equations));
  line("announces events", yes_or_no(capabilities.announces_events));
  line("can be reset", yes_or_no(capabilities.reset));
  if (capabilities.once_per_process) line("instances in one process", "one only");
  if (capabilities.imposed_step) line("imposed step", short_number(*capabilities.imposed_step) + " s");
  if (capabilities.step_offset > 0.0) line("imposed steps begin after", short_number(capabilities.step_offset) + " s");
  if (capabilities.min_step) line("smallest step", short_number(*capabilities.min_step) + " s");
  if (capabilities.max_step) line("largest step", short_number(*capabilities.max_step) + " s");
  if (capabilities.initial_step) line("first step", short_number(*capabilities.initial_step) + " s");
  line("direct feedthrough", feedthrough_text(capabilities.feedthrough, variables));
  return text;
}

std::string groups_text(const std::vector<std::vector<std::string>>& groups, std::string_view none) {
  if (groups.empty()) return fmt::format("  {}\n", none);
  std::string text;
  int number = 0;
  for (const auto& group : groups) text += fmt::format("  {}. {}\n", ++number, fmt::join(group, ", "));
  return text;
}

std::string options_text(std::span<const OptionHelp> options) {
  if (options.empty()) return "  (no options)\n";
  std::string text;
  for (const auto& option : options) {
    text += fmt::format("  {}: {}, default {}\n    {}\n", option.name, option.type, option.default_value, option.help);
  }
  return text;
}

}  // namespace entrain::cli
