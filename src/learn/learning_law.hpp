#pragma once

#include <vector>

#include "entrain/learning.hpp"
#include "entrain/simulation.hpp"
#include "run/correction_schedule.hpp"

namespace entrain::learning {

/// What is learned from a run: keeps what matters of it, judges it, and makes the corrections of the next one.
class LearningLaw {
 public:
  virtual ~LearningLaw() = default;

  /// Of the run under way.
  virtual Observer& observer() = 0;
  /// Before the next run.
  virtual void clear() = 0;
  /// Macro steps recorded.
  virtual std::size_t steps() const = 0;
  /// Corrections of a macro step.
  virtual std::size_t numbers() const = 0;
  /// The run is over. How far it was from consistent.
  virtual LearnIteration judged() = 0;
  virtual std::vector<LearnedCourse> courses() const = 0;
  virtual running::CorrectionSchedule schedule(const std::vector<double>& corrections) const = 0;
  /// Differences of two runs to what they sent, relative to its range: what cannot be learned. `worst`: where.
  struct Repeatability {
    double difference = 0.0;
    std::string worst;
  };
  /// What the run sent; to be compared with a later one.
  virtual std::vector<double> sent() const = 0;
  virtual Repeatability compared(const std::vector<double>& earlier) const = 0;
  /// What the next run adds, from what this one added.
  virtual void update(std::vector<double>& corrections) = 0;
};

}  // namespace entrain::learning
