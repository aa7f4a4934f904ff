#include "session/prepare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "assembly/assembly.hpp"
#include "assembly/scenario.hpp"
#include "assembly/subsystem_factory.hpp"
#include "base/open_archives.hpp"
#include "base/suggest.hpp"
#include "coupling/bonds.hpp"
#include "coupling/discrete_signals.hpp"
#include "coupling/engine.hpp"
#include "description/check_values.hpp"
#include "description/subsystem_keys.hpp"
#include "entrain/entrain.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/ranks.hpp"
#include "entrain/system.hpp"
#include "methods/registry.hpp"
#include "methods/requirements.hpp"
#include "ranks/distributed_system.hpp"
#include "record/selection.hpp"
#include "run/energy_monitor.hpp"
#include "run/recordable.hpp"
#include "session/judged_ports.hpp"
#include "session/shared_maker.hpp"

namespace entrain {
namespace {

/// The methods that the file has options for, with their options read: once, for all that follows.
struct ConfiguredMethods {
  std::unique_ptr<Method> in_use;                         ///< null = unknown
  std::map<std::string, std::unique_ptr<Method>> others;  ///< by name
};

ConfiguredMethods configured_methods(const SystemDescription& description, const method::MethodRegistry& methods,
                                     std::vector<Problem>& problems) {
  ConfiguredMethods result;
  auto known = methods.names();
  known.emplace_back(method::kAuto);
  const auto problem = [&](const SourcePosition& where, const std::string& name) {
    problems.push_back(problem_of(Fact{FactCode::UnknownMethod, {name}}, suggestion(name, known), where));
  };
  // Tables of other methods are read too: a typo there would show only on the day the method is changed.
  for (const auto& [name, options] : description.method_options) {
    auto other = methods.make(name);
    if (name == method::kAuto) {
      for (const auto& [option, written] : options) {
        problems.push_back(problem_of(Fact{FactCode::UnknownOption, {option}, {{"owner", name}}},
                                      "name the method that it belongs to", written.where));
      }
    } else if (!other) {
      problem(options.empty() ? SourcePosition{} : options.begin()->second.where, name);
    } else if (name != description.method.value) {
      read_options(*other, options, "method." + name, problems);
      result.others.insert({name, std::move(other)});
    }
  }
  if (description.exclude) {
    for (const auto& [name, where] : *description.exclude) {
      if (methods.find(name) == nullptr) problem(where, name);
    }
  }
  result.in_use = methods.make(description.method.value);
  if (!result.in_use) {
    problem(description.method.where, description.method.value);
    return result;
  }
  const auto options = description.method_options.find(description.method.value);
  if (options != description.method_options.end()) {
    read_options(*result.in_use, options->second, "method." + description.method.value, problems);
  }
  return result;
}

/// Macro steps of a run whose file has no step: enough for a first look at most systems.
constexpr double kDefaultSteps = 1000.0;

/// What is really run can be run again from another folder.
std::string absolute_path(const std::filesystem::path& path, const std::filesystem::path& system_file) {
  std::error_code error;  // a working directory that is gone leaves the path as it is
  const auto whole = std::filesystem::absolute(system_file.parent_path() / path, error);
  return (error ? path : whole).lexically_normal().string();
}

/// With every default filled in. `method`: the one in use, its options read; null = unknown.
SystemDescription with_defaults(SystemDescription description, Method* method) {
  if (!description.step && description.stop) {
    description.step = {(description.stop->value - description.start.value) / kDefaultSteps, {}};
  }
  if (!description.tolerance) description.tolerance = {kDefaultTolerance, {}};
  for (auto& entry : description.scenario) {
    if (entry.action == ScenarioAction::Noise && !entry.interval && description.step) entry.interval = description.step;
  }
  if (method != nullptr) {
    auto& written = description.method_options[description.method.value];
    for (auto& [name, value] : options_in_force(*method)) written.insert({name, {std::move(value), {}}});
  }
  for (auto& subsystem : description.subsystems) {
    for (const auto& [name, written] : subsystem.start) subsystem.optional_start.erase(name);  // it wins
    description::for_each_source_file(subsystem,
                                      [&](std::string& path) { path = absolute_path(path, description.file); });
  }
  return description;
}

/// Parsing has checked the values of the file; this finds what the command line or a program changed since.
void check_values_again(const SystemDescription& description, std::vector<Problem>& problems) {
  std::vector<Problem> found;
  description::check_values(description, found);
  for (auto& problem : found) {
    const bool known = std::any_of(problems.begin(), problems.end(), [&](const Problem& other) {
      return other.message == problem.message && other.where.line == problem.where.line;
    });
    if (!known) problems.push_back(std::move(problem));
  }
}

/// MAT files of version 4 hold numbers alone.
void warn_of_losses(const Written<std::string>& format, const std::vector<Signal>& signals,
                    const std::vector<std::size_t>& chosen, std::vector<Problem>& problems) {
  std::vector<std::string> lost;
  for (const std::size_t index : chosen) {
    const Signal& signal = signals[index];
    if (signal.type == ValueType::String || signal.type == ValueType::Binary) lost.push_back(signal.name);
  }
  if (lost.empty()) return;
  problems.push_back(problem_of(Fact{FactCode::LostInMat, {}, {{"names", fmt::format("{}", fmt::join(lost, ", "))}}},
                                "record as \"hdf5\" or \"csv\"", format.where));
}

void check_recorded_names(const RecordDescription& record, const assembly::Assembly& assembly,
                          std::vector<Signal> own_signals, std::vector<Problem>& problems) {
  std::vector<Subsystem*> subsystems;
  for (const auto& subsystem : assembly.subsystems) subsystems.push_back(subsystem.get());
  const auto signals = running::recordable(subsystems, std::move(own_signals)).signals;
  try {
    const auto chosen = recording::select_signals(signals, record.variables);
    const bool wanted = !record.variables || !record.variables->empty();
    if (chosen.empty() && wanted) problems.push_back(problem_of(Fact{FactCode::NothingToRecord, {}}, "", {}));
    if (record.format && record.format->value == kMatFormat) warn_of_losses(*record.format, signals, chosen, problems);
  } catch (const Error& error) {
    problems.insert(problems.end(), error.problems().begin(), error.problems().end());
  }
}

/// Options that name what is not there, in the tables of all methods.
void check_options(const SystemDescription& description, const ConfiguredMethods& methods, const Graph& graph,
                   std::vector<Problem>& problems) {
  for (const auto& [name, options] : description.method_options) {
    const auto other = methods.others.find(name);
    if (name == description.method.value) {
      if (methods.in_use) methods.in_use->check(graph, options, problems);
    } else if (other != methods.others.end()) {
      other->second->check(graph, options, problems);
    }
  }
}

/// What the method in use cannot do without them.
void check_bonds(const SystemDescription& description, const Method& method, const coupling::FoundBonds& found,
                 std::vector<Problem>& problems) {
  const auto needs = method.requirements();
  const bool written = description.bonds && !description.bonds->empty();  // what is wrong with them has been reported
  if (needs.power_bonds.empty() || !found.bonds.empty() || written) return;
  problems.push_back(problem_of(Fact{FactCode::NeedsPowerBonds, {needs.power_bonds}}, "write them in [bonds]",
                                description.method.where));
  for (const auto& note : found.notes) problems.back().remedy += "; " + render(note);
}

void check_requirements(const SystemDescription& description, const session::Prepared& prepared,
                        const assembly::Assembly& assembly, const Graph& graph,
                        std::span<const coupling::TrialKind> kinds, std::vector<Problem>& problems) {
  std::vector<const Capabilities*> capabilities;
  for (const auto& subsystem : assembly.subsystems) capabilities.push_back(&subsystem->capabilities());
  for (auto& unmet : method::unmet_requirements(*prepared.method, graph, capabilities, prepared.settings)) {
    // An estimator that is written makes trials possible.
    const auto& subsystem = description.subsystems[unmet.subsystem];
    const bool is_estimated = subsystem.estimator && kinds[unmet.subsystem] != coupling::TrialKind::None;
    if (unmet.fact.code == FactCode::NeedsTrials && is_estimated) continue;
    const auto& where = subsystem.step ? subsystem.step->where : subsystem.where;
    problems.push_back(problem_of(std::move(unmet.fact), std::move(unmet.remedy), where));
  }
  const auto written = description.method_options.find(description.method.value);
  const bool any_written = written != description.method_options.end();
  prepared.method->check_times(prepared.settings, any_written ? written->second : WrittenOptions{}, problems);
}

/// How each subsystem is tried out, as written or by nature; what is written must be possible.
std::vector<coupling::TrialKind> trial_kinds(const SystemDescription& description, const assembly::Assembly& assembly,
                                             std::vector<Problem>& problems) {
  std::vector<coupling::TrialKind> kinds;
  for (std::size_t s = 0; s < assembly.subsystems.size(); ++s) {
    const Capabilities& can = assembly.subsystems[s]->capabilities();
    const auto& written = description.subsystems[s].trials;
    const TrialChoice choice = written ? written->value : TrialChoice::Auto;
    coupling::TrialKind kind = coupling::natural_trial_kind(can);
    const auto& ports = assembly.subsystems[s]->variables();
    if (kind == coupling::TrialKind::None && coupling::is_identifiable(ports.outputs.size(), ports.inputs.size()))
      kind = coupling::TrialKind::Continued;
    if (choice == TrialChoice::Rollback)
      kind = can.rollback ? coupling::TrialKind::Rollback : coupling::TrialKind::None;
    if (choice == TrialChoice::Costarica) {
      kind = can.states && can.linearization ? coupling::TrialKind::Costarica : coupling::TrialKind::None;
    }
    if (choice != TrialChoice::Auto && kind == coupling::TrialKind::None) {
      problems.push_back(
          problem_of(Fact{FactCode::TrialsNotPossible,
                          {description.subsystems[s].name},
                          {{"choice", to_word(choice)},
                           {"needs", choice == TrialChoice::Rollback ? "rollback" : "states and a linearization"}}},
                     "leave it out", written->where));
    }
    kinds.push_back(kind);
  }
  return kinds;
}

/// What estimates the steps of each subsystem. One that is named replaces trials by rollback, unless those are asked
/// for.
std::vector<coupling::EstimatorChoice> estimator_choices(const SystemDescription& description,
                                                         const Extensions& extensions,
                                                         std::vector<coupling::TrialKind>& kinds,
                                                         std::vector<Problem>& problems) {
  using Source = coupling::EstimatorChoice::Source;
  static const std::map<std::string, Source, std::less<>> kBuiltIn{
      {"auto", Source::Auto}, {"continued", Source::Continued}, {"identified", Source::Identified}};
  std::vector<coupling::EstimatorChoice> choices;
  for (std::size_t s = 0; s < description.subsystems.size(); ++s) {
    const auto& subsystem = description.subsystems[s];
    auto& choice = choices.emplace_back();
    if (!subsystem.estimator) continue;
    const auto& name = subsystem.estimator->value;
    const auto& added = extensions.estimators;
    const auto named =
        std::find_if(added.begin(), added.end(), [&](const NamedEstimator& one) { return one.name == name; });
    if (const auto built_in = kBuiltIn.find(name); built_in != kBuiltIn.end()) {
      choice.source = built_in->second;
    } else if (named != added.end()) {
      choice = {Source::Named, name, named->make};
    } else {
      std::vector<std::string> known;
      known.reserve(kBuiltIn.size() + added.size());
      for (const auto& [word, source] : kBuiltIn) known.push_back(word);
      for (const auto& one : added) known.push_back(one.name);
      problems.push_back(problem_of(Fact{FactCode::UnknownEstimator, {subsystem.name}, {{"estimator", name}}},
                                    suggestion(name, known), subsystem.estimator->where));
    }
    const bool rolls_back = subsystem.trials && subsystem.trials->value == TrialChoice::Rollback;
    if (choice.replaces_linearization() && !rolls_back) kinds[s] = coupling::TrialKind::Continued;
  }
  return choices;
}

coupling::FoundBonds bonds_of(const SystemDescription& description, const assembly::Assembly& assembly,
                              const Graph& graph, std::vector<Problem>& problems) {
  std::vector<const VariableTable*> variables;
  for (const auto& subsystem : assembly.subsystems) variables.push_back(&subsystem->variables());
  return coupling::power_bonds(description.bonds, graph, variables, problems);
}

/// The rigid connections that the user wrote, with the ports that they name.
class ConstraintFinder {
 public:
  ConstraintFinder(const assembly::Assembly& assembly, const Graph& graph, std::vector<Problem>& problems)
      : assembly_(assembly), graph_(graph), problems_(problems) {}

