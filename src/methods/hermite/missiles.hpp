#pragma once

#include <optional>
#include <vector>

#include "methods/hermite/hermite_method.hpp"

namespace entrain {

/// MISSILES: every subsystem is estimated, so that the coupling of a step is one linear system; then each makes its
/// real step once (docs/theory/missiles.md). Implicit coupling at the price of an explicit method.
class Missiles final : public HermiteMethod {
 public:
  Missiles();
  const MethodTraits& traits() const override;
  void bind(OptionBinder& binder) override;
  std::vector<std::string> step_tolerances() const override;
  std::vector<Fact> warnings(const CoupledSystem& system) const override;
  std::vector<Fact> notes(const CoupledSystem& system) const override;
  std::vector<Fact> closing_notes(const CoupledSystem& system) const override;
  /// Per connection: what the output turned out to be - what the step was made with.
  std::vector<Signal> own_signals(const Graph& graph) const override;
  void own_values(std::span<double> values) const override;

  /// Its own, besides those of all Hermite methods.
  template <class Visitor>
  void fields(Visitor& visit) {
    visit(gap_, terms_, steps_missed_, coupling_->equations);
  }

 private:
  std::vector<TrialKind> trial_kinds(const CoupledSystem& system) const override { return estimated_kinds(system); }
  std::vector<AdaptiveOption> adaptive_options() const override;
  EstimatorOptions estimator_options() const override;
  void start_solving(CoupledSystem& system) override;
  void find_right_end(CoupledSystem& system, Window& window, MacroStepReport& report) override;
  void look_back(const CoupledSystem& system, const Window& window) override;
  Bytes own_memory() const override { return to_bytes(*this); }
  void restore_own(std::span<const std::byte> bytes) override { from_bytes(bytes, *this); }

  void solve(CoupledSystem& system, const Window& window);
  double tried_defect(CoupledSystem& system, const Window& window);
  double midpoint_defect(CoupledSystem& system, const Window& window);
  double size_of(OutputId y) const;
  double largest_gap() const;
  void adapt(const Window& window);

  static constexpr double kRelativeTolerance = 1e-6;
  double relative_tolerance_ = kRelativeTolerance;
  std::optional<EstimatedCoupling> coupling_;
  TrialBlock middle_;    // adaptive: estimates at half the step
  double defect_ = 0.0;  // of the step under way, in units of the tolerance
  bool was_cut_ = false;

  // Between macro steps.
  std::vector<double> gap_;         // per connection, in the unit of the input
  std::vector<double> terms_;       // adaptive: per output, the largest size so far of what it is the sum of
  std::uint64_t steps_missed_ = 0;  // at the smallest size, and still beyond the tolerance
};

}  // namespace entrain
