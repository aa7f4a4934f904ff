#pragma once

#include <string>
#include <vector>

#include "entrain/envelope.hpp"
#include "entrain/simulation.hpp"
#include "record/octave_counts.hpp"
#include "record/step_resolution.hpp"

namespace entrain::recording {

/// How the macro steps of a run went, in bounded memory: size, iterations and rejected attempts of each, the orders and
/// steps that a method reports, the difference between each input and its output, and how well the steps resolve the
/// signals.
class StepHistory : public Observer {
 public:
  struct Channel {
    std::string name;  ///< "step", "iterations", "rejected", "left.x:order", "left.time:step"
    std::string unit;
  };

  void begin(std::span<const Signal> signals, const RunSummary& summary) override;
  void communicated(const Sample& sample, const RunSummary& summary) override;
  /// Continues from the time of the checkpoint.
  std::vector<std::byte> memory() const override;
  void resume(const Sample& sample, const RunSummary& summary, std::span<const std::byte> memory) override;
  Needs needs() const override { return {.states = false, .slopes = false, .differences = true}; }

  const std::vector<Channel>& channels() const { return channels_; }
  const Envelope& steps() const { return steps_; }                              ///< a channel each
  const Envelope& differences() const { return differences_; }                  ///< a channel for each connection
  const OctaveCounts& difference_counts() const { return difference_counts_; }  ///< of the same, step by step

  const StepResolution& resolution() const { return resolution_; }

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(steps_, differences_, difference_counts_, resolution_, last_time_, last_iterations_, last_rejected_);
  }

 private:
  struct OwnSignal {
    std::size_t index;
    std::size_t subsystem;
  };

  std::vector<Channel> channels_;
  std::vector<OwnSignal> own_signals_;
  Envelope steps_{0};
  Envelope differences_{0};
  OctaveCounts difference_counts_{0};
  StepResolution resolution_;
  std::vector<double> values_;
  Time last_time_ = 0.0;
  std::uint64_t last_iterations_ = 0;
  std::uint64_t last_rejected_ = 0;
};

}  // namespace entrain::recording
