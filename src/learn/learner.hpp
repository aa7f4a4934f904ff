#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/grid.hpp"
#include "learn/acceleration.hpp"
#include "learn/learning_law.hpp"
#include "learn/repeated_run.hpp"

namespace entrain::learning {

/// Whether repeated runs get anywhere, from their errors alone. NaN and infinity are never better than anything.
struct LearningTrend {
  /// The end that this run brings, if it does.
  std::optional<LearnEnd> take(double error, double tolerance, int iterations);

  int runs = 0;
  double first = std::numeric_limits<double>::infinity();
  double best = std::numeric_limits<double>::infinity();
  double previous = std::numeric_limits<double>::infinity();
  int worse_runs = 0;
  int without_progress = 0;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(runs, first, best, previous, worse_runs, without_progress);
  }
};

/// A run worth keeping.
struct KeptRun {
  std::vector<double> corrections;
  std::uint64_t steps = 0;
  Time reached = 0.0;
  double error = std::numeric_limits<double>::infinity();
  int number = 0;
  std::vector<LearnedCourse> courses = {};
  std::vector<double> live = {};  // of a bench: LearningLaw::live

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(corrections, steps, reached, error, number, courses, live);
  }
};

/// Where repeated runs are, between two of them: all that decides how they go on.
struct LearningPosition {
  enum class Phase : std::uint8_t { NotBegun, Whole, Progressive };
  Phase phase = Phase::NotBegun;
  Time horizon = 0.0;               // of the next run
  std::uint64_t first = 0;          // iteration of this horizon
  LearningTrend trend;              // of the runs to it
  std::vector<double> corrections;  // of the next run
  Acceleration::Memory past;
  std::optional<KeptRun> best;  // of the runs to this horizon
  std::optional<KeptRun> kept;  // of all that were learned to their end
  bool changed = false;         // corrections, since the last run
  bool measured = false;        // gamma
  int not_used = 0;             // runs
  std::uint64_t limited = 0;    // corrections of the next run
  WireErrors errors;            // of the last run that was learned from

  // On a bench.
  std::vector<double> sent_first;  // by the first run
  WireErrors errors_first;
  std::vector<double> live;     // of the last run that was learned from
  std::optional<double> moved;  // by which the last two of them differ, of the range

  // Of a progressive horizon.
  int halvings = 0;
  Time learned = 0.0;
  Duration growth = 0.0;
  std::vector<double> corrections_before;  // this horizon

  std::optional<LearnEnd> end;
  LearnResult result;  // as far as it is known

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(phase, horizon, first, trend, corrections, past, best, kept, changed, measured, not_used, limited, errors,
          sent_first, errors_first, live, moved, halvings, learned, growth, corrections_before, end, result.iterations,
          result.repeatability, result.cutoff, result.forgetting, result.limits, result.full_runs, result.before,
          result.notes);
  }
};

/// Repeats a run and learns from it. Borrows all.
class Learner {
 public:
  Learner(RepeatedRun& run, const LearnOptions& options, const LearnProgress& progress, LearningLaw& law);

  /// Before every run; may be empty.
  void keep_by(std::function<void(const LearningPosition&)> keep) { keep_ = std::move(keep); }
  /// Goes on from there. Throws Error{LearningEnded} where nothing is left to do.
  void resume(LearningPosition position, const std::string& name);

  LearnResult learn();

 private:
  void begin_horizon(Time horizon);
  void begin_progressive();
  void next_horizon();
  void end_horizon(LearnEnd end);

  void iterate();
  running::CorrectionSchedule schedule() const;
  void judge_bench(LearnIteration& iteration, const RunSummary& summary);
  void judge_start(LearnIteration& iteration);
  void compare_with_last(LearnIteration& iteration);
  void keep_if_best(const LearnIteration& iteration);

  void digest(const LearnIteration& iteration);
  void measure_repeatability(const LearnIteration& iteration);
  void remember();
  void prepare_next();
  std::uint64_t limit(std::vector<double>& corrections) const;
  void keep();
  LearnResult finished();
  void note(Fact fact);

  double tolerance() const;
  bool is_exploded(const LearnIteration& now) const;
  LearnResult& result() { return at_.result; }

  RepeatedRun& run_;
  const LearnOptions& options_;
  const LearnProgress& progress_;
  LearningLaw& law_;
  base::Grid grid_;
  bool bench_;
  Acceleration acceleration_;
  std::function<void(const LearningPosition&)> keep_;
  bool not_kept_ = false;
  bool interrupted_ = false;
  LearningPosition at_;
};

}  // namespace entrain::learning
