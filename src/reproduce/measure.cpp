#include "reproduce/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "description/system_file.hpp"
#include "entrain/entrain.hpp"

namespace entrain {

MemoryRecorder run_example(const std::filesystem::path& file, std::string_view method, double step,
                           const std::vector<std::string>& signals, const std::vector<std::string>& options) {
  SystemDescription description = load(file);
  description.method = {std::string(method), {}};
  description.step = {step, {}};
  for (const auto& option : options) apply_option(description, option);
  Simulation simulation(description);
  MemoryRecorder recorder(signals);
  simulation.observe(recorder);
  const RunSummary& summary = simulation.run();
  if (summary.termination != Termination::Completed) {
    throw Error(ErrorCode::SubsystemFailed,
                fmt::format("{} with {} did not complete: {}", description.name, method, summary.message));
  }
  return recorder;
}

double percent_error(const std::vector<double>& values, const std::vector<double>& reference) {
  if (values.size() != reference.size() || reference.empty()) {
    throw Error(ErrorCode::InvalidSystem,
                fmt::format("cannot compare {} samples with {} of the reference", values.size(), reference.size()));
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += (values[i] - reference[i]) * (values[i] - reference[i]);
  const auto [low, high] = std::minmax_element(reference.begin(), reference.end());
  return 100.0 * std::sqrt(sum / static_cast<double>(values.size())) / (*high - *low);
}

}  // namespace entrain
