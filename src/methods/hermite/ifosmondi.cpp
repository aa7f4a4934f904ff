#include "methods/hermite/ifosmondi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/bytes.hpp"
#include "coupling/engine.hpp"
#include "coupling/not_finite.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::method {
namespace {

constexpr double kAfterFailure = 0.5;  // of a step whose iteration failed
// Of the tolerance: the last evaluation leaves far less than the residual that it found.
constexpr double kIterationShare = 3.0;
constexpr std::size_t kNamedInError = 5;  // connections

bool is_refusal(StepOutcome outcome) {
  return outcome == StepOutcome::Rejected;
}

}  // namespace

void IfosmondiStrategy::start(CoupledSystem& system, HermiteStep& step, const IfosmondiOptions& options,
                              const trials::EstimatorOptions& predicting) {
  options_ = options;
  adaptive_ = false;
  steps_missed_ = 0;
  middle_ = step.trials().make_block();
  const std::size_t count = step.unknowns().size();
  solver_.emplace(2 * count, options_.solver);
  for (auto* values : {&z_, &image_, &scale_}) values->assign(2 * count, 0.0);
  coupling_.reset();
  estimates_.reset();
  if (options_.predictor != Predictor::Missiles) return;
  trusts_estimates_ = true;
  steps_continued_ = 0;
  estimates_.emplace(system, estimated_kinds(system), predicting);
  estimates_->only_predict();
  coupling_.emplace(system, *estimates_, step.unknowns());
  estimated_slopes_.assign(step.block().slopes.size(), 0.0);
}

void IfosmondiStrategy::propose(CoupledSystem&, HermiteStep& step) {
  if (!estimates_) return;
  estimates_->follow(step.trials());
  estimates_->begin(step.now(), step.window().size, estimated_slopes_);
}

void IfosmondiStrategy::adapt(const StepSettings& settings) {
  adaptive_ = true;
  controller_ = {settings, {}};
}

/// The first guess of the values and slopes at the end. True when the coupling equations of the estimates hold for this
/// step: their matrix is about that of the real equations.
bool IfosmondiStrategy::guess(CoupledSystem& system, HermiteStep& step) {
  if (coupling_) {
    try {
      coupling_->solve(system, step);
      if (!trusts_estimates_) step.predict(Predictor::Hermite);
      return true;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::SolverFailed) throw;  // else the estimates leave a loop undetermined
    }
  }
  step.predict(coupling_ ? Predictor::Hermite : options_.predictor);
  return false;
}

/// z = g(z), iterated from the guess until |z_i - g_i| <= iteration_tolerance (|g_i| + 1); with estimates, what is
/// iterated is z + P^-1 (g(z) - z), where P is the matrix of their coupling equations.
CouplingStrategy::Attempt IfosmondiStrategy::solve(CoupledSystem& system, HermiteStep& step) {
  const bool estimated = guess(system, step);
  if (!step.slopes_known()) solver_->forget();
  step.set_tasks();
  const auto unknowns = step.unknowns();
  const std::size_t count = unknowns.size();
  for (std::size_t k = 0; k < count; ++k) {
    z_[k] = step.right().values[unknowns[k]];
    z_[count + k] = step.right().slopes[unknowns[k]];
    scale_[k] = step.magnitude(unknowns[k]);
    scale_[count + k] = scale_[k] / step.window().size;
  }
  const auto correct = [&](std::span<double> difference) {
    coupling_->equations().solve(difference.first(count), difference.last(count));
  };
  const numerics::FixedPointSolver::Correction correction(correct);
  numerics::FixedPointSolver::Settings settings{options_.iteration_tolerance, options_.max_iterations, scale_};
  if (estimated) {
    settings.correction = &correction;
    if (trusts_estimates_) settings.least_evaluations = 1;
    guess_ = z_;
  }
  const auto result = solver_->solve(z_, image_, settings, [&](std::span<const double> z, std::span<double> image) {
    return evaluate(system, step, z, image);
  });
  if (estimated && result.converged) judge_guess();
  const auto evaluations = static_cast<std::uint64_t>(result.evaluations);
  converged_ = result.converged;
  if (!converged_) return {false, kAfterFailure, evaluations};
  if (!adaptive_) return {true, 1.0, evaluations};
  defect_ = defect(system, step);
  if (defect_ <= kWorthRepeating) return {true, 1.0, evaluations};
  return {false, shrinkage(safe_growth(defect_, controller_.settings().order, controller_.settings())), evaluations};
}

