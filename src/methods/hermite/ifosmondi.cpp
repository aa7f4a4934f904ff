#include "methods/hermite/ifosmondi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "entrain/fact_codes.hpp"

namespace entrain {
namespace {

constexpr double kEasy = 5.0;             // evaluations that leave the step as it is
constexpr double kGrowth = 1.3;           // at most, from one step to the next
constexpr double kShrinkage = 0.5;        // at most, and after a failure
constexpr std::size_t kNamedInError = 5;  // connections

}  // namespace

void IfosmondiOptions::bind(OptionBinder& binder) {
  binder.choice("solver", solver,
                "anderson: accelerated fixed point; newton-krylov: for hard couplings; fixed-point: plain iteration");
  binder.number("iteration_tolerance", iteration_tolerance,
                "converged when |residual| <= iteration_tolerance (|output| + 1), values and slopes alike; not an "
                "error of the step",
                {1e-14, 1.0});
  binder.integer("max_iterations", max_iterations, "evaluations per attempt; then the step is cut in two", {2, 100000});
  binder.choice(
      "predictor", predictor,
      "first guess: hold the last values, follow their slopes, continue the last Hermite polynomials, or solve "
      "the coupling of estimates (missiles), whose matrix then speeds up the iteration too");
}

const MethodTraits& Ifosmondi::traits() const {
  static const MethodTraits kTraits{.name = "ifosmondi",
                                    .summary = "iterative; values and slopes found in trials, inputs C1",
                                    .family = MethodFamily::Implicit,
                                    .order = 4,
                                    .calls_per_step = 4.0,
                                    .iterates = true,
                                    .linear_step = {.hermite = StepEnd::Trial}};
  return kTraits;
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
  solver_.emplace(2 * unknowns_.size(), options_.solver);
  for (auto* values : {&z_, &image_, &scale_}) values->assign(2 * unknowns_.size(), 0.0);
  if (options_.predictor != Predictor::Missiles) return;
  trusts_estimates_ = true;
  steps_continued_ = 0;
  estimates_.emplace(system, estimated_kinds(system), predicting());
  estimates_->only_predict();
  coupling_.emplace(system, *estimates_, unknowns_);
  estimated_slopes_.assign(block_.slopes.size(), 0.0);
}

/// As missiles itself, unless the user chose otherwise.
EstimatorOptions Ifosmondi::predicting() const {
  const EstimatorOptions unchanged;
  EstimatorOptions options = common_.estimator;
  if (options.reconstruction == unchanged.reconstruction) options.reconstruction = 2;
  if (options.linearize == unchanged.linearize) options.linearize = LinearizationRenewal::WhenNeeded;
  return options;
}

/// The first guess of `right_`. True when the coupling equations of the estimates hold for this step: their matrix is
/// about that of the real equations.
bool Ifosmondi::guess(CoupledSystem& system, const Window& window) {
  if (coupling_) {
    try {
      solve_estimated(system, window, *coupling_);
      if (!trusts_estimates_) predict(Predictor::Hermite, window.size);
      return true;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::SolverFailed) throw;  // else the estimates leave a loop undetermined
    }
  }
  predict(coupling_ ? Predictor::Hermite : options_.predictor, window.size);
  return false;
}

/// Estimates of subsystems that tell little can be worse than what continues the step before: the next step begins with
/// what was nearer to the solution of this one.
void Ifosmondi::judge_guess() {
  const std::size_t count = unknowns_.size();
  const double other_way = trusts_estimates_ ? -1.0 : 1.0;
  double taken = 0.0;
  double other = 0.0;
  for (std::size_t i = 0; i < 2 * count; ++i) {
    const double by_estimates = i < count ? coupling_->values[i] : coupling_->slopes[i - count];
    const double miss = z_[i] - guess_[i];
    taken = std::max(taken, std::abs(miss) / scale_[i]);
    other = std::max(other, std::abs(miss - other_way * by_estimates) / scale_[i]);
  }
  if (!trusts_estimates_) ++steps_continued_;
  if (other < taken) trusts_estimates_ = !trusts_estimates_;
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
  FixedPointSolver::Settings settings{options_.iteration_tolerance, options_.max_iterations, scale_};
  if (solved) {
    settings.correction = &correction;
    if (trusts_estimates_) settings.least_evaluations = 1;
    guess_ = z_;
  }
  const auto result = solver_->solve(z_, image_, settings, [&](std::span<const double> z, std::span<double> image) {
    return evaluate(system, window, z, image);
  });
  if (solved && result.converged) judge_guess();
  return result;
}

void Ifosmondi::find_right_end(CoupledSystem& system, Window& window, MacroStepReport& report) {
  if (estimates_) {
    estimates_->follow(*trials_);
    estimates_->begin(memory_.now, window.size, estimated_slopes_);
  }
  auto result = solve(system, window);
  report.iterations += static_cast<std::uint64_t>(result.evaluations);
  const auto rejected_before = report.rejected;
  while (!result.converged) {
    if (rigid_ || !shorten(window, kShrinkage * window.size)) throw_not_converged(system, window.size);
    ++report.rejected;
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
      fmt::format("ifosmondi did not converge to iteration_tolerance = {:g} in a step of {:g} s; residuals of value or "
                  "slope by "
                  "connection: {}",
                  options_.iteration_tolerance, size, text),
      {.subsystem = {},
       .variable = {},
       .time = memory_.now,
       .remedy =
           rigid_ ? "Choose a smaller step, another solver or a larger iteration_tolerance: a subsystem imposes its "
                    "step, so this one cannot be cut"
                  : "Choose another solver, more max_iterations, a larger iteration_tolerance or a smaller min_step"});
}

void Ifosmondi::begin_anew() {
  trusts_estimates_ = true;  // there is no step before
  if (estimates_) estimates_->forget_past();
}

std::vector<Fact> Ifosmondi::notes(const CoupledSystem&) const {
  auto notes = trials_->notes();
  if (common_.adaptive) notes.push_back({FactCode::StepFollowsIteration});
  if (!estimates_) return notes;
  const auto options = predicting();
  notes.push_back({FactCode::PredictorEstimates,
                   {},
                   {{"reconstruction", options.reconstruction}, {"linearize", to_word(options.linearize)}}});
  for (auto& loss : estimates_->losses()) {
    loss.values.emplace_back("role", "predictor");
    notes.push_back(std::move(loss));
  }
  return notes;
}

std::vector<Fact> Ifosmondi::closing_notes(const CoupledSystem&) const {
  if (steps_continued_ == 0) return {};
  return {{FactCode::PredictorContinued, {}, {{"steps", steps_continued_}}}};
}

}  // namespace entrain
