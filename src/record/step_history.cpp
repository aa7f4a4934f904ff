#include "record/step_history.hpp"

#include <algorithm>
#include <limits>

#include "base/bytes.hpp"

namespace entrain::recording {
namespace {

// More lines than this cannot be distinguished in one chart.
constexpr std::size_t kMostOwnSignals = 24;

// 16 MB at most; a system with thousands of connections gets a coarser history of them.
constexpr std::size_t kMostNumbers = std::size_t{1} << 20U;
constexpr std::size_t kMostSpans = 2048;
constexpr std::size_t kFewestSpans = 64;

bool shows_steps(const Signal& signal) {
  return signal.causality == Causality::Method &&
         (signal.name.ends_with(":order") || signal.name.ends_with(".time:step"));
}

}  // namespace

void StepHistory::begin(std::span<const Signal> signals, const RunSummary& summary) {
  channels_ = {{"step", "s"}, {"iterations", ""}, {"rejected", ""}};
  own_signals_.clear();
  for (std::size_t i = 0; i < signals.size() && own_signals_.size() < kMostOwnSignals; ++i) {
    if (!shows_steps(signals[i])) continue;
    own_signals_.push_back({i, signals[i].subsystem});
    channels_.push_back({signals[i].name, signals[i].unit});
  }
  values_.assign(channels_.size(), 0.0);
  steps_ = Envelope(channels_.size(), kMostSpans);
  const std::size_t connections = summary.connections.size();
  differences_ = Envelope(connections, std::clamp(kMostNumbers / (connections + 1), kFewestSpans, kMostSpans));
  difference_counts_ = OctaveCounts(connections);
  resolution_.begin(signals, summary);
  last_time_ = summary.start;
  last_iterations_ = last_rejected_ = 0;
}

void StepHistory::communicated(const Sample& sample, const RunSummary& summary) {
  resolution_.communicated(sample);
  if (sample.t == last_time_) return;  // the start of the run is no step
  values_[0] = sample.t - last_time_;
  values_[1] = static_cast<double>(summary.iterations - last_iterations_);
  values_[2] = static_cast<double>(summary.rejected_steps - last_rejected_);
  last_time_ = sample.t;
  last_iterations_ = summary.iterations;
  last_rejected_ = summary.rejected_steps;
  for (std::size_t i = 0; i < own_signals_.size(); ++i) {
    const bool known = sample.communicated.empty() || sample.communicated[own_signals_[i].subsystem] != 0;
    values_[3 + i] = known ? sample.values[own_signals_[i].index] : std::numeric_limits<double>::quiet_NaN();
  }
  steps_.add(sample.t, values_);
  differences_.add(sample.t, sample.differences);
  difference_counts_.add(sample.differences);
}

std::vector<std::byte> StepHistory::memory() const {
  return base::to_bytes(*this);
}

void StepHistory::resume(const Sample& sample, const RunSummary& summary, std::span<const std::byte> memory) {
  if (!memory.empty()) return base::from_bytes(memory, *this);
  resolution_.communicated(sample);  // the run that saved kept no history: it begins here
  last_time_ = sample.t;
  last_iterations_ = summary.iterations;
  last_rejected_ = summary.rejected_steps;
}

}  // namespace entrain::recording
