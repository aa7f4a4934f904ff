#include "entrain/inspection.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "advise/choose_method.hpp"
#include "api/fmus_apart.hpp"
#include "assembly/subsystem_factory.hpp"
#include "base/values.hpp"
#include "coupling/discrete_signals.hpp"
#include "coupling/engine.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/system.hpp"
#include "methods/registry.hpp"
#include "methods/requirements.hpp"
#include "session/prepare.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"

namespace entrain {

namespace {

std::vector<Fact> obstacles(const Method& method, const CoupledSystem& system, const RunSettings& settings) {
  std::vector<const Capabilities*> capabilities;
  for (std::size_t s = 0; s < system.size(); ++s) capabilities.push_back(&system.capabilities(SubsystemId{s}));
  std::vector<Fact> facts;
  for (auto& unmet : method::unmet_requirements(method, system.graph(), capabilities, settings)) {
    facts.push_back(std::move(unmet.fact));
  }
  return facts;
}

/// An FMU that offers both is used by co-simulation, but by a method that needs equations by model exchange: that one
/// must be asked about the system as it would run it.
std::vector<Fact> obstacles_when_chosen(SystemDescription description, std::string_view method,
                                        const Extensions& extensions) {
  description.method = {std::string(method), {}};
  std::vector<Problem> problems;
  const session::Prepared prepared =
      session::prepare(api::with_fmus_apart(std::move(description)), 1, extensions, problems);
  std::vector<Fact> facts;
  for (auto& problem : problems) {
    if (problem.severity == Problem::Severity::Error) facts.push_back(std::move(problem.fact));
  }
  return facts;
}

/// What the method would make of the subsystems, in the words of a run's summary. None where the system cannot be
/// initialised: a run reports why.
std::vector<Fact> notes_at_start(Method& method, const session::Prepared& prepared) {
  try {
    method.start(*prepared.system, prepared.settings);
    return method.notes(*prepared.system);
  } catch (const Error&) {
    return {};
  }
}

bool initializes(const session::Prepared& prepared) {
  try {
    prepared.system->engine().initialize(prepared.settings.start, prepared.settings.stop);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// With its default options, for the times of this run.
std::vector<MethodFitness> fitness_of_methods(const SystemDescription& description, const session::Prepared& prepared,
                                              const Extensions& extensions) {
  const bool has_fmus = std::any_of(description.subsystems.begin(), description.subsystems.end(),
                                    [](const SubsystemDescription& subsystem) { return !subsystem.fmu.empty(); });
  const bool initialized = initializes(prepared);
  const method::MethodRegistry registry(extensions);
  std::vector<MethodFitness> result;
  for (const auto& [traits, make] : registry.entries()) {
    const auto method = make();
    auto& fitness = result.emplace_back();
    fitness.method = traits.name;
    if (has_fmus && method->requirements().equations) {
      fitness.obstacles = obstacles_when_chosen(description, traits.name, extensions);
    } else {
      fitness.obstacles = obstacles(*method, *prepared.system, prepared.settings);
      if (fitness.obstacles.empty() && initialized) fitness.notes = notes_at_start(*method, prepared);
    }
  }
  return result;
}

SystemDescription description_for_show(const SystemDescription& written) {
  SystemDescription description = advising::to_look_at(written);
  if (!description.stop) description.stop = {description.start.value + 1.0, {}};  // what is shown needs no run
  return description;
}

session::Prepared prepared_for_show(const SystemDescription& description, const Extensions& extensions) {
  std::vector<Problem> problems;
  session::Prepared prepared = session::prepare(api::with_fmus_apart(description), 1, extensions, problems);
  if (!prepared.system) throw Error(std::move(problems));
  return prepared;
}

/// ", 2 kN there": what a value was where it comes from, if it is given in another unit.
std::string before_conversion(const Value& value, const std::string& unit, const Variable& input) {
  if (unit.empty() || unit == input.unit) return {};
  return fmt::format(", {} {} there", value_text(value), unit);
}

/// Of a start value that the user gave, else of the subsystem's own.
std::string origin_of_start(const SubsystemDescription& subsystem, const Variable& input) {
  const auto text_of = [](const SourcePosition& where) {
    if (where.file.empty()) return std::string("the program");
    return where.line > 0 ? fmt::format("{}:{}", where.file, where.line) : where.file;
  };
  const auto is_input = [&](const auto& start) { return is_called(input, start.first); };
  const auto written = std::find_if(subsystem.start.begin(), subsystem.start.end(), is_input);
  if (written != subsystem.start.end()) return text_of(written->second.where);
  const auto given = std::find_if(subsystem.optional_start.begin(), subsystem.optional_start.end(), is_input);
  if (given == subsystem.optional_start.end()) return "its own start value";
  const OptionalStart& start = given->second;
  return text_of(start.where) + before_conversion(start.value, start.unit, input);
}

/// With the value that the output has there, if units or the user's factor make another one of it.
std::string origin_of_signal(const CoupledSystem& system, const Connection& connection, const Variable& input) {
  const Graph& graph = system.graph();
  const SubsystemId from = graph.owner(connection.output);
  const auto& output = system.variables(from).outputs[connection.output - graph.outputs_of(from).first];
  const double value = system.outputs()[connection.output];
  const bool is_scaled = connection.factor != 1.0 || connection.offset != 0.0;
  const std::string there = is_scaled && output.unit == input.unit ? fmt::format(", {} there", value)
                                                                   : before_conversion(value, output.unit, input);
  return fmt::format("'{}'{}", graph.name(connection.output), there);
}

std::optional<std::string> origin_of_connection(const SystemDescription& description, const std::string& input) {
  for (const auto& connection : description.connections) {
    if (!input.starts_with(connection.input)) continue;
    const std::string element = input.substr(connection.input.size());  // of arrays that are connected as a whole
    if (element.empty() || element.front() == '[') return fmt::format("'{}{}'", connection.output, element);
  }
  return std::nullopt;
}

/// An FMU that offers both interfaces is used by co-simulation; what it provides there is not all that it can do.
std::string by_model_exchange(const SystemDescription& description, std::size_t s, const Capabilities& can) {
  const auto& subsystem = description.subsystems[s];
  if (subsystem.fmu.empty() || can.equations) return {};
  const auto file = description.file.parent_path() / subsystem.fmu;
  if (!subsystem::fmu_offers(file, FmuInterface::ModelExchange)) return {};
  return fmt::format("its equations are open and its inputs cubics (interface = \"model-exchange\"; '{}' uses it so)",
                     method::built_in_methods().reference().name);
}

/// The FMUs of a system, unpacked once for all that is asked about them.
std::vector<std::shared_ptr<subsystem::Fmu>> held_fmus(const SystemDescription& description) {
  std::vector<std::shared_ptr<subsystem::Fmu>> held;
  for (const auto& subsystem : description.subsystems) {
    if (subsystem.fmu.empty()) continue;
    try {
      held.push_back(subsystem::hold_fmu(subsystem.fmu));
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): reported where it is used
    }
  }
  return held;
}

std::string missing_binary_of(const SubsystemDescription& subsystem) {
  if (subsystem.fmu.empty()) return {};
  try {
    return subsystem::fmu_missing_binary(subsystem.fmu);
  } catch (const Error&) {  // reported as without this check
    return {};
  }
}

/// What can be shown of a system with FMUs that have no binary for this platform: the variables; paths are absolute.
/// nullopt when all have one, or when something else is wrong, which is reported elsewhere.
std::optional<SystemInspection> inspection_without_binaries(const SystemDescription& description,
                                                            const Extensions& extensions) {
  const auto& all = description.subsystems;
  if (std::all_of(all.begin(), all.end(), [&](const auto& each) { return missing_binary_of(each).empty(); }))
    return std::nullopt;
  SystemInspection result;
  const auto make = assembly::subsystem_maker(description, {.only_variables = true}, extensions, {});
  for (const auto& subsystem : all) {
    std::vector<Problem> problems;
    const auto made = make(subsystem, {}, problems);
    if (!made) return std::nullopt;
    auto& shown = result.subsystems.emplace_back();
    shown.name = subsystem.name;
    shown.source = assembly::source_of(subsystem, false);
    if (!subsystem.fmu.empty()) shown.about = subsystem::fmu_about(subsystem.fmu);
    shown.variables = made->variables();
    if (auto missing = missing_binary_of(subsystem); !missing.empty()) {
      shown.warnings.push_back(
          {FactCode::FmuNoBinary, {std::filesystem::path(subsystem.fmu).filename().string()}, {{"why", missing}}});
    }
  }
  return result;
}

}  // namespace

std::vector<InitialInput> inspect_initial(const SystemDescription& written, const Extensions& extensions) {
  const SystemDescription description = description_for_show(written);
  const session::Prepared prepared = prepared_for_show(description, extensions);
  CoupledSystem& system = *prepared.system;
  system.engine().initialize(prepared.settings.start, prepared.settings.stop);
  std::vector<InitialInput> result;
  std::size_t discrete = 0;  // discrete inputs lie behind all discrete outputs
  for (std::size_t s = 0; s < system.size(); ++s) discrete += system.variables(SubsystemId{s}).discrete_outputs.size();
  for (std::size_t s = 0; s < system.size(); ++s) {
    const SubsystemId id{s};
    const auto add = [&](const Variable& input, const Value& value, const Connection* connection) {
      const std::string name = fmt::format("{}.{}", system.graph().name(id), input.name);
      const auto source = connection == nullptr ? origin_of_connection(description, name)
                                                : std::optional(origin_of_signal(system, *connection, input));
      result.push_back({name, value, input.unit, source ? *source : origin_of_start(description.subsystems[s], input)});
    };
    const auto& variables = system.variables(id);
    const auto inputs = system.graph().inputs_of(id);
    for (std::size_t i = 0; i < inputs.count; ++i) {
      const InputId input{inputs.first + i};
      add(variables.inputs[i], system.inputs()[input], system.graph().source(input));
    }
    for (const auto& input : variables.discrete_inputs)
      add(input, system.engine().discrete()->values()[discrete++], nullptr);
  }
  return result;
}

SystemInspection inspect(const SystemDescription& written, const Extensions& extensions) {
  const SystemDescription description = description_for_show(written);
  const SystemDescription located = resolved(description, extensions);
  const auto held = held_fmus(located);
  if (auto shown = inspection_without_binaries(located, extensions)) return std::move(*shown);
  const session::Prepared prepared = prepared_for_show(description, extensions);
  const CoupledSystem& system = *prepared.system;
  const Graph& graph = system.graph();

  SystemInspection result;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const SubsystemId id{s};
    const std::string& fmu = description.subsystems[s].fmu;
    result.subsystems.push_back({graph.name(id), prepared.summary.subsystems[s].source,
                                 fmu.empty() ? "" : subsystem::fmu_about(description.file.parent_path() / fmu),
                                 system.variables(id), system.capabilities(id),
                                 system.engine().subsystem(id).warnings(),
                                 by_model_exchange(description, s, system.capabilities(id))});
  }
  for (const auto& loop : graph.loops()) {
    auto& names = result.loops.emplace_back();
    for (const OutputId output : loop.outputs) names.push_back(graph.name(output));
    for (const InputId input : loop.inputs) names.push_back(graph.name(input));
  }
  for (const auto& component : graph.components()) {
    auto& names = result.components.emplace_back();
    for (const SubsystemId s : component) names.push_back(graph.name(s));
  }
  for (const SubsystemId s : graph.calling_sequence()) result.sequence.push_back(graph.name(s));
  result.methods = fitness_of_methods(description, prepared, extensions);
  return result;
}

std::vector<MethodInfo> methods(const Extensions& extensions) {
  std::vector<MethodInfo> infos;
  const method::MethodRegistry registry(extensions);
  for (const auto& [traits, make] : registry.entries()) infos.push_back({traits, describe_options(*make())});
  return infos;
}

}  // namespace entrain
