#pragma once

#include <vector>

#include "learn/learned_connections.hpp"
#include "learn/learning_law.hpp"
#include "learn/repeated_run.hpp"

namespace entrain::learning {

/// Corrects held inputs to the outputs at the start of each step, as in the paper (docs/theory/learning.md).
class HeldLaw final : public LearningLaw {
 public:
  /// Borrows the run.
  HeldLaw(RepeatedRun& run, std::vector<LearnedWire> wires);

  Observer& observer() override { return record_; }
  void clear() override { record_.clear(); }
  void take(const RecordedRows& rows, const std::vector<double>& applied) override;
  std::size_t steps() const override { return record_.steps(); }
  std::size_t numbers() const override { return record_.wires().size(); }
  std::size_t orders() const override { return 1; }
  LearnIteration judged() override;
  const WireErrors& errors() const override { return errors_; }
  std::vector<Duration> intervals() const override;
  std::vector<LearnedCourse> courses() const override;
  running::CorrectionSchedule schedule(const std::vector<double>& corrections) const override;
  std::vector<OutputId> guarded() const override { return outputs_of(record_.wires()); }
  std::vector<double> live() const override;
  std::vector<double> sent() const override { return record_.sent(); }
  Repeatability compared(const std::vector<double>& earlier, Compared part) const override;
  void update(std::vector<double>& corrections, const LearningTuning& tuning) override;

 private:
  RepeatedRun& run_;
  WireRecord record_;
  WireErrors errors_;
};

}  // namespace entrain::learning
