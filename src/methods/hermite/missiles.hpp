#pragma once

#include <exception>
#include <optional>
#include <vector>

#include "methods/hermite/coupling_equations.hpp"
#include "methods/hermite/marcher.hpp"

namespace entrain::method {

/// MISSILES: every subsystem is estimated, so that the coupling of a step is one linear system; then each makes its
/// real step once.
///
/// Y. Eguillon, B. Lacabanne, D. Tromeur-Dervout: "MISSILES: an efficient resolution of the co-simulation coupling
/// constraint on nearly linear differential systems through a global linear formulation", 2022, equations (36)-(50),
/// with the residual of the linearization that they leave out (docs/theory/missiles.md).
class MissilesStrategy final : public CouplingStrategy {
 public:
  void start(CoupledSystem& system, HermiteStep& step, bool adaptive, const StepSettings& settings, int gap_order);

  void propose(CoupledSystem& system, HermiteStep& step) override;
  Attempt solve(CoupledSystem& system, HermiteStep& step) override;
  std::optional<double> judge(const HermiteStep& step) override;
  void cannot_shorten(const CoupledSystem& system, const HermiteStep& step) override;
  std::optional<Duration> accepted(const CoupledSystem& system, HermiteStep& step, const Taken& taken) override;

  /// Per connection, in the unit of the input: what the output turned out to be - what the step was made with.
  std::span<const double> gaps() const { return gap_; }
  std::uint64_t steps_missed() const { return steps_missed_; }
  std::uint64_t factorizations() const { return coupling_->equations().factorizations(); }

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(gap_, terms_, steps_missed_, coupling_->equations());
  }

 private:
  double midpoint_defect(CoupledSystem& system, HermiteStep& step);
  double largest_gap(const HermiteStep& step) const;
  std::optional<Duration> next_size(const HermiteStep& step, const Taken& taken);

  std::optional<EstimatedCoupling> coupling_;
  StepController controller_;
  bool adaptive_ = false;
  int gap_order_ = 4;
  trials::TrialBlock middle_;   // adaptive: estimates at half the step
  double defect_ = 0.0;         // adaptive: of the latest attempt, in units of the tolerance
  std::exception_ptr failure_;  // adaptive: why the latest attempt has no solution

  // Between macro steps.
  std::vector<double> gap_;         // per connection
  std::vector<double> terms_;       // adaptive: per output, the largest size so far of what it is the sum of
  std::uint64_t steps_missed_ = 0;  // at the smallest size, and still beyond the tolerance
};

/// Implicit coupling at the price of an explicit method.
class Missiles final : public Method {
 public:
  Missiles();
  const MethodTraits& traits() const override;
  void bind(OptionBinder& binder) override;
  Requirements requirements() const override { return options_.requirements(); }
  void check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const override;
  std::vector<std::string> step_tolerances() const override;
  void start(CoupledSystem& system, const RunSettings& settings) override;
  MacroStepReport advance(CoupledSystem& system) override { return marcher_.advance(system, strategy_); }
  void constants_changed(CoupledSystem& system) override { marcher_.constants_changed(system, strategy_); }
  void instant_passed(CoupledSystem& system, Time now) override { marcher_.instant_passed(system, strategy_, now); }
  MethodMemory memory() const override;
  void restore(const MethodMemory& memory) override;
  std::vector<Fact> notes(const CoupledSystem& system) const override;
  std::vector<Fact> closing_notes(const CoupledSystem& system) const override;
  std::vector<Fact> warnings(const CoupledSystem& system) const override;
  /// The gaps of the connections.
  std::vector<Signal> own_signals(const Graph& graph) const override;
  void own_values(std::span<double> values) const override;

 private:
  MarcherOptions options_;
  Marcher marcher_;
  MissilesStrategy strategy_;
};

}  // namespace entrain::method