/// Of the inputs in the middle of the step, in units of the tolerance.
double IfosmondiStrategy::defect(CoupledSystem& system, HermiteStep& step) {
  const bool continues = step.unknowns().empty() || step.continued_defect(step.unknowns()[0]).has_value();
  if (!continues) step.run_half(middle_);
  double largest = 0.0;
  for (const OutputId y : step.unknowns()) {
    const double missed = continues ? *step.continued_defect(y) : step.middle_defect(system, middle_, y);
    largest = std::max(largest, missed / controller_.allowed(step.size(y)));
  }
  const bool refused = !continues && std::any_of(middle_.outcomes.begin(), middle_.outcomes.end(), is_refusal);
  return refused ? std::numeric_limits<double>::infinity() : largest;
}

/// g(z): all subsystems tried under the inputs that end with z. False when a subsystem refuses.
bool IfosmondiStrategy::evaluate(CoupledSystem& system, HermiteStep& step, std::span<const double> z,
                                 std::span<double> image) {
  const auto unknowns = step.unknowns();
  const std::size_t count = unknowns.size();
  for (std::size_t k = 0; k < count; ++k) {
    step.right().values[unknowns[k]] = z[k];
    step.right().slopes[unknowns[k]] = z[count + k];
  }
  step.write_inputs(system);
  step.run(step.trials());
  const trials::TrialBlock& block = step.block();
  for (std::size_t k = 0; k < count; ++k) {
    image[k] = block.signals[unknowns[k]];
    image[count + k] = block.slopes[unknowns[k]];
  }
  return std::none_of(block.outcomes.begin(), block.outcomes.end(), is_refusal);
  return std::none_of(block.outcomes.begin(), block.outcomes.end(),
                      [](StepOutcome outcome) { return outcome == StepOutcome::Rejected; });
}

/// Estimates of subsystems that provide little can be worse than what continues the step before: the next step begins
/// with what was nearer to the solution of this one.
void IfosmondiStrategy::judge_guess() {
  const std::size_t count = z_.size() / 2;
  const double sign = trusts_estimates_ ? -1.0 : 1.0;
  double taken = 0.0;
  double other = 0.0;
  for (std::size_t i = 0; i < 2 * count; ++i) {
    const double by_estimates = i < count ? coupling_->added_values()[i] : coupling_->added_slopes()[i - count];
    const double miss = z_[i] - guess_[i];
    taken = std::max(taken, std::abs(miss) / scale_[i]);
    other = std::max(other, std::abs(miss - sign * by_estimates) / scale_[i]);
  }
  if (!trusts_estimates_) ++steps_continued_;
  if (other < taken) trusts_estimates_ = !trusts_estimates_;
}

std::optional<Duration> IfosmondiStrategy::accepted(const CoupledSystem&, HermiteStep& step, const Taken& taken) {
  if (!step.slopes_known()) solver_->forget();  // the polynomials of the next step are others
  if (!adaptive_) return std::nullopt;
  if (defect_ > kWorthRepeating) ++steps_missed_;
  return next_by_error(controller_, safe_growth(defect_, controller_.settings().order, controller_.settings()), step,
                       taken);
}

void IfosmondiStrategy::restarted() {
  solver_->forget();         // the first step behind it has other polynomials
  trusts_estimates_ = true;  // there is no step before
  if (estimates_) estimates_->forget_past();
}

void IfosmondiStrategy::cannot_shorten(const CoupledSystem& system, const HermiteStep& step) {
  if (converged_) return;
  step.trials().rethrow_failure();
  struct Miss {
    double residual;
    std::size_t output;
  };
  const auto unknowns = step.unknowns();
  for (std::size_t i = 0; i < z_.size(); ++i) {
    for (const double value : {image_[i], z_[i]}) {
      if (!std::isfinite(value))
        throw coupling::not_finite(system.graph(), unknowns[i % unknowns.size()], value, step.now());
    }
  }
  std::vector<Miss> misses;
  const auto miss_of = [&](std::size_t i) { return std::abs(z_[i] - image_[i]) / (std::abs(image_[i]) + 1.0); };
  for (std::size_t k = 0; k < unknowns.size(); ++k) {
    misses.push_back({std::max(miss_of(k), miss_of(unknowns.size() + k)), k});
  }
  std::stable_sort(misses.begin(), misses.end(), [](const Miss& a, const Miss& b) { return a.residual > b.residual; });
  misses.resize(std::min(misses.size(), kNamedInError));
  std::string text;
  std::vector<std::string> connections;
  for (const auto& miss : misses) {
    for (const auto& connection : system.graph().connections()) {
      if (connection.output != unknowns[miss.output]) continue;
      connections.push_back(
          fmt::format("{} -> {}", system.graph().name(connection.output), system.graph().name(connection.input)));
      text += fmt::format("{}{} {:.3g}", text.empty() ? "" : ", ", connections.back(), miss.residual);
      break;
    }
  }
  Fact fact{FactCode::IterationNotConverged,
            std::move(connections),
            {{"method", "ifosmondi"},
             {"tolerance", options_.iteration_tolerance},
             {"step", step.window().size, "s"},
             {"residuals", text}}};
  if (auto refusal = step.trials().refusal(); !refusal.empty()) fact.values.emplace_back("refusal", std::move(refusal));
  throw Error(
      ErrorCode::SolverFailed, std::move(fact),
      {.subsystem = {},
       .variable = {},
       .time = step.now(),
       .remedy =
           step.imposed()
               ? "Choose a smaller step, another solver or a larger iteration_tolerance: a subsystem imposes its "
                 "step, so this one cannot be cut"
               : "Choose another solver, more max_iterations, a larger iteration_tolerance or a smaller min_step"});
}

