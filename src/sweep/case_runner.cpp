#include "sweep/case_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <new>

#include "base/file_error.hpp"
#include "base/values.hpp"
#include "coupling/engine.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/judged_run.hpp"
#include "entrain/run.hpp"
#include "entrain/system.hpp"
#include "entrain/text.hpp"
#include "session/session.hpp"

namespace entrain::sweeping {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view kOption = "option.";
constexpr std::array<std::string_view, 4> kSettings{"method", "step", "stop", "tolerance"};

/// What varies besides start values.
bool is_setting(const std::string& name) {
  return name.starts_with(kOption) || std::find(kSettings.begin(), kSettings.end(), name) != kSettings.end();
}

/// The method first: options are those of the method.
void apply(SystemDescription& description, const std::vector<SweepInput>& inputs, const std::vector<double>& values) {
  for (std::size_t d = 0; d < inputs.size(); ++d) {
    if (inputs[d].name == "method") description.method = {input_text(inputs[d], values[d]), {}};
  }
  for (std::size_t d = 0; d < inputs.size(); ++d) {
    const std::string& name = inputs[d].name;
    const double value = values[d];
    if (name == "step") {
      description.step = {value, {}};
    } else if (name == "stop") {
      description.stop = {value, {}};
    } else if (name == "tolerance") {
      description.tolerance = {value, {}};
    } else if (name.starts_with(kOption)) {
      apply_option(description, fmt::format("{}={}", name.substr(kOption.size()), input_text(inputs[d], value)));
    } else if (name != "method") {
      apply_set(description, fmt::format("{}={}", name, input_text(inputs[d], value)));
    }
  }
}

/// As a variable takes it: a number that is whole fits one of any kind.
Value input_value(const SweepInput& input, double value) {
  constexpr double kMostExact = 1e15;
  if (input.words.empty()) {
    const bool whole = value == std::floor(value) && std::abs(value) < kMostExact;
    return whole ? Value(static_cast<std::int64_t>(value)) : Value(value);
  }
  const std::string word = input_text(input, value);
  return word == "true" ? Value(true) : word == "false" ? Value(false) : Value(word);
}

/// A start value of a system.
struct StartPlace {
  SubsystemId subsystem;
  VariableTable::Place place;
};

std::optional<StartPlace> start_place(CoupledSystem& system, const std::string& name) {
  for (std::size_t s = 0; s < system.size(); ++s) {
    const std::string prefix = system.graph().name(SubsystemId{s}) + ".";
    if (!name.starts_with(prefix)) continue;
    const auto place = system.variables(SubsystemId{s}).find_startable(name.substr(prefix.size()));
    if (place) return StartPlace{SubsystemId{s}, *place};
  }
  return std::nullopt;
}

/// What is probably meant by a name that is not known.
std::vector<std::string> startable_names(CoupledSystem& system) {
  std::vector<std::string> names(kSettings.begin(), kSettings.end());
  for (std::size_t s = 0; s < system.size(); ++s) {
    const VariableTable& table = system.variables(SubsystemId{s});
    for (const auto* list : {&table.parameters, &table.states, &table.inputs, &table.discrete_inputs}) {
      for (const auto& variable : *list) names.push_back(system.graph().name(SubsystemId{s}) + "." + variable.name);
    }
  }
  return names;
}

/// States are set where they lie: Simulation::set takes what can change in a run.
void set_start(Simulation& simulation, const std::string& name, const Value& value) {
  CoupledSystem& system = simulation.session().system();
  const auto found = start_place(system, name);
  const bool is_inner =
      found && (found->place.causality == Causality::State || found->place.causality == Causality::Local);
  if (!is_inner) return simulation.set(name, value);
  const auto fitting = base::converted(value, system.variables(found->subsystem).at(found->place));
  if (!fitting) throw Error(ErrorCode::InvalidSystem, {FactCode::SweepNotVariable, {name}});
  system.engine().set_start(found->subsystem, found->place, *fitting);
}

/// Empty, or why the variable cannot have such values.
std::string wrong_values(const SweepInput& input, const std::vector<std::vector<double>>& cases, std::size_t column,
                         const Variable& variable) {
  for (const auto& values : cases) {
    if (base::converted(input_value(input, values[column]), variable)) continue;
    return fmt::format("it is {}, not '{}'", base::kind_of(variable.type), input_text(input, values[column]));
  }
  return {};
}

/// A full disk or the like: not what the case is, but where it runs.
bool is_machine_fault(const Error& error) {
  return error.code() == ErrorCode::FileFailed ||
         std::any_of(error.problems().begin(), error.problems().end(), [](const Problem& problem) {
           return problem.severity == Problem::Severity::Error && problem.fact.code == FactCode::FileFailed;
         });
}

Problem refused_system(const std::string& why) {
  return problem_of(Fact{FactCode::SweepWrong, {"the system"}, {{"why", why}}}, "", {});
}

}  // namespace

