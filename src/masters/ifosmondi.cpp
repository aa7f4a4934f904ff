#include "masters/ifosmondi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace entrain {
namespace {

constexpr double kEasy = 5.0;             // evaluations that leave the step as it is
constexpr double kGrowth = 1.3;           // at most, from one step to the next
constexpr double kShrinkage = 0.5;        // at most, and after a failure
constexpr std::size_t kNamedInError = 5;  // connections

FixedPointMethod method_of(const std::string& solver) {
  if (solver == "anderson") return FixedPointMethod::Anderson;
  return solver == "newton-krylov" ? FixedPointMethod::NewtonKrylov : FixedPointMethod::Plain;
}

}  // namespace

void IfosmondiOptions::bind(OptionBinder& binder) {
  binder.choice("solver", solver,
                "anderson: accelerated fixed point; newton-krylov: for hard couplings; fixed-point: plain iteration",
                {"anderson", "newton-krylov", "fixed-point"});
  binder.number("epsilon", epsilon, "converged when |residual| <= epsilon (|output| + 1), values and slopes alike",
                {1e-14, 1.0});
  binder.integer("max_iterations", max_iterations, "evaluations per attempt; then the step is cut in two", {2, 100000});
  binder.choice(
      "predictor", predictor,
      "first guess: hold the last values, follow their slopes, continue the last Hermite polynomials, or solve "
      "the coupling of estimates (missiles), whose matrix then speeds up the iteration too",
      {"hold", "linear", "hermite", "missiles"});
}

void Ifosmondi::bind(OptionBinder& binder) {
  options_.bind(binder);
  common_.bind(binder, "the macro step follows the difficulty of the iteration");
}

Requirements Ifosmondi::requirements() const {
  Requirements needs = HermiteMethod::requirements();
  needs.trials = true;
  return needs;
}

void Ifosmondi::start_solving(CoupledSystem& system) {
  solver_.emplace(2 * unknowns_.size(), method_of(options_.solver));
  for (auto* values : {&z_, &image_, &scale_}) values->assign(2 * unknowns_.size(), 0.0);
  if (options_.predictor != "missiles") return;
  EstimatorOptions estimator = common_.estimator;
  estimator.reconstruction = 2;  // as missiles itself
  estimator.linearize = "when-needed";
  estimates_.emplace(system, estimated_kinds(system), estimator);
  estimates_->only_predict();
  coupling_.emplace(system, *estimates_, unknowns_);
  estimated_slopes_.assign(block_.slopes.size(), 0.0);
}

/// The first guess of `right_`. True when the coupling equations of the estimates hold for this step: their matrix is
/// about that of the real equations.
bool Ifosmondi::guess(CoupledSystem& system, const Window& window) {
  if (coupling_) {
    try {
      solve_estimated(system, window, *coupling_);
      return true;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::SolverFailed) throw;  // else the estimates leave a loop undetermined
    }
  }
  predict(coupling_ ? "hermite" : options_.predictor, window.size);
  return false;
}

bool Ifosmondi::evaluate(CoupledSystem& system, const Window& window, std::span<const double> z,
                         std::span<double> image) {
  const std::size_t count = unknowns_.size();
  for (std::size_t k = 0; k < count; ++k) {
    right_.values[unknowns_[k]] = z[k];
    right_.slopes[unknowns_[k]] = z[count + k];
  }
  write_inputs(system, window);
  trials_->run(tasks_, block_);
  for (std::size_t k = 0; k < count; ++k) {
    image[k] = block_.signals[unknowns_[k]];
    image[count + k] = block_.slopes[unknowns_[k]];
  }
  return std::none_of(block_.outcomes.begin(), block_.outcomes.end(),
                      [](StepOutcome outcome) { return outcome == StepOutcome::Rejected; });
}

