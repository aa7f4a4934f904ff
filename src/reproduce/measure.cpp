#include "reproduce/measure.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "description/system_file.hpp"
#include "entrain/entrain.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"

namespace entrain::reproducing {
namespace {

CompletedRun run_to_the_end(const SystemDescription& description, const std::vector<std::string>& signals) {
  Simulation simulation(description);
  CompletedRun run{MemoryRecorder(signals), {}};
  simulation.observe(run.record);
  run.summary = simulation.run();
  if (run.summary.termination != Termination::Completed) {
    throw Error(ErrorCode::SubsystemFailed, {FactCode::RunDidNotComplete,
                                             {description.name},
                                             {{"method", description.method.value}, {"why", run.summary.message}}});
  }
  return run;
}

SystemDescription example_with(const Example& example, std::string_view method) {
  SystemDescription description = load(example.file);
  if (example.fmus.used() && method != "monolithic") description = with_fmus(std::move(description), example.fmus);
  description.method = {std::string(method), {}};
  return description;
}

}  // namespace

SystemDescription load_example(const Example& example, std::string_view method, double step) {
  SystemDescription description = example_with(example, method);
  description.step = {step, {}};
  return description;
}

CompletedRun run_changed(const Example& example, std::string_view method,
                         const std::function<void(SystemDescription&)>& change,
                         const std::vector<std::string>& signals) {
  SystemDescription description = example_with(example, method);
  change(description);
  return run_to_the_end(description, signals);
}

MemoryRecorder run_example(const Example& example, std::string_view method, double step,
                           const std::vector<std::string>& signals, const std::vector<std::string>& options) {
  return run_system(load_example(example, method, step), signals, options);
}

MemoryRecorder run_system(SystemDescription description, const std::vector<std::string>& signals,
                          const std::vector<std::string>& options) {
  for (const auto& option : options) apply_option(description, option);
  return run_to_the_end(description, signals).record;
}

SystemDescription with_fmus(SystemDescription description, const FmuSet& fmus) {
  for (auto& subsystem : description.subsystems) {
    if (subsystem.model.empty()) continue;
    std::string name = std::exchange(subsystem.model, {});
    std::replace(name.begin(), name.end(), '.', '_');
    const auto file = fmus.folder / (name + ".fmu");
    if (!std::filesystem::is_regular_file(file)) {
      throw Error(ErrorCode::FileFailed, {FactCode::NoSuchFile, {file.string()}},
                  {.subsystem = subsystem.name,
                   .variable = {},
                   .time = {},
                   .remedy = "Build the FMUs of the models (make build), or set ENTRAIN_FMUS to their folder"});
    }
    subsystem.fmu = file.string();
    subsystem.fmu_where = subsystem.model_where;
    if (!fmus.model_exchange || !subsystem::fmu_offers(file, FmuInterface::ModelExchange)) continue;
    subsystem.interface = {FmuInterface::ModelExchange, {}};
    subsystem.relative_tolerance = {kReproducedExchangeTolerance, {}};
  }
  return description;
}

SystemDescription as_asked(SystemDescription description, const Examples& examples) {
  return !examples.fmus.used() ? std::move(description) : with_fmus(std::move(description), examples.fmus);
}

double percent_error(const std::vector<double>& values, const std::vector<double>& reference) {
  if (values.size() != reference.size() || reference.empty()) {
    throw Error(ErrorCode::InvalidSystem,
                {FactCode::SamplesDiffer, {}, {{"samples", values.size()}, {"reference", reference.size()}}});
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += (values[i] - reference[i]) * (values[i] - reference[i]);
  const auto [low, high] = std::minmax_element(reference.begin(), reference.end());
  return 100.0 * std::sqrt(sum / static_cast<double>(values.size())) / (*high - *low);
}

}  // namespace entrain::reproducing
