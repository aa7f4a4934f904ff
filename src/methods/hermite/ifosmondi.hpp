#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "methods/hermite/coupling_equations.hpp"
#include "methods/hermite/marcher.hpp"
#include "numerics/fixed_point.hpp"

namespace entrain {

template <>
struct ChoiceNames<numerics::FixedPointMethod> {
  static constexpr std::array<ChoiceName<numerics::FixedPointMethod>, 4> all{
      {{numerics::FixedPointMethod::Anderson, "anderson"},
       {numerics::FixedPointMethod::NewtonKrylov, "newton-krylov"},
       {numerics::FixedPointMethod::Plain, "fixed-point"},
       {numerics::FixedPointMethod::QuasiNewton, "iqn-ils"}}};
};

}  // namespace entrain

namespace entrain::method {

struct IfosmondiOptions {
  numerics::FixedPointMethod solver = numerics::FixedPointMethod::Anderson;
  double iteration_tolerance = 1e-6;
  int max_iterations = 50;
  Predictor predictor = Predictor::Hermite;

  void bind(OptionBinder& binder);
};

/// IFOSMONDI-JFM: values and slopes z of all coupling variables at the end of a step are found by iteration of z =
/// g(z), where g is a trial under inputs that are cubic Hermite over the step.
///
/// Y. Eguillon, B. Lacabanne, D. Tromeur-Dervout: "IFOSMONDI co-simulation algorithm with Jacobian-free methods in
/// PETSc", Engineering with Computers 2021, doi 10.1007/s00366-021-01558-6,
/// as used in "COSTARICA estimator for rollback-less systems handling in iterative co-simulation algorithms", 2022
/// (docs/theory/ifosmondi.md).
class IfosmondiStrategy final : public CouplingStrategy {
 public:
  void start(CoupledSystem& system, HermiteStep& step, const IfosmondiOptions& options,
             const trials::EstimatorOptions& predicting);
  /// After start: the steps follow the error.
  void adapt(const StepSettings& settings);

  void propose(CoupledSystem& system, HermiteStep& step) override;
  Attempt solve(CoupledSystem& system, HermiteStep& step) override;
  void cannot_shorten(const CoupledSystem& system, const HermiteStep& step) override;
  std::optional<Duration> accepted(const CoupledSystem& system, HermiteStep& step, const Taken& taken) override;
  void restarted() override;

  /// Of predictor = "missiles"; null otherwise.
  const trials::Trials* estimates() const { return estimates_ ? &*estimates_ : nullptr; }
  /// Steps that began with the polynomials of the step before, not with the estimates.
  std::uint64_t steps_continued() const { return steps_continued_; }
  std::uint64_t steps_missed() const { return steps_missed_; }

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(trusts_estimates_, steps_continued_, steps_missed_, *solver_);
    if (estimates_) visit(*estimates_, coupling_->equations());
  }

 private:
  bool guess(CoupledSystem& system, HermiteStep& step);
  void judge_guess();
  double defect(CoupledSystem& system, HermiteStep& step);
  bool evaluate(CoupledSystem& system, HermiteStep& step, std::span<const double> z, std::span<double> image);

  IfosmondiOptions options_;
  StepController controller_;
  bool adaptive_ = false;
  double defect_ = 0.0;        // adaptive: of the latest attempt, in units of the tolerance
  trials::TrialBlock middle_;  // adaptive: at half the step, where there is none before
  std::optional<numerics::FixedPointSolver> solver_;
  bool converged_ = true;                  // the latest attempt
  std::vector<double> z_, image_, scale_;  // by unknown: first all values, then all slopes

  // predictor = "missiles": all subsystems are estimated as well, whatever their trials are.
  std::optional<trials::Trials> estimates_;
  std::optional<EstimatedCoupling> coupling_;
  std::vector<double> estimated_slopes_;  // at the start of the step; not used
  std::vector<double> guess_;             // z as the iteration began
  // Between macro steps.
  bool trusts_estimates_ = true;  // as a first guess; their matrix serves anyway
  std::uint64_t steps_continued_ = 0;
  std::uint64_t steps_missed_ = 0;  // at the smallest size, and still beyond the tolerance
};

class Ifosmondi final : public Method {
 public:
  const MethodTraits& traits() const override;
  void bind(OptionBinder& binder) override;
  Requirements requirements() const override;
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

 private:
  trials::EstimatorOptions predicting() const;

  IfosmondiOptions options_;
  MarcherOptions marching_;
  Marcher marcher_;
  IfosmondiStrategy strategy_;
};

}  // namespace entrain::method