  void find(const ConstraintDescription& written, std::vector<coupling::Constraint>& found) {
    std::vector<OutputId> outputs;
    std::vector<InputId> inputs;
    for (const auto& name : written.variables) {
      for (std::size_t y = 0; y < graph_.outputs(); ++y) {
        if (graph_.name(OutputId{y}) == name.value) outputs.push_back(OutputId{y});
      }
      for (std::size_t u = 0; u < graph_.inputs(); ++u) {
        if (graph_.name(InputId{u}) == name.value) inputs.push_back(InputId{u});
      }
    }
    if (outputs.size() != 2 || inputs.size() != 2) return refuse(written, "it must name two outputs and two inputs");
    if (graph_.owner(inputs[0]) != graph_.owner(outputs[0])) std::swap(inputs[0], inputs[1]);
    const SubsystemId one = graph_.owner(outputs[0]);
    const SubsystemId other = graph_.owner(outputs[1]);
    if (one == other || graph_.owner(inputs[0]) != one || graph_.owner(inputs[1]) != other)
      return refuse(written, "it must name an output and an input of each of two subsystems");
    for (const InputId input : inputs) {
      if (graph_.source(input) != nullptr || is_scheduled(input))
        return refuse(written, fmt::format("'{}' has another source", graph_.name(input)));
    }
    if (unit(outputs[0]) != unit(outputs[1]))
      return refuse(written,
                    fmt::format("its outputs have the units '{}' and '{}'", unit(outputs[0]), unit(outputs[1])));
    for (const SubsystemId s : {one, other}) {
      const auto& can = assembly_.subsystems[s]->capabilities();
      if (!can.linearization || !can.states || !can.state_derivatives || can.imposed_step)
        return refuse(written,
                      fmt::format("'{}' needs states, their derivatives, a linearization and no step of its own",
                                  graph_.name(s)));
    }
    found.push_back({written.name, outputs[0], outputs[1], inputs[0], inputs[1]});
  }

