#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/signal_range.hpp"
#include "entrain/method.hpp"
#include "methods/asynchronous/sampled_outputs.hpp"
#include "methods/event_tracker.hpp"
#include "methods/step_controller.hpp"
#include "numerics/interface_columns.hpp"
#include "trials/step_chain.hpp"

namespace entrain::method {

struct WaveformOptions {
  int degree = 3;
  int samples = 3;
  double window = 0.0;
  double iteration_tolerance = 1e-6;
  int max_iterations = 50;
  bool adaptive = false;
  double relative_tolerance = 1e-4;
  double absolute_tolerance = 0.0;
  double min_step = 0.0;
  double max_step = 0.0;

  void bind(OptionBinder& binder);
};

/// Waveform iteration: over a window of several steps, inputs are piecewise polynomials through the outputs of the
/// others in that window, and the subsystems are tried out until outputs and inputs agree. Each subsystem has steps of
/// its own, imposed or not (docs/theory/waveform.md).
///
/// After E. Lelarasmee, A. Ruehli, A. Sangiovanni-Vincentelli, "The Waveform Relaxation Method for Time-Domain Analysis
/// of Large Scale Integrated Circuits", 1982, with the quasi-Newton acceleration of B. Rueth, B. Uekermann, M. Mehl, P.
/// Birken, A. Monge, H.-J. Bungartz, "Quasi-Newton waveform iteration for partitioned surface-coupled multiphysics
/// applications", 2021.
///
/// A macro step ends at one synchronization point: the earliest end of all steps under way.
class Waveform final : public Method {
 public:
  const MethodTraits& traits() const override;
  void bind(OptionBinder& binder) override { options_.bind(binder); }
  Requirements requirements() const override;
  void check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const override;
  std::vector<std::string> step_tolerances() const override;
  void start(CoupledSystem& system, const RunSettings& settings) override;
  MacroStepReport advance(CoupledSystem& system) override;
  void instant_passed(CoupledSystem& system, Time t) override;
  MethodMemory memory() const override;
  void restore(const MethodMemory& memory) override;
  std::vector<Fact> notes(const CoupledSystem& system) const override;
  std::vector<Fact> closing_notes(const CoupledSystem& system) const override;
  std::optional<OwnSteps> own_steps(SubsystemId s) const override;

  /// What it remembers of a subsystem.
  struct Progress {
    SampledOutputs outputs;
    std::uint64_t made = 0;         // steps, imposed ones
    std::vector<double> held, raw;  // inputs and outputs where its last step ended, as it had them
    std::vector<double> direct;     // how outputs follow inputs at once, outputs over inputs; empty = they do not
    bool observed = false;          // by its chain, where it is
    std::uint64_t early_returns = 0;
    Duration smallest = kNever, largest = 0.0;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(outputs, made, held, raw, direct, observed, early_returns, smallest, largest);
    }
  };
  template <class Visitor>
  void fields(Visitor& visit) {
    visit(step_, now_, solved_until_, free_step_, members_, ranges_, events_, layout_, unknowns_);
  }

 private:
  enum class Tried { Rollback, Chain, Continued };
  struct Member : Progress {
    // Fixed.
    std::optional<Duration> imposed;
    Duration offset = 0.0;
    StepLimits limits;
    std::vector<Time> prescribed;
    Tried tried = Tried::Rollback;
    bool iterates = false;  // others read it
    bool lowered = false;   // it takes inputs of a lower degree
    IdRange<InputId> inputs;
    IdRange<OutputId> outputs_range;
    std::vector<unsigned char> read;  // per output: connected
    trials::ChainKind kind = trials::ChainKind::None;
    bool follows_at_once = false;                                       // its chain knows how outputs follow inputs
    std::unique_ptr<trials::StepChain> chain;                           // where it lives
    std::array<double, trials::PredictionQuality::kNumbers> quality{};  // of the chain, where it was observed
    std::vector<double> polynomials;                                    // of one step
  };

  void join(CoupledSystem& system, SubsystemId s);
  // Windows.
  Time end_of_window() const;
  Time grid_time_from(const Member& member, Time t) const;
  void plan(Time end);
  void plan_member(Member& member, Time end);
  void solve(CoupledSystem& system, MacroStepReport& report);
  bool can_go_back() const;
  bool shortened();
  double interpolation_error() const;
  // One iteration.
  void iterate(CoupledSystem& system, MacroStepReport& report);
  void collect(std::vector<double>& values) const;
  void put(const std::vector<double>& values);
  void sweep(CoupledSystem& system);
  void try_steps(CoupledSystem& system);
  void estimate_steps(CoupledSystem& system, SubsystemId s);
  double residual(std::size_t& worst) const;
  void find_scales();
  [[noreturn]] void fail(const CoupledSystem& system, std::size_t worst, double missed) const;
  // Steps.
  void write_inputs(CoupledSystem& system, SubsystemId s, std::size_t sample, std::span<double> to) const;
  StepTask task_of(CoupledSystem& system, SubsystemId s, std::size_t sample);
  void bring_to_end(CoupledSystem& system, SubsystemId s, Time end, std::span<double> outputs) const;
  void commit(CoupledSystem& system);
  void take_outputs(CoupledSystem& system, SubsystemId s);
  void look_at_all(CoupledSystem& system);
  void look(CoupledSystem& system, SubsystemId s);
  template <class Gain>
  void take_direct(const CoupledSystem& system, SubsystemId s, const Gain& gain);
  void make_chains();
  void follow_chains(CoupledSystem& system);
  void expect_steps();
  void forget_past(std::span<const SubsystemId> some);
  template <class Work, class... Results>
  void at_home(SubsystemId s, Work&& work, Results... results) const;
  std::span<std::uint64_t> linearizations(SubsystemId s) const;
  Duration size_of(const Member& member, std::size_t sample) const;

  WaveformOptions options_;
  RunSettings settings_;
  coupling::Engine* engine_ = nullptr;
  std::uint64_t step_ = 0;
  Time now_ = 0.0;
  Time solved_until_ = 0.0;
  Duration free_step_ = 0.0;  // of subsystems that impose none
  Duration longest_imposed_ = 0.0;
  StepController controller_;
  std::vector<Member> members_;
  std::vector<base::SignalRange> ranges_;  // per output
  EventTracker events_;

  // Of the iteration under way.
  std::vector<double> values_, images_, scales_, scaled_residual_, scaled_image_, next_;
  std::vector<std::size_t> outputs_of_values_;
  std::vector<std::vector<double>> swept_;        // per subsystem: outputs of the planned steps
  std::vector<std::size_t> layout_, new_layout_;  // samples of each subsystem in the window
  std::vector<double> met_;                       // outputs of one, brought to the inputs that were meant
  std::optional<numerics::InterfaceColumns> columns_;
  std::size_t unknowns_ = 0;                      // of these
  std::vector<base::SignalRange> window_ranges_;  // per output
  std::vector<SubsystemId> tried_, estimated_, due_;
  std::vector<SubsystemId> some_;  // of a batch, as it is made up
  std::vector<StepTask> tasks_;
  CoupledSystem::Saved saved_;
};

}  // namespace entrain::method
