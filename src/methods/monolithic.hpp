#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/grid.hpp"
#include "coupling/evaluation.hpp"
#include "coupling/transfer.hpp"
#include "entrain/method.hpp"
#include "numerics/ode.hpp"

namespace entrain {

template <>
struct ChoiceNames<numerics::OdeMethod> {
  static constexpr std::array<ChoiceName<numerics::OdeMethod>, 2> all{
      {{numerics::OdeMethod::ExplicitRungeKutta, "erk"}, {numerics::OdeMethod::Bdf, "bdf"}}};
};

}  // namespace entrain

namespace entrain::method {

struct MonolithicOptions {
  numerics::OdeMethod integrator = numerics::OdeMethod::ExplicitRungeKutta;
  double relative_tolerance = 1e-12;
  double absolute_tolerance = 1e-12;

  void bind(OptionBinder& binder);
};

/// All equations of the system in one integrator, loops solved at every evaluation: no coupling error at all, so it is
/// the reference of every system whose subsystems open their equations (docs/theory/monolithic.md).
class Monolithic final : public Method {
 public:
  const MethodTraits& traits() const override;
  void bind(OptionBinder& binder) override { options_.bind(binder); }
  Requirements requirements() const override;
  void start(CoupledSystem& system, const RunSettings& settings) override;
  MacroStepReport advance(CoupledSystem& system) override;
  void constants_changed(CoupledSystem& system) override;
  void instant_passed(CoupledSystem& system, Time now) override;
  MethodMemory memory() const override;
  void restore(const MethodMemory& memory) override;
  std::vector<Fact> notes(const CoupledSystem& system) const override;

  /// The inputs are the first guesses of the loops, so they decide the last bits of what follows.
  template <class Visitor>
  void fields(Visitor& visit) {
    visit(step_, now_, x_, inputs_, input_slopes_, signals_);
  }

 private:
  Equations::Point point(const CoupledSystem& system, SubsystemId s, Time t, std::span<const double> x) const;
  /// All signals at (t, x); with subsystems that differentiate inputs, also the slopes of the inputs.
  void evaluate_signals(CoupledSystem& system, Time t, std::span<const double> x);
  bool update_input_slopes(CoupledSystem& system, Time t, std::span<const double> x);
  /// Returns the time reached: `to`, unless a subsystem asked to end the run.
  Time integrate(CoupledSystem& system, Time from, Time to);
  /// To `to` or to the first event, which is handled there.
  Time integrate_to_event(CoupledSystem& system, Time from, Time to);
  /// Reports the step to subsystems that require it. True when one of them requests an event here, or the end of the
  /// run.
  bool complete_step(CoupledSystem& system, Time t, std::span<const double> x);
  bool stop_requested(CoupledSystem& system);
  void indicate(CoupledSystem& system, Time t, std::span<const double> x, std::span<double> z);
  /// All subsystems handle what happens at t, until nothing more does.
  void settle_events(CoupledSystem& system, Time t);

  MonolithicOptions options_;
  base::Grid grid_;
  std::uint64_t step_ = 0;
  Time now_ = 0.0;
  std::vector<Equations*> equations_;
  bool differentiates_inputs_ = false;
  bool reports_steps_ = false;  ///< a subsystem requires a report of every internal step
  std::size_t indicators_ = 0;  ///< of all subsystems
  std::optional<coupling::SignalEvaluation> evaluation_;
  std::optional<numerics::OdeSolver> solver_;  // none without states
  std::vector<double> x_, inputs_, input_slopes_, signals_, output_rates_;
};

}  // namespace entrain::method