 private:
  void refuse(const ConstraintDescription& written, const std::string& why) {
    problems_.push_back(problem_of(Fact{FactCode::ConstraintNotPossible, {written.name}, {{"why", why}}},
                                   "see docs/theory/constraints.md", written.where));
  }
  bool is_scheduled(InputId input) const {
    const SubsystemId owner = graph_.owner(input);
    const auto& all = assembly_.scheduled_inputs;
    return std::any_of(all.begin(), all.end(), [&](const coupling::ScheduledInput& scheduled) {
      return scheduled.subsystem == owner && scheduled.place.causality == Causality::Input &&
             scheduled.place.index == input - graph_.inputs_of(owner).first;
    });
  }
  const std::string& unit(OutputId output) const {
    const SubsystemId owner = graph_.owner(output);
    return assembly_.subsystems[owner]->variables().outputs[output - graph_.outputs_of(owner).first].unit;
  }

  const assembly::Assembly& assembly_;
  const Graph& graph_;
  std::vector<Problem>& problems_;
};

/// Forces are held over macro steps whose size is known before.
void check_constraints(const SystemDescription& description, const Method& method, std::vector<Problem>& problems) {
  if (description.constraints.empty()) return;
  const bool named = description.method.where.file != method::kAuto;
  if (named && method.traits().family == MethodFamily::Explicit && !method::chooses_steps(method)) return;
  const std::string why = fmt::format("{} does not hold its inputs over steps of one size", method.name());
  problems.push_back(problem_of(Fact{FactCode::ConstraintNotPossible,
                                     {description.constraints.front().name},
                                     {{"why", named ? why : "no method is chosen for it"}}},
                                "name an explicit method, without adaptive steps", description.method.where));
}

/// Of a description that no reader has checked.
void report_missing_sources(const SystemDescription& description, std::vector<Problem>& problems) {
  for (const auto& subsystem : description.subsystems) {
    if (!description::has_source(subsystem))
      problems.push_back(problem_of(Fact{FactCode::NoSource, {subsystem.name}}, "name one", subsystem.where));
  }
}

/// Events that subsystems share need them all at one time.
void check_instants(const SystemDescription& description, const Method& method, const assembly::Assembly& assembly,
                    std::vector<Problem>& problems) {
  if (description.method.where.file == method::kAuto) return;  // to look at it, or chosen with this in mind
  const auto family = method.traits().family;
  const Subsystem* sharing = assembly.shares_events();
  if (sharing == nullptr || (family != MethodFamily::Asynchronous && family != MethodFamily::Reference)) return;
  problems.push_back(
      problem_of(Fact{FactCode::NeedsCommonInstants, {std::string(sharing->name())}, {{"method", method.name()}}},
                 "use a method with common macro steps", description.method.where));
}

/// What a run with this method makes use of.
CapabilityUse uses_of(const SystemDescription& description, const Method& method) {
  CapabilityUse uses = method.requirements().uses;
  if (description.record.interval) uses.linearization = uses.output_derivatives = true;  // slopes between the rows
  if (description.correct_drift && description.correct_drift->value) uses.linearization = true;
  if (!description.constraints.empty()) uses.linearization = true;
  // Outputs that change when initialization ends are passed on by beginning again.
  if (description.subsystems.size() > 1) uses.reset = true;
  return uses;
}

/// A subsystem that differentiates an input reads zero where inputs are held, however small the step: the coupling
/// converges to something else than the solution, and runs with other steps agree on it.
std::vector<Fact> held_derivatives(CoupledSystem& system, Method& method) {
  const auto traits = method.traits();
  if (traits.family == MethodFamily::Reference) return {};
  const auto options = options_in_force(method);
  const auto degree = options.find(traits.knobs.degree);
  const bool all_held = degree != options.end() && degree->second == OptionValue(std::int64_t{0});
  std::vector<Fact> warnings;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const SubsystemId id{s};
    const Equations* equations = system.facets(id).equations;
    if (equations == nullptr || !equations->reads_input_derivatives()) continue;
    const auto& connections = system.graph().connections();
    const bool fed = std::any_of(connections.begin(), connections.end(),
                                 [&](const auto& connection) { return system.graph().owner(connection.input) == s; });
    const auto& can = system.capabilities(id);
    const bool held = all_held || (can.input_degree == 0 && can.substeps <= 1);
    if (fed && held) warnings.push_back({FactCode::HeldInputDifferentiated, {system.graph().name(id)}});
  }
  return warnings;
}

RunSummary summary_before_run(const SystemDescription& description, const CoupledSystem& system, Method& method) {
  RunSummary summary;
  summary.version = version();
  summary.system = description.name;
  summary.method = method.name();
  summary.family = method.traits().family;
  summary.parameters = options_in_force(method);
  summary.step_tolerances = method.step_tolerances();
  for (std::size_t s = 0; s < system.size(); ++s) {
    SubsystemSummary entry;
    entry.name = description.subsystems[s].name;
    entry.source = assembly::source_of(description.subsystems[s], method.requirements().equations);
    entry.capabilities = system.capabilities(SubsystemId{s});
    summary.subsystems.push_back(std::move(entry));
  }
  const Graph& graph = system.graph();
  for (const auto& connection : graph.connections()) {
    const auto output = graph.name(connection.output);
    const auto input = graph.name(connection.input);
    summary.connections.push_back({output + " -> " + input, output, input});
  }
  for (const SubsystemId s : graph.calling_sequence()) summary.sequence.push_back(graph.name(s));
  return summary;
}

}  // namespace