SweepCase failed_case(const CaseContext& context, std::size_t number, const std::string& message) {
  SweepCase row;
  row.number = number;
  row.inputs = context.plan.cases[number];
  row.quantities.assign(context.quantities.size(), kUnknown);
  row.errors.assign(context.quantities.size(), kUnknown);
  row.termination = to_string(Termination::Failed);
  row.grade = to_string(Grade::Unknown);
  row.message = message;
  return row;
}

base::Bytes CaseRunner::answer(std::size_t request) {
  return request == kLook ? base::to_bytes(look()) : base::to_bytes(run(request));
}

base::Bytes CaseRunner::after_fault(const std::string& fault) {
  if (number_ == kLook) {
    SweepLook refused;
    refused.problems = {refused_system(fault)};
    return base::to_bytes(refused);
  }
  CaseAnswer answer{failed_case(context_, number_, fault), {}};
  answer.row.seconds = seconds();
  return base::to_bytes(answer);
}

SweepLook CaseRunner::look() {
  SweepLook found;
  try {
    auto description = context_.description;
    const auto& inputs = context_.plan.inputs;
    for (std::size_t d = 0; d < inputs.size(); ++d) {
      const double first = context_.plan.cases.front()[d];
      if (inputs[d].name == "method") description.method = {input_text(inputs[d], first), {}};
      if (inputs[d].name == "step") description.step = {first, {}};
      if (inputs[d].name == "stop") description.stop = {first, {}};
    }
    RunOptions run;
    run.tries_everything = false;
    Simulation simulation(description, run, context_.extensions);
    check_inputs(simulation, found.problems);
    const auto& signals = simulation.signals();
    std::vector<std::string> varied;
    varied.reserve(inputs.size());
    for (const auto& input : inputs) varied.push_back(input.name);
    const auto wanted = read_quantities(context_.options.sweep.quantities, signals, varied, found.problems);
    for (const auto& quantity : wanted) found.quantities.emplace_back(quantity.name, quantity.text);
    for (const auto& name : signals_of(wanted)) {
      const auto signal = std::find_if(signals.begin(), signals.end(), [&](const auto& of) { return of.name == name; });
      if (signal != signals.end()) found.signals.emplace_back(name, signal->unit);
    }
    const auto& chosen = simulation.session().description();
    found.method = chosen.method.value;
    for (const auto& [method, values] : chosen.method_options) {
      for (const auto& [name, value] : values) found.options[method][name] = value.value;
    }
    if (chosen.step) found.step = chosen.step->value;
    found.start = chosen.start.value;
    CoupledSystem& system = simulation.session().system();
    for (std::size_t s = 0; s < system.size(); ++s) {
      found.once_per_process = found.once_per_process || system.capabilities(SubsystemId{s}).once_per_process;
    }
    found.stop = chosen.stop ? chosen.stop->value : chosen.start.value;
  } catch (const Error& error) {
    found.problems.insert(found.problems.end(), error.problems().begin(), error.problems().end());
    if (error.problems().empty()) found.problems.push_back(refused_system(error.what()));
  }
  return found;
}

void CaseRunner::check_inputs(Simulation& simulation, std::vector<Problem>& problems) const {
  CoupledSystem& system = simulation.session().system();
  const auto& inputs = context_.plan.inputs;
  for (std::size_t d = 0; d < inputs.size(); ++d) {
    const auto& name = inputs[d].name;
    const auto variable = start_place(system, name);
    std::string why;
    if (is_setting(name)) {
      if (name == "method" && inputs[d].words.empty()) why = "a method has a name";
      const bool is_number = name != "method" && !name.starts_with(kOption);
      if (is_number && !inputs[d].words.empty()) why = fmt::format("'{}' is no number", inputs[d].words.front());
    } else if (variable) {
      const auto& of = system.variables(variable->subsystem).at(variable->place);
      why = wrong_values(inputs[d], context_.plan.cases, d, of);
    } else {
      problems.push_back(problem_of(Fact{FactCode::SweepNotVariable, {name}}, suggestion(name, startable_names(system)),
                                    context_.plan.where[d]));
    }
    if (!why.empty())
      problems.push_back(problem_of(Fact{FactCode::SweepWrong, {name}, {{"why", why}}}, "", context_.plan.where[d]));
  }
}

