#include <limits>
#include <utility>

#include "entrain/recording.hpp"
#include "record/selection.hpp"

namespace entrain {

MemoryRecorder::MemoryRecorder(const std::vector<std::string>& patterns) : patterns_(std::in_place) {
  for (const auto& pattern : patterns) patterns_->push_back({pattern, {}});
}

void MemoryRecorder::begin(std::span<const Signal> signals, const RunSummary&) {
  chosen_ = recording::select_signals(signals, patterns_);
  times.clear();  // of an earlier run
  names.clear();
  subsystems_.clear();
  for (const auto index : chosen_) {
    names.push_back(signals[index].name);
    subsystems_.push_back(signals[index].subsystem);
    needs_.add(signals[index], index);
  }
  columns.assign(chosen_.size(), {});
}

void MemoryRecorder::communicated(const Sample& sample, const RunSummary&) {
  times.push_back(sample.t);
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const bool known = sample.communicated.empty() || sample.communicated[subsystems_[i]] != 0;
    columns[i].push_back(known ? sample.values[chosen_[i]] : std::numeric_limits<double>::quiet_NaN());
  }
}

}  // namespace entrain
