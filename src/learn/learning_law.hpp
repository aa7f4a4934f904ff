#pragma once

#include <string>
#include <vector>

#include "entrain/learning.hpp"
#include "entrain/simulation.hpp"
#include "run/correction_schedule.hpp"

namespace entrain::learning {

/// What is made of an error: c <- Q((1 - forgetting) c + gain e).
struct LearningTuning {
  double gain = 1.0;
  double cutoff = 0.0;      ///< of Q, a low-pass filter, in Hz; 0 = none
  double forgetting = 0.0;  ///< share of c, from run to run
};

/// By learned connection: errors of one run over the steps of its consumer, relative to the range of the signal.
using WireErrors = std::vector<std::vector<double>>;

/// A run that was recorded, at its communication times.
struct RecordedRows {
  std::vector<Signal> signals;  ///< all outputs, then all inputs
  std::vector<Time> times;
  std::vector<double> values;  ///< row by row; the inputs are those of the step that ended there
};

/// What is learned from a run: keeps what matters of it, judges it, and makes the corrections of the next one. It
/// remembers nothing of the runs before.
class LearningLaw {
 public:
  virtual ~LearningLaw() = default;

  /// Of the run under way.
  virtual Observer& observer() = 0;
  /// Before the next run.
  virtual void clear() = 0;
  /// In place of a run: what was recorded of one, and the corrections it was run with.
  virtual void take(const RecordedRows& rows, const std::vector<double>& applied) = 0;
  /// Macro steps recorded.
  virtual std::size_t steps() const = 0;
  /// Corrections of a macro step.
  virtual std::size_t numbers() const = 0;
  /// Of each connection, among them.
  virtual std::size_t orders() const = 0;
  /// The run is over. How far it was from consistent.
  virtual LearnIteration judged() = 0;
  /// Of the run that was judged last.
  virtual const WireErrors& errors() const = 0;
  /// Between two errors of a connection.
  virtual std::vector<Duration> intervals() const = 0;
  virtual std::vector<LearnedCourse> courses() const = 0;
  virtual running::CorrectionSchedule schedule(const std::vector<double>& corrections) const = 0;

  /// The outputs behind learned connections, each once.
  virtual std::vector<OutputId> guarded() const = 0;
  /// As they were passed on at the start of each macro step, and at the end of the last.
  virtual std::vector<double> live() const = 0;

  /// Differences of two runs to what they sent, relative to its range: what cannot be learned. `worst`: where.
  struct Repeatability {
    double difference = 0.0;
    std::string worst;
  };
  enum class Compared { Whole, Start };
  /// What the run sent; to be compared with a later one.
  virtual std::vector<double> sent() const = 0;
  virtual Repeatability compared(const std::vector<double>& earlier, Compared part) const = 0;
  /// What the next run adds, from what this one added.
  virtual void update(std::vector<double>& corrections, const LearningTuning& tuning) = 0;
};

}  // namespace entrain::learning