void IfosmondiOptions::bind(OptionBinder& binder) {
  binder.choice(
      "solver", solver,
      "anderson: accelerated fixed point; newton-krylov: for hard couplings; iqn-ils: quasi-Newton that reuses what "
      "earlier steps have shown; fixed-point: plain iteration");
  binder.number("iteration_tolerance", iteration_tolerance,
                "converged when |residual| <= iteration_tolerance (|output| + 1), values and slopes alike; not an "
                "error of the step; adaptive: three times relative_tolerance unless written",
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
                                    .knobs = {.tolerances = {"relative_tolerance"}},
                                    .linear_step = {.hermite = StepEnd::Trial}};
  return kTraits;
}

void Ifosmondi::bind(OptionBinder& binder) {
  const bool was_adaptive = marching_.adaptive;
  marching_.bind(binder, "the macro step follows the estimated error");
  if (marching_.adaptive && !was_adaptive) {
    options_.iteration_tolerance = std::min(1.0, kIterationShare * marching_.relative_tolerance);
  }
  options_.bind(binder);
}

Requirements Ifosmondi::requirements() const {
  Requirements needs = marching_.requirements();
  needs.trials = true;
  return needs;
}

void Ifosmondi::check(const Graph&, const WrittenOptions& written, std::vector<Problem>& problems) const {
  marching_.check(name(), {}, written, problems);
}

void Ifosmondi::start(CoupledSystem& system, const RunSettings& settings) {
  marcher_.start(system, settings, marching_, system.engine().trial_kinds(), marching_.estimator);
  strategy_.start(system, marcher_.step(), options_, predicting());
  if (marcher_.adapts()) strategy_.adapt(marching_.step_settings());
}

std::vector<std::string> Ifosmondi::step_tolerances() const {
  if (!marching_.adaptive) return {};
  return traits().knobs.tolerances;
}

/// As missiles itself, unless the user chose otherwise.
trials::EstimatorOptions Ifosmondi::predicting() const {
  const trials::EstimatorOptions unchanged;
  trials::EstimatorOptions options = marching_.estimator;
  options.identifies = false;
  if (options.reconstruction == unchanged.reconstruction) options.reconstruction = 2;
  if (options.linearize == unchanged.linearize) options.linearize = trials::LinearizationRenewal::WhenNeeded;
  return options;
}

MethodMemory Ifosmondi::memory() const {
  return {marcher_.steps(), {}, base::to_bytes(marcher_, strategy_)};
}

void Ifosmondi::restore(const MethodMemory& memory) {
  base::from_bytes(memory.bytes, marcher_, strategy_);
  marcher_.restored();
}

std::vector<Fact> Ifosmondi::notes(const CoupledSystem&) const {
  auto notes = marcher_.step().trials().notes();
  if (strategy_.estimates() == nullptr) return notes;
  const auto options = predicting();
  notes.push_back({FactCode::PredictorEstimates,
                   {},
                   {{"reconstruction", options.reconstruction}, {"linearize", to_word(options.linearize)}}});
  for (auto& loss : strategy_.estimates()->losses()) {
    loss.values.emplace_back("role", "predictor");
    notes.push_back(std::move(loss));
  }
  return notes;
}

std::vector<Fact> Ifosmondi::warnings(const CoupledSystem&) const {
  auto warnings = marcher_.warnings();
  if (strategy_.steps_missed() > 0) {
    warnings.push_back({FactCode::ToleranceMissed, {}, {{"count", strategy_.steps_missed()}}});
  }
  return warnings;
}

std::vector<Fact> Ifosmondi::closing_notes(const CoupledSystem&) const {
  auto notes = marcher_.step().closing_notes();
  if (strategy_.estimates() != nullptr) {
    for (auto& note : strategy_.estimates()->closing_notes()) {
      note.values.emplace_back("role", "predictor");
      notes.push_back(std::move(note));
    }
  }
  if (strategy_.steps_continued() > 0) {
    notes.push_back({FactCode::PredictorContinued, {}, {{"steps", strategy_.steps_continued()}}});
  }
  return notes;
}

}  // namespace entrain::method