FixedPointSolver::Result Ifosmondi::solve(CoupledSystem& system, const Window& window) {
  const bool solved = guess(system, window);
  set_tasks(window);
  const std::size_t count = unknowns_.size();
  for (std::size_t k = 0; k < count; ++k) {
    z_[k] = right_.values[unknowns_[k]];
    z_[count + k] = right_.slopes[unknowns_[k]];
    scale_[k] = magnitude(unknowns_[k]);
    scale_[count + k] = scale_[k] / window.size;
  }
  const auto correct = [&](std::span<double> difference) {
    coupling_->equations.solve(difference.first(count), difference.last(count));
  };
  const FixedPointSolver::Correction correction(correct);
  FixedPointSolver::Settings settings{options_.epsilon, options_.max_iterations, scale_};
  if (solved) {
    settings.correction = &correction;
    settings.least_evaluations = 1;
  }
  return solver_->solve(z_, image_, settings, [&](std::span<const double> z, std::span<double> image) {
    return evaluate(system, window, z, image);
  });
}

void Ifosmondi::find_right_end(CoupledSystem& system, Window& window, MacroStepReport& report) {
  if (estimates_) {
    estimates_->follow(*trials_);
    estimates_->begin(now_, window.size, estimated_slopes_);
  }
  auto result = solve(system, window);
  report.iterations += static_cast<std::uint64_t>(result.evaluations);
  const auto rejected_before = report.rejected;
  while (!result.converged) {
    if (rigid_ || kShrinkage * window.size < least_step()) throw_not_converged(system, window.size);
    ++report.rejected;
    cut(window, kShrinkage * window.size);
    result = solve(system, window);
    report.iterations += static_cast<std::uint64_t>(result.evaluations);
  }
  if (common_.adaptive) adapt(window, result.evaluations, report.rejected > rejected_before);
}

void Ifosmondi::adapt(const Window& window, int evaluations, bool was_cut) {
  if (was_shortened(window) && !was_cut) return;
  const double factor = was_cut ? 1.0 : std::clamp(std::sqrt(kEasy / evaluations), kShrinkage, kGrowth);
  set_next_step(window.size * factor);
}

void Ifosmondi::throw_not_converged(const CoupledSystem& system, Duration size) const {
  struct Miss {
    double residual;
    std::size_t output;
  };
  std::vector<Miss> misses;
  const auto miss_of = [&](std::size_t i) { return std::abs(z_[i] - image_[i]) / (std::abs(image_[i]) + 1.0); };
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    misses.push_back({std::max(miss_of(k), miss_of(unknowns_.size() + k)), k});
  }
  std::stable_sort(misses.begin(), misses.end(), [](const Miss& a, const Miss& b) { return a.residual > b.residual; });
  misses.resize(std::min(misses.size(), kNamedInError));
  std::string text;
  for (const auto& miss : misses) {
    for (const auto& connection : system.graph().connections()) {
      if (connection.output != unknowns_[miss.output]) continue;
      text += fmt::format("{}{} -> {} {:.3g}", text.empty() ? "" : ", ", system.graph().name(connection.output),
                          system.graph().name(connection.input), miss.residual);
      break;
    }
  }
  if (const auto refusal = trials_->refusal(); !refusal.empty()) text += "; the last trial failed: " + refusal;
  throw Error(
      ErrorCode::SolverFailed,
      fmt::format("ifosmondi did not converge to epsilon = {:g} in a step of {:g} s; residuals of value or slope by "
                  "connection: {}",
                  options_.epsilon, size, text),
      {.subsystem = {},
       .variable = {},
       .time = now_,
       .remedy = rigid_ ? "Choose a smaller step, another solver or a larger epsilon: a subsystem imposes its "
                          "step, so this one cannot be cut"
                        : "Choose another solver, more max_iterations, a larger epsilon or a smaller min_step"});
}

void Ifosmondi::begin_anew() {
  if (estimates_) estimates_->forget_past();
}

void Ifosmondi::save(std::vector<double>& numbers) const {
  if (!estimates_) return;
  estimates_->save(numbers);
  coupling_->equations.save(numbers);
}

const double* Ifosmondi::take_back(const double* numbers) {
  return estimates_ ? coupling_->equations.restore(estimates_->restore(numbers)) : numbers;
}

std::vector<std::string> Ifosmondi::notes(const CoupledSystem&) const {
  auto notes = trials_->notes();
  if (common_.adaptive) notes.emplace_back("adaptive: the step follows the iteration, not an error estimate");
  return notes;
}

}  // namespace entrain
