#include "facade/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/grid.hpp"
#include "facade/resolve.hpp"

namespace entrain {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// The outputs at given times, or at all communication times when none are given.
class OutputSamples : public Observer {
 public:
  explicit OutputSamples(const std::vector<Time>* wanted) : wanted_(wanted) {}

  void begin(std::span<const Signal> signals, const RunSummary&) override {
    for (std::size_t i = 0; i < signals.size(); ++i) {
      if (signals[i].causality != Causality::Output) continue;
      names.push_back(signals[i].name);
      chosen_.push_back({i, signals[i].subsystem});
    }
  }
  void communicated(const Sample& sample, const RunSummary&) override {
    if (wanted_ != nullptr) {
      while (next_ < wanted_->size() && (*wanted_)[next_] < sample.t && !same_time((*wanted_)[next_], sample.t)) {
        times.push_back((*wanted_)[next_++]);  // this run does not communicate there
        values.insert(values.end(), chosen_.size(), kUnknown);
      }
      if (next_ == wanted_->size() || !same_time((*wanted_)[next_], sample.t)) return;
      ++next_;
      ++met_;
    }
    times.push_back(sample.t);
    for (const auto& [signal, subsystem] : chosen_) {
      values.push_back(sample.communicated[subsystem] != 0 ? sample.values[signal] : kUnknown);
    }
  }

  std::vector<std::string> names;
  std::vector<Time> times;
  std::vector<double> values;  ///< a row of all outputs for each time; NaN where there is none
  double at(std::size_t row, std::size_t output) const { return values[row * names.size() + output]; }
  std::size_t met() const { return met_; }  ///< how many of the wanted times

 private:
  const std::vector<Time>* wanted_;
  std::size_t next_ = 0;
  std::size_t met_ = 0;
  struct Chosen {
    std::size_t signal;
    std::size_t subsystem;
  };
  std::vector<Chosen> chosen_;
};

struct Differences {
  double largest = 0.0;
  double mean_square = 0.0;
  std::size_t compared = 0;
};

Differences differences(const OutputSamples& a, const OutputSamples& b, std::size_t output) {
  Differences result;
  for (std::size_t row = 0; row < std::min(a.times.size(), b.times.size()); ++row) {
    const double difference = std::abs(a.at(row, output) - b.at(row, output));
    if (std::isnan(difference)) continue;
    result.largest = std::max(result.largest, difference);
    result.mean_square += difference * difference;
    ++result.compared;
  }
  if (result.compared > 0) result.mean_square /= static_cast<double>(result.compared);
  return result;
}

double range_of(const OutputSamples& run, std::size_t output) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (std::size_t row = 0; row < run.times.size(); ++row) {
    const double value = run.at(row, output);
    if (std::isnan(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return high > low ? high - low : 0.0;
}

OutputVerification verified(const std::vector<OutputSamples>& runs, std::size_t output) {
  // Below, rounding and the tolerance of inner solvers decide, not the coupling.
  constexpr double kRounding = 1e-11;
  // An order below a half is none of a coupling's: what is seen then is a jump that moves, or a step too long.
  constexpr double kLeastOrder = 0.5;
  OutputVerification result;
  result.name = runs[0].names[output];
  result.range = range_of(runs[2], output);
  const Differences first = differences(runs[0], runs[1], output);
  const Differences second = differences(runs[1], runs[2], output);
  result.first_difference = first.largest;
  result.second_difference = second.largest;
  result.rms_error = std::sqrt(first.mean_square);
  if (first.compared < 2 || second.compared < 2) return result;
  const double magnitude = std::max(result.range, std::abs(runs[2].at(runs[2].times.size() - 1, output)));
  if (first.largest <= kRounding * magnitude) {
    result.verdict = OutputVerification::Verdict::AtRounding;
    result.error_bar = first.largest;
    return result;
  }
  if (second.mean_square > 0.0) result.order = 0.5 * std::log2(first.mean_square / second.mean_square);
  const bool far_below = second.largest <= kRounding * magnitude;  // the finer runs agree: the difference is the error
  if (!far_below && !(result.order.value_or(0.0) >= kLeastOrder)) return result;
  result.verdict = OutputVerification::Verdict::Converging;
  // y_h - y = (y_h - y_h/2) / (1 - 2^-p).
  const double whole = far_below ? 1.0 : 1.0 / (1.0 - std::exp2(-*result.order));
  result.error_bar = whole * first.largest;
  result.rms_error *= whole;
  return result;
}

/// The steps that the three runs have in common, whatever the macro step: what they cost is not seen.
void note_imposed_steps(const std::vector<SubsystemSummary>& subsystems, Verification& result) {
  for (const auto& subsystem : subsystems) {
    const auto& imposed = subsystem.capabilities.imposed_step;
    if (!imposed || *imposed <= result.step / 4 * (1 + 1e-9)) continue;
    result.unrefined.push_back(subsystem.name);
    result.remarks.push_back(fmt::format("'{}' imposes a step of {} s in all three runs: what that costs is not seen",
                                         subsystem.name, *imposed));
  }
}

/// The run, or why it did not complete.
std::optional<std::string> run_at(const SystemDescription& description, const RunOptions& options,
                                  const ModelFactory& models, OutputSamples& samples, RunSummary& kept) {
  Simulation simulation(description, options, models);
  simulation.observe(samples);
  const auto& summary = kept = simulation.run();
  if (summary.termination == Termination::Completed) return std::nullopt;
  return fmt::format("the run with a step of {} s {}: {}", description.step->value, to_string(summary.termination),
                     summary.message);
}

}  // namespace

double Verification::relative_error(const OutputVerification& output) {
  const double bar = output.error_bar.value_or(kUnknown);
  return output.range > 0.0 ? bar / output.range : bar;
}

bool Verification::confirmed(double largest_relative_error) const {
  return !failure && unrefined.empty() &&
         std::all_of(outputs.begin(), outputs.end(), [&](const OutputVerification& output) {
           return output.verdict != OutputVerification::Verdict::NotConverging &&
                  relative_error(output) <= largest_relative_error;
         });
}

Verification verify(const SystemDescription& written, const RunOptions& options, const ModelFactory& models) {
  SystemDescription description = resolved(written);
  Verification result;
  result.system = description.name;
  result.method = description.method.value;
  if (!description.step) {
    (void)Simulation(description, options, models);  // throws with everything that is wrong, the stop time first
  }
  result.step = description.step->value;
  std::vector<OutputSamples> runs{OutputSamples(nullptr), OutputSamples(nullptr), OutputSamples(nullptr)};
  RunSummary summary;
  for (std::size_t k = 0; k < 3; ++k) {
    if (k > 0) runs[k] = OutputSamples(&runs[0].times);
    description.step->value = result.step / static_cast<double>(1U << k);
    result.failure = run_at(description, options, models, runs[k], summary);
    if (result.failure) return result;
  }
  for (std::size_t output = 0; output < runs[0].names.size(); ++output) {
    result.outputs.push_back(verified(runs, output));
  }
  note_imposed_steps(summary.subsystems, result);
  const std::size_t common = std::min(runs[1].met(), runs[2].met());
  if (common < runs[0].times.size()) {
    result.remarks.push_back(fmt::format(
        "the method chooses its own steps: only {} of {} communication times are common to the three runs. Runs with "
        "smaller tolerances tell more than smaller steps",
        common, runs[0].times.size()));
  }
  return result;
}

}  // namespace entrain
