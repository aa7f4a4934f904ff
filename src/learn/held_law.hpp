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
  HeldLaw(RepeatedRun& run, const LearnOptions& options, std::vector<LearnedWire> wires);

  Observer& observer() override { return record_; }
  void clear() override { record_.clear(); }
  std::size_t steps() const override { return record_.steps(); }
  std::size_t numbers() const override { return record_.wires().size(); }
  LearnIteration judged() override;
  std::vector<LearnedCourse> courses() const override;
  running::CorrectionSchedule schedule(const std::vector<double>& corrections) const override;
  std::vector<double> sent() const override { return record_.sent(); }
  Repeatability compared(const std::vector<double>& earlier) const override;
  void update(std::vector<double>& corrections) override;

 private:
  RepeatedRun& run_;
  const LearnOptions& options_;
  WireRecord record_;
};

}  // namespace entrain::learning