CaseAnswer CaseRunner::run(std::size_t number) {
  number_ = number;
  began_ = Clock::now();
  CaseAnswer answer;
  try {
    answer = context_.options.courses ? run_into_folder() : context_.options.estimate ? run_judged_case() : run_again();
  } catch (const Error& error) {
    answer = {failed_case(context_, number_, error.what()), {}};
    if (is_machine_fault(error)) answer.machine_fault = base::ErrorRecord(error);
  } catch (const std::bad_alloc&) {
    answer = {failed_case(context_, number_, "out of memory"), {}};
    answer.machine_fault = base::ErrorRecord(base::file_error("run", fmt::format("case {}", number_), ENOMEM));
  } catch (const std::exception& error) {
    answer = {failed_case(context_, number_, error.what()), {}};
  }
  answer.row.seconds = seconds();
  return answer;
}

SystemDescription CaseRunner::described() const {
  auto description = context_.description;
  apply(description, context_.plan.inputs, context_.plan.cases[number_]);
  return description;
}

CaseAnswer CaseRunner::answer_of(const RunSummary& summary, const QuantityObserver& observer) const {
  CaseAnswer answer{failed_case(context_, number_, summary.message), {}};
  answer.row.termination = to_string(summary.termination);
  if (summary.failure && is_machine_fault(*summary.failure)) answer.machine_fault = base::ErrorRecord(*summary.failure);
  if (summary.termination != Termination::Completed) return answer;
  answer.row.message.clear();
  answer.row.quantities = observer.values();
  answer.course = observer.courses();
  return answer;
}

/// Of last, min and max it is the largest error over the run, of mean and rms the root mean square.
void CaseRunner::judge(CaseAnswer& answer, const QuantityObserver& observer, const ErrorEstimate& estimate,
                       const Verdict& verdict) {
  answer.row.grade = to_string(verdict.grade);
  if (answer.row.termination != to_string(Termination::Completed)) return;
  answer.row.errors = observer.errors([&](const std::string& measure, const std::string& signal) {
    const auto found = std::find_if(estimate.outputs.begin(), estimate.outputs.end(),
                                    [&](const auto& output) { return output.name == signal; });
    if (found == estimate.outputs.end()) return kUnknown;
    const double bound = found->bound * found->range;
    const bool pointwise = measure != "mean" && measure != "rms";
    return pointwise && found->error > 0.0 ? bound * std::max(1.0, found->max_error / found->error) : bound;
  });
}

CaseAnswer CaseRunner::run_judged_case() {
  const auto description = described();
  QuantityObserver measured(context_.quantities, context_.times);
  JudgedRunOptions options;
  options.run.tries_everything = false;
  options.observers = {measured};
  const JudgedRun result = run_judged(description, options, context_.extensions);
  CaseAnswer answer = answer_of(result.summary, measured);
  judge(answer, measured, result.estimate, result.verdict);
  return answer;
}

CaseAnswer CaseRunner::run_into_folder() {
  const auto description = described();
  QuantityObserver measured(context_.quantities, context_.times);
  RunDirectoryOptions options;
  options.run.tries_everything = false;
  options.folder = context_.folder / "cases" / std::to_string(number_);
  options.overwrite = true;
  options.capture_streams = true;
  options.estimate = context_.options.estimate;
  options.observers = {measured};
  options.watchdog = false;  // the process has its own, which answers for the case
  const RunResult result = entrain::run(description, options, context_.extensions);
  CaseAnswer answer = answer_of(result.summary, measured);
  if (options.estimate) judge(answer, measured, result.estimate, result.verdict);
  return answer;
}

/// In one simulation for all cases, where only its start values vary.
CaseAnswer CaseRunner::run_again() {
  const auto& inputs = context_.plan.inputs;
  made_anew_ = made_anew_ || std::any_of(inputs.begin(), inputs.end(),
                                         [](const SweepInput& input) { return is_setting(input.name); });
  if (made_anew_) return run_anew();
  try {
    if (!simulation_) {
      RunOptions run;
      run.tries_everything = false;
      simulation_.emplace(context_.description, run, context_.extensions);
      again_ = std::make_unique<QuantityObserver>(context_.quantities, context_.times);
      simulation_->observe(*again_);
    } else {
      simulation_->reset();
    }
    const auto& values = context_.plan.cases[number_];
    for (std::size_t d = 0; d < inputs.size(); ++d)
      set_start(*simulation_, inputs[d].name, input_value(inputs[d], values[d]));
  } catch (const Error& error) {  // what cannot be reset: then as `run` would
    if (is_machine_fault(error)) throw;
    made_anew_ = true;
    simulation_.reset();
    return run_anew();
  }
  return answer_of(simulation_->run(), *again_);
}

CaseAnswer CaseRunner::run_anew() {
  RunOptions run;
  run.tries_everything = false;
  Simulation simulation(described(), run, context_.extensions);
  QuantityObserver measured(context_.quantities, context_.times);
  simulation.observe(measured);
  return answer_of(simulation.run(), measured);
}

}  // namespace entrain::sweeping
