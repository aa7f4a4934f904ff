#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/grid.hpp"
#include "coupling/trials.hpp"
#include "masters/jump_detector.hpp"
#include "masters/method.hpp"
#include "numerics/fixed_point.hpp"

namespace entrain {

struct IfosmondiOptions {
  std::string solver = "anderson";
  double epsilon = 1e-6;
  int max_iterations = 50;
  bool adaptive = false;
  double min_step = 0.0;
  double max_step = 0.0;
  std::string predictor = "hermite";
  std::string restart = "real";
  EstimatorOptions estimator;

  void bind(OptionBinder& binder);
};

/// IFOSMONDI-JFM: values and slopes of all coupling variables at the end of a step are found by iteration, in trials,
/// under inputs that are cubic Hermite over the step (docs/theory/ifosmondi.md).
class Ifosmondi final : public Method {
 public:
  std::string_view name() const noexcept override { return "ifosmondi"; }
  void bind(OptionBinder& binder) override { options_.bind(binder); }
  Requirements requirements() const override;
  void check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const override;
  void start(CoupledSystem& system, const RunSettings& settings) override;
  MacroStepReport advance(CoupledSystem& system) override;
  MethodMemory memory() const override;
  void restore(const MethodMemory& memory) override;
  std::vector<std::string> notes(const CoupledSystem& system) const override;
  std::vector<std::string> warnings(const CoupledSystem& system) const override;

 private:
  struct Window {
    Time to = 0.0;
    Duration size = 0.0;
  };

  void start_tasks(const CoupledSystem& system);
  Window next_window() const;
  std::optional<Time> event_to_cross() const;
  void cross(CoupledSystem& system, Time event);
  void set_tasks(const Window& window);
  void predict(Duration size);
  FixedPointSolver::Result solve(CoupledSystem& system, const Window& window);
  bool evaluate(CoupledSystem& system, const Window& window, std::span<const double> z, std::span<double> image);
  void accept(CoupledSystem& system, const Window& window);
  Duration least_step() const;
  void adapt(Duration size, int evaluations, bool was_cut);
  void restart_inputs(CoupledSystem& system);
  void note_events(CoupledSystem& system);
  [[noreturn]] void throw_not_converged(const CoupledSystem& system, Duration size) const;

  IfosmondiOptions options_;
  RunSettings settings_;
  Grid grid_;
  std::optional<Trials> trials_;
  std::optional<FixedPointSolver> solver_;
  std::vector<OutputId> unknowns_;  // connected outputs
  bool rigid_ = false;              // somebody imposes a step: it cannot be cut
  std::vector<StepTask> tasks_;
  std::vector<Duration> longest_part_;  // per subsystem: imposed or maximal step; infinite if none
  TrialBlock block_;                    // of the last trial or commit
  std::vector<double> z_, image_, scale_;
  std::vector<double> right_values_, right_slopes_;  // signals: at the end of the step under way
  std::vector<double> predicted_;                    // signals: by a line from the left end, for the jump detector

  // Between macro steps.
  std::uint64_t steps_ = 0;
  std::uint64_t grid_step_ = 0;  // communication times of the grid that were reached
  Time now_ = 0.0;
  Duration step_ = 0.0;  // adaptive: the next one
  bool slopes_known_ = false;
  std::vector<double> left_values_, left_slopes_;          // signals
  Duration previous_size_ = 0.0;                           // 0: no step before to extrapolate from
  std::vector<double> previous_values_, previous_slopes_;  // at the start of the step before
  std::vector<double> magnitude_;                          // per signal: largest so far
  std::vector<Time> next_event_;                           // per subsystem
  JumpDetector jumps_;
  std::uint64_t jumps_found_ = 0;
  Time first_jump_ = 0.0;
};

}  // namespace entrain
