#include "advise/short_runs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "advise/candidates.hpp"
#include "compare/difference.hpp"
#include "entrain/recording.hpp"
#include "session/session.hpp"

namespace entrain::advising {
namespace {

std::string subsystem_of(const std::string& variable) {
  return variable.substr(0, variable.find('.'));
}

}  // namespace

struct ShortRuns::Recorded {
  std::vector<Output> outputs;
  RunSummary summary;

  bool completed() const { return summary.termination == Termination::Completed; }
  double per_second(double total) const { return total / (summary.reached - summary.start); }
  double calls() const {
    double calls = static_cast<double>(summary.linearizations);
    for (const auto& subsystem : summary.subsystems) {
      calls += static_cast<double>(subsystem.steps + subsystem.rollbacks);
    }
    return per_second(calls);
  }
};

ShortRuns::ShortRuns(const SystemDescription& description, const Extensions& extensions, Duration length,
                     std::map<std::string, double> ranges, std::set<std::string> imposing)
    : description_(description),
      extensions_(extensions),
      length_(std::min(length, description.stop->value - description.start.value)),
      ranges_(std::move(ranges)),
      imposing_(std::move(imposing)) {
  for (const auto& connection : description_.connections) fed_.insert(subsystem_of(connection.input));
  // Where no other subsystem has connected inputs, only what the runs have in common can be compared.
  if (std::includes(imposing_.begin(), imposing_.end(), fed_.begin(), fed_.end())) imposing_.clear();
}

ShortRuns::Recorded ShortRuns::run(const MethodConfig& config, Duration step) const {
  auto description = with_config(method::MethodRegistry(extensions_), description_, config);
  description.step = {step, {}};
  description.stop->value = description.start.value + length_;
  description.record = {};
  session::Session session(std::move(description), {}, extensions_);
  MemoryRecorder recorder;
  session.observe(recorder);
  Recorded result{{}, session.run()};
  for (std::size_t y = 0; y < recorder.names.size(); ++y) {
    auto& output = result.outputs.emplace_back(Output{recorder.names[y], {}, {}});
    for (std::size_t row = 0; row < recorder.times.size(); ++row) {
      if (std::isnan(recorder.columns[y][row])) continue;  // it did not communicate
      output.times.push_back(recorder.times[row]);
      output.values.push_back(recorder.columns[y][row]);
    }
  }
  return result;
}

ShortRuns::Cost ShortRuns::cost(const MethodConfig& config, Duration step) const {
  const auto made = run(config, step);
  if (!made.completed()) return {0.0, 0.0, made.summary.message};
  return {made.calls(), made.per_second(made.summary.wall_seconds), {}};
}

bool ShortRuns::refine(const MethodConfig& config, Duration step) {
  const Recorded finer = run(config, step / 4);
  Recorded finest = run(config, step / 8);
  if (!finest.completed() || !finer.completed()) return false;
  std::swap(reference_, finest.outputs);
  const double changed = distance(finer);
  if (std::isfinite(changed)) {
    doubt_ = changed;
    return true;
  }
  std::swap(reference_, finest.outputs);
  return false;
}

std::optional<ShortRuns::Outcome> ShortRuns::error(const MethodConfig& config, Duration step) const {
  const Recorded made = run(config, step);
  Outcome outcome{distance(made), made.calls()};
  for (const auto& connection : made.summary.connections) {
    if (!imposing_.contains(subsystem_of(connection.input)) || !(connection.range > 0.0)) continue;
    outcome.defect = std::max(outcome.defect, connection.max_residual / connection.range);
  }
  if (!made.completed() || !std::isfinite(outcome.error)) return std::nullopt;
  return outcome;
}

double ShortRuns::distance(const Recorded& from) const {
  double worst = 0.0;
  for (std::size_t y = 0; y < reference_.size() && y < from.outputs.size(); ++y) {
    const auto& exact = reference_[y];
    const auto owner = subsystem_of(exact.name);
    if (!fed_.contains(owner) || imposing_.contains(owner)) continue;  // no coupling makes it err, or it is not known
    const auto& ours = from.outputs[y];
    const auto apart =
        comparing::difference({ours.times, ours.values}, {exact.times, exact.values}, 0.0, comparing::Between::Cubics);
    if (!apart) return std::numeric_limits<double>::infinity();
    const auto range = ranges_.find(exact.name);
    const auto relative =
        range == ranges_.end() || !(range->second > 0.0) ? apart->relative : std::optional(apart->rms / range->second);
    if (!relative) continue;                       // 0 all along: it has no size that an error could be related to
    if (!(*relative <= worst)) worst = *relative;  // NaN is the worst there is
  }
  return worst;
}

}  // namespace entrain::advising
