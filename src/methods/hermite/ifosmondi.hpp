#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "methods/hermite/hermite_method.hpp"
#include "numerics/fixed_point.hpp"

namespace entrain {

template <>
struct ChoiceNames<FixedPointMethod> {
  static constexpr std::array<ChoiceName<FixedPointMethod>, 3> all{{{FixedPointMethod::Anderson, "anderson"},
                                                                    {FixedPointMethod::NewtonKrylov, "newton-krylov"},
                                                                    {FixedPointMethod::Plain, "fixed-point"}}};
};

struct IfosmondiOptions {
  FixedPointMethod solver = FixedPointMethod::Anderson;
  double iteration_tolerance = 1e-6;
  int max_iterations = 50;
  Predictor predictor = Predictor::Hermite;

  void bind(OptionBinder& binder);
};

/// IFOSMONDI-JFM: values and slopes of all coupling variables at the end of a step are found by iteration, in trials,
/// under inputs that are cubic Hermite over the step (docs/theory/ifosmondi.md).
class Ifosmondi final : public HermiteMethod {
 public:
  const MethodTraits& traits() const override;
  void bind(OptionBinder& binder) override;
  Requirements requirements() const override;
  std::vector<Fact> notes(const CoupledSystem& system) const override;
  std::vector<Fact> closing_notes(const CoupledSystem& system) const override;

  /// Its own, besides those of all Hermite methods.
  template <class Visitor>
  void fields(Visitor& visit) {
    visit(trusts_estimates_, steps_continued_);
    if (estimates_) visit(*estimates_, coupling_->equations);
  }

 private:
  void start_solving(CoupledSystem& system) override;
  void find_right_end(CoupledSystem& system, Window& window, MacroStepReport& report) override;
  void begin_anew() override;
  Bytes own_memory() const override { return to_bytes(*this); }
  void restore_own(std::span<const std::byte> bytes) override { from_bytes(bytes, *this); }

  EstimatorOptions predicting() const;
  bool guess(CoupledSystem& system, const Window& window);
  void judge_guess();
  FixedPointSolver::Result solve(CoupledSystem& system, const Window& window);
  bool evaluate(CoupledSystem& system, const Window& window, std::span<const double> z, std::span<double> image);
  void adapt(const Window& window, int evaluations, bool was_cut);
  [[noreturn]] void throw_not_converged(const CoupledSystem& system, Duration size) const;

  IfosmondiOptions options_;
  std::optional<FixedPointSolver> solver_;
  std::vector<double> z_, image_, scale_;

  // predictor = "missiles": everyone is estimated as well, whatever its trials are.
  std::optional<Trials> estimates_;
  std::optional<EstimatedCoupling> coupling_;
  std::vector<double> estimated_slopes_;  // at the start of the step; not used
  std::vector<double> guess_;             // z as the iteration began
  // Between macro steps.
  bool trusts_estimates_ = true;  // as a first guess; their matrix serves anyway
  std::uint64_t steps_continued_ = 0;
};

}  // namespace entrain