bool has_errors(const std::vector<Problem>& problems) {
  return std::any_of(problems.begin(), problems.end(),
                     [](const Problem& problem) { return problem.severity == Problem::Severity::Error; });
}

SystemDescription resolved(const SystemDescription& description, const Extensions& extensions) {
  const auto method = method::MethodRegistry(extensions).make(description.method.value);
  const auto options = description.method_options.find(description.method.value);
  if (method && options != description.method_options.end()) {
    std::vector<Problem> left_to_prepare;
    read_options(*method, options->second, options->first, left_to_prepare);
  }
  return with_defaults(description, method.get());
}

}  // namespace entrain

namespace entrain::session {
namespace {

/// Null where all subsystems live in this process.
std::shared_ptr<ranks::DistributedSystem> shared_among(const SystemDescription& description, Ranks* ranks,
                                                       const Logging& log) {
  if (ranks == nullptr || ranks->size() == 1) return nullptr;
  return std::make_shared<ranks::DistributedSystem>(ranks->link(), ranks_of(description, ranks->link()), log);
}

}  // namespace

Prepared prepare(const SystemDescription& written, int threads, const Extensions& extensions,
                 std::vector<Problem>& problems, const Logging& log, bool tries_everything, Ranks* ranks) {
  const base::OpenArchives kept;
  Prepared prepared;
  problems.insert(problems.end(), written.notes.begin(), written.notes.end());
  check_values_again(written, problems);
  if (!written.stop) {
    problems.push_back(problem_of(Fact{FactCode::NoStopTime},
                                  "give one: [run] stop = ..., or --stop on the command line",
                                  {written.file.string(), 0, 0}));
  }
  auto methods = configured_methods(written, method::MethodRegistry(extensions), problems);
  const SystemDescription description = with_defaults(written, methods.in_use.get());
  prepared.settings = {description.start.value, description.stop ? description.stop->value : description.start.value,
                       description.step ? description.step->value : 0.0};
  const Method* method = methods.in_use.get();
  assembly::MakerOptions making;
  making.needs_equations = method != nullptr && method->requirements().equations;
  if (method != nullptr && !tries_everything) making.uses = uses_of(description, *method);
  const auto shared = shared_among(description, ranks, log);
  if (ranks != nullptr) {
    making.isolates_fmus = true;
    making.fmu_folders = ranks->link().fmu_folders();
  }
  auto maker = assembly::subsystem_maker(description, making, extensions, shared ? shared->logging() : log);
  if (shared) maker = shared_maker(description, shared, std::move(maker));
  auto assembly = assembly::assemble(description, maker, problems);
  if (assembly.subsystems.size() != description.subsystems.size()) {
    if (!has_errors(problems)) report_missing_sources(description, problems);
    prepared.method = std::move(methods.in_use);
    return prepared;
  }

  Graph graph(std::move(assembly.nodes), std::move(assembly.connections));
  auto found_bonds = bonds_of(description, assembly, graph, problems);
  auto& bonds = found_bonds.bonds;
  auto own_signals = method != nullptr ? method->own_signals(graph) : std::vector<Signal>();
  for (auto& signal : running::bond_signals(bonds, graph)) own_signals.push_back(std::move(signal));
  check_recorded_names(description.record, assembly, std::move(own_signals), problems);
  check_judged_ports(description, assembly, problems);
  auto scenario = assembly::scenario_of(description, assembly, graph, problems);
  check_options(description, methods, graph, problems);
  prepared.method = std::move(methods.in_use);
  if (prepared.method) check_bonds(description, *prepared.method, found_bonds, problems);
  ConstraintFinder constraints(assembly, graph, problems);
  for (const auto& written_one : description.constraints) constraints.find(written_one, prepared.constraints);
  if (prepared.method) check_constraints(description, *prepared.method, problems);
  auto kinds = trial_kinds(description, assembly, problems);
  auto estimators = estimator_choices(description, extensions, kinds, problems);
  const bool times_known = prepared.settings.stop > prepared.settings.start && prepared.settings.step > 0.0;
  if (prepared.method && times_known) check_requirements(description, prepared, assembly, graph, kinds, problems);
  if (prepared.method) check_instants(description, *prepared.method, assembly, problems);
  if (has_errors(problems) || !prepared.method) return prepared;
  const bool has_discrete = assembly.has_discrete();
  const bool shares_events = assembly.shares_events() != nullptr;
  prepared.system = std::make_unique<CoupledSystem>(std::make_unique<coupling::Engine>(
      coupling::Engine::Setup{.subsystems = std::move(assembly.subsystems),
                              .graph = std::move(graph),
                              .start_inputs = std::move(assembly.start_inputs),
                              .threads = threads,
                              .trial_kinds = std::move(kinds),
                              .estimators = std::move(estimators),
                              .bonds = std::move(bonds),
                              .has_discrete = has_discrete,
                              .discrete_connections = std::move(assembly.discrete_connections),
                              .discrete_starts = std::move(assembly.discrete_starts),
                              .scheduled_inputs = std::move(assembly.scheduled_inputs),
                              .scenario = std::move(scenario),
                              .shares_events = shares_events,
                              .clock_connections = std::move(assembly.clock_connections),
                              .shared = shared}));
  prepared.summary = summary_before_run(description, *prepared.system, *prepared.method);
  prepared.summary.notes = std::move(found_bonds.notes);
  prepared.summary.warnings = held_derivatives(*prepared.system, *prepared.method);
  return prepared;
}

Logging interruptible(const std::atomic<bool>* flag) {
  Logging log;
  log.interrupted = [flag] { return flag != nullptr && flag->load(std::memory_order_relaxed); };
  return log;
}

}  // namespace entrain::session
