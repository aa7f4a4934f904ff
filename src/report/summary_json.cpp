#include "entrain/report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/json_parts.hpp"
#include "report/verdict_json.hpp"

namespace entrain {
namespace {

using Json = nlohmann::ordered_json;

Json loops_of(const RunSummary& summary) {
  Json loops = Json::array();
  for (const auto& loop : summary.loops) {
    loops.push_back({{"variables", loop.variables}, {"initial_residual", loop.initial_residual}});
  }
  return loops;
}

Json residuals_of(const RunSummary& summary) {
  Json residuals = Json::object();
  for (const auto& connection : summary.connections)
    reporting::append(residuals, connection.name, connection.max_residual);
  return residuals;
}

Json connections_of(const RunSummary& summary) {
  Json connections = Json::array();
  for (const auto& connection : summary.connections) {
    connections.push_back(
        {{"output", connection.output}, {"input", connection.input}, {"max_residual", connection.max_residual}});
  }
  return connections;
}

Json bonds_of(const RunSummary& summary) {
  Json bonds = Json::object();
  for (const auto& bond : summary.bonds) {
    reporting::append(bonds, bond.name,
                      {{"effort", bond.effort},
                       {"flow", bond.flow},
                       {"residual_energy", bond.residual_energy},
                       {"max_residual_power", bond.max_residual_power},
                       {"transferred_energy", bond.transferred_energy},
                       {"measurements", bond.measurements}});
  }
  return bonds;
}

std::string_view kind_of(Causality causality) {
  switch (causality) {
    case Causality::Input:
    case Causality::DiscreteInput: return "input";
    case Causality::Output:
    case Causality::DiscreteOutput: return "output";
    case Causality::State: return "state";
    case Causality::Parameter: return "parameter";
    case Causality::Local: return "local";
    case Causality::Method: return "method";
  }
  return "local";
}

Json signals_of(std::span<const Signal> recorded) {
  Json signals = Json::object();
  for (const auto& signal : recorded) {
    reporting::append(
        signals, signal.name,
        {{"unit", signal.unit}, {"description", signal.description}, {"kind", kind_of(signal.causality)}});
  }
  return signals;
}

Json own_steps_of(const OwnSteps& steps) {
  return {{"smallest", steps.smallest},
          {"largest", steps.largest},
          {"orders", steps.orders},
          {"beyond_tolerance", steps.beyond_tolerance},
          {"at_min_step", steps.at_min_step},
          {"reads_past_validity", steps.reads_past_validity},
          {"jumps", steps.jumps}};
}

Json datagrams_of(const DatagramCounters& of) {
  return {{"sent", of.sent},       {"received", of.received}, {"late", of.late},
          {"lost", of.lost},       {"doubled", of.doubled},   {"reordered", of.reordered},
          {"invalid", of.invalid}, {"foreign", of.foreign},   {"held", of.held}};
}

Json quantiles_of(const TimingQuantiles& of) {
  return {{"median", of.median}, {"p90", of.p90}, {"p99", of.p99}, {"p999", of.p999}, {"max", of.most}};
}

/// Its course is in steps.json.
Json pacing_of(const PacingSummary& pacing) {
  return {{"factor", pacing.factor},
          {"overrun", to_word(pacing.overrun)},
          {"steps", pacing.steps},
          {"missed", pacing.missed},
          {"worst_overrun", pacing.worst_overrun},
          {"worst_time", pacing.worst_time},
          {"skipped_periods", pacing.skipped_periods},
          {"behind", pacing.behind},
          {"dropped_rows", pacing.dropped_rows},
          {"latency", quantiles_of(pacing.latency)},
          {"computing", quantiles_of(pacing.computing)},
          {"slack", {{"min", pacing.least_slack}, {"median", pacing.median_slack}}},
          {"histogram", {{"limits", pacing.histogram_limits}, {"counts", pacing.histogram_counts}}}};
}

Json subsystems_of(const RunSummary& summary) {
  Json subsystems = Json::object();
  for (const auto& subsystem : summary.subsystems) {
    Json entry{{"source", subsystem.source},   {"steps", subsystem.steps},
               {"trials", subsystem.trials},   {"rollbacks", subsystem.rollbacks},
               {"seconds", subsystem.seconds}, {"capabilities", reporting::json_of(subsystem.capabilities)}};
    if (subsystem.own_steps) entry["own_steps"] = own_steps_of(*subsystem.own_steps);
    if (subsystem.datagrams) entry["datagrams"] = datagrams_of(*subsystem.datagrams);
    reporting::append(subsystems, subsystem.name, std::move(entry));
  }
  return subsystems;
}

/// null for a run without.
Json correction_of(const RunSummary& summary) {
  if (!summary.correction) return nullptr;
  const auto& correction = *summary.correction;
  return {{"file", correction.file}, {"inputs", correction.inputs}, {"residual", correction.error}};
}

Json effect_of(const ScenarioEffect& effect) {
  Json json{{"time", effect.time}, {"entry", effect.entry}, {"action", effect.action}, {"target", effect.target}};
  if (effect.value) json["value"] = reporting::json_of(*effect.value);
  if (effect.until) json["until"] = *effect.until;
  if (effect.late_by) json["late_by"] = *effect.late_by;
  if (effect.crossed) json["crossed"] = *effect.crossed;
  return json;
}

Json changed_parameters(const RunSummary& summary) {
  Json parameters = Json::object();
  for (const auto& [name, value] : summary.parameters) parameters[name] = reporting::json_of(value);
  return parameters;
}

}  // namespace

std::string summary_json(const RunSummary& summary, std::span<const Signal> recorded, const Verdict* verdict,
                         const ErrorEstimate* estimate) {
  Json json{{"format", reporting::kRunFormat},
            {"entrain", summary.version},
            {"system", summary.system},
            {"method", summary.method},
            {"method_family", to_string(summary.family)},
            {"termination", std::string(to_string(summary.termination))},
            {"message", summary.message},
            {"verdict", reporting::json_of(verdict)},
            {"start", summary.start},
            {"stop", summary.stop},
            {"reached", summary.reached},
            {"step", summary.step},
            {"macro_steps", summary.macro_steps},
            {"smallest_step", summary.smallest_step},
            {"largest_step", summary.largest_step},
            {"rejected_steps", summary.rejected_steps},
            {"iterations", summary.iterations},
            {"linearizations", summary.linearizations},
            {"wall_seconds", summary.wall_seconds},
            {"max_coupling_residual", summary.max_coupling_residual},
            {"worst_connection", summary.worst_connection},
            {"coupling_residuals", residuals_of(summary)},
            {"residual_energy", summary.residual_energy()},
            {"bonds", bonds_of(summary)},
            {"connections", connections_of(summary)},
            {"sequence", summary.sequence},
            {"loops", loops_of(summary)},
            {"notes", reporting::json_of(summary.notes)},
            {"warnings", reporting::json_of(summary.warnings)},
            {"subsystems", subsystems_of(summary)},
            {"signals", signals_of(recorded)},
            {"outputs", reporting::json_of(estimate == nullptr ? ErrorEstimate{} : *estimate)},
            {"parameters", changed_parameters(summary)},
            {"step_tolerances", summary.step_tolerances},
            {"learned_correction", correction_of(summary)}};
  if (summary.failure) json["failure"] = reporting::json_of(*summary.failure);
  for (const auto& [time, name, value] : summary.changes) {
    json["changes"].push_back({{"time", time}, {"variable", name}, {"value", reporting::json_of(value)}});
  }
  for (const auto& effect : summary.scenario) json["scenario"].push_back(effect_of(effect));
  if (summary.resumed_from) {
    json["resumed_from"] = {{"directory", summary.resumed_from->directory}, {"time", summary.resumed_from->time}};
  }
  if (summary.pacing) json["pacing"] = pacing_of(*summary.pacing);
  for (const auto& rank : summary.ranks) {
    json["ranks"].push_back(
        {{"host", rank.host}, {"subsystems", rank.subsystems}, {"busy", rank.busy}, {"waiting", rank.waiting}});
  }
  return reporting::json_text(json);
}

std::string error_json(const Error& error) {
  Json json{{"failure", reporting::json_of(error)}};
  const auto& problems = error.problems();
  if (!problems.empty()) json["problem_count"] = problems.size();
  for (std::size_t i = 0; i < std::min(problems.size(), kMostShownProblems); ++i) {
    json["problems"].push_back(reporting::json_of(fact_of(problems[i])));
  }
  return reporting::json_text(json);
}

}  // namespace entrain
