#include "methods/asynchronous/estimated_inputs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/grid.hpp"
#include "coupling/engine.hpp"
#include "coupling/transfer.hpp"

namespace entrain::method {
namespace {

// A step of so many of the source's own: its estimate, made for its own steps, is of little use at the end of it.
constexpr double kFar = 3.0;

/// An input that nothing feeds keeps its value.
const OutputEstimate* source_of(const CoupledSystem& system, EstimatedInputs::Estimates estimates, InputId input) {
  const std::size_t source = system.engine().transfer().source(input);
  return source < estimates.size() ? &estimates[source] : nullptr;
}

/// Of an input that no output feeds, over a step that begins at `from`.
EstimatedInputs::Polynomial constant(const CoupledSystem& system, InputId input, Time from) {
  EstimatedInputs::Polynomial polynomial;
  polynomial.coefficients[0] = system.inputs()[input];
  if (system.engine().scenario() == nullptr) return polynomial;
  polynomial.coefficients[0] = system.signals()[system.engine().transfer().source(input)];
  polynomial.arrive(system.engine().transfer(), input, from);
  return polynomial;
}

}  // namespace

void EstimatedInputs::start(const CoupledSystem& system, const StepScheduler& scheduler, const Settings& settings) {
  settings_ = settings;
  const std::size_t inputs = system.graph().inputs();
  inputs_.assign(inputs, {});
  polynomials_.reserve(inputs);
  waiting_.assign(system.graph().outputs(), {});
  for (const auto& connection : system.graph().connections()) {
    if (scheduler.only_reads(system.graph().owner(connection.input))) {
      waiting_[connection.output].push_back(connection.input);
    }
  }
}

numerics::EndPoint EstimatedInputs::Polynomial::at(Duration s) const {
  numerics::EndPoint point;
  for (std::size_t p = static_cast<std::size_t>(degree) + 1; p-- > 0;) {
    point.slope = point.slope * s + point.value;
    point.value = point.value * s + coefficients[p];
  }
  return point;
}

void EstimatedInputs::Polynomial::arrive(const coupling::TransferPlan& plan, InputId input, Time from) {
  coefficients[0] = plan.transferred(input, coefficients[0]) + plan.moved(input, from);
  for (std::size_t p = 1; p < coefficients.size(); ++p) coefficients[p] *= plan.factor(input);
  if (const double slope = plan.slope(input); slope != 0.0) {
    coefficients[1] += slope;
    degree = std::max(degree, 1);
  }
}

EstimatedInputs::Polynomial EstimatedInputs::carried_on(const OutputEstimate& estimate, Time from) {
  Polynomial polynomial;
  polynomial.degree = estimate.order();
  std::copy(estimate.polynomial().begin(), estimate.polynomial().end(), polynomial.coefficients.begin());
  numerics::shift_origin({polynomial.coefficients.data(), 1, polynomial.degree}, from - estimate.time());
  return polynomial;
}

int EstimatedInputs::extrapolate(CoupledSystem& system, Estimates estimates, const Step& step) {
  const bool smooth = settings_.smooth && system.capabilities(step.subsystem).input_degree >= 3;
  polynomials_.clear();
  for (const InputId input : system.graph().inputs_of(step.subsystem)) {
    const OutputEstimate* estimate = source_of(system, estimates, input);
    auto& polynomial = polynomials_.emplace_back();
    if (estimate == nullptr) {
      polynomial = constant(system, input, step.from);
      continue;
    }
    polynomial = carried_on(*estimate, step.from);
    if (step.size > kFar * estimate->latest_step()) {
      polynomial = inputs_[input].distant.carried_on(*estimate, polynomial, step.from, settings_.calibration);
    }
    polynomial.arrive(system.engine().transfer(), input, step.from);
    // The run begins, or the source has jumped since.
    const bool begins_anew = std::exchange(inputs_[input].joined_cuts, estimate->cuts()) != estimate->cuts();
    if (!smooth || begins_anew) continue;
    const numerics::EndPoint left{system.inputs()[input], inputs_[input].end_slope};
    polynomial = {numerics::CubicHermite{left, polynomial.at(step.size), step.size}.coefficients_by_mean_slope(), 3};
  }
  return write(system, step);
}

/// By whichever estimate foresaw the present value better: the source's own, made of samples that lie close together,
/// or that of the samples the reader has met.
EstimatedInputs::Polynomial EstimatedInputs::Distant::carried_on(const OutputEstimate& source,
                                                                 const Polynomial& of_source, Time now,
                                                                 const OutputEstimate::Settings& calibration) {
  const double value = of_source.coefficients[0];
  bool source_is_better = false;
  if (cuts != source.cuts()) {
    estimate.begin(now, value);
  } else {
    const double error_of_source = std::abs(value - from_source.at(now - from).value);
    source_is_better = error_of_source < estimate.take(now, value, calibration).error;
  }
  cuts = source.cuts();
  from = now;
  from_source = of_source;
  return source_is_better ? of_source : EstimatedInputs::carried_on(estimate, now);
}

void EstimatedInputs::remember_start(const CoupledSystem& system, Estimates estimates, const Step& step) {
  for (const InputId input : system.graph().inputs_of(step.subsystem)) {
    const OutputEstimate* estimate = source_of(system, estimates, input);
    if (estimate != nullptr) inputs_[input].course.begin(*estimate, step);
  }
}

void EstimatedInputs::Course::begin(const OutputEstimate& estimate, const Step& step) {
  from = step.from;
  carried_on = EstimatedInputs::carried_on(estimate, step.from);
  cuts = seen = estimate.cuts();
  latest = estimate.time();
  value = estimate.value();
  samples = 0;
  jumped = false;
  fit.begin(step.size);
}

/// Up to the latest sample. What was there before a jump is held up to it.
void EstimatedInputs::Course::go_on(const OutputEstimate& estimate) {
  if (estimate.time() <= latest) return;
  jumped = jumped || (samples > 0 && seen != cuts);
  const bool jumps_now = estimate.cuts() != seen;
  const double slope = jumps_now ? 0.0 : (estimate.value() - value) / (estimate.time() - latest);
  fit.add(latest - from, estimate.time() - from, std::array{value, slope}, latest - from);
  latest = estimate.time();
  value = estimate.value();
  seen = estimate.cuts();
  ++samples;
}

void EstimatedInputs::follow(const CoupledSystem& system, Estimates estimates, SubsystemId source) {
  for (const OutputId y : system.graph().outputs_of(source)) {
    for (const InputId input : waiting_[y]) inputs_[input].course.go_on(estimates[y]);
  }
}

int EstimatedInputs::interpolate(CoupledSystem& system, Estimates estimates, const Step& step) {
  polynomials_.clear();
  for (const InputId input : system.graph().inputs_of(step.subsystem)) {
    const OutputEstimate* estimate = source_of(system, estimates, input);
    auto& polynomial = polynomials_.emplace_back();
    if (estimate == nullptr) {
      polynomial = constant(system, input, step.from);
      continue;
    }
    const bool remembered =
        base::reached(step.from, estimate->times().back()) && estimate->cuts() == inputs_[input].course.cuts;
    const bool known_to_the_end = base::reached(estimate->time(), step.from + step.size);
    polynomial = !remembered        ? over_all_samples(*estimate, inputs_[input].course, step)
                 : known_to_the_end ? between_samples(*estimate, step)
                                    : carried_on(*estimate, step.from);
    polynomial.arrive(system.engine().transfer(), input, step.from);
  }
  return write(system, step);
}

/// Through samples that span the step: its two ends and, where there are more, others between or before.
EstimatedInputs::Polynomial EstimatedInputs::between_samples(const OutputEstimate& estimate, const Step& step) const {
  const auto times = estimate.times();
  const auto values = estimate.values();
  std::array<Time, kMaxInputDegree + 1> nodes{};
  std::array<double, kMaxInputDegree + 1> samples{};
  std::size_t back = 0;  // to the sample at the start of the step
  while (!base::reached(step.from, times[back])) ++back;
  const std::size_t most = std::min(static_cast<std::size_t>(settings_.calibration.max_order) + 2, nodes.size());
  const std::size_t last = std::max(back, std::min(most, times.size()) - 1);
  const std::size_t count = std::min(most, last + 1);
  for (std::size_t j = 0; j < count; ++j) {
    const std::size_t spread = count == 1 ? 0 : j * last / (count - 1);
    nodes[j] = times[spread] - step.from;
    samples[j] = values[spread];
  }
  Polynomial polynomial;
  polynomial.degree = static_cast<int>(count) - 1;
  entrain::numerics::interpolate({nodes.data(), count}, {samples.data(), count}, polynomial.coefficients);
  return polynomial;
}

/// More samples on the way than a source keeps, or a jump: the best fit of all of them. No polynomial spans a jump, so
/// behind one it is their mean.
EstimatedInputs::Polynomial EstimatedInputs::over_all_samples(const OutputEstimate& estimate, Course course,
                                                              const Step& step) const {
  course.go_on(estimate);
  const bool only_sample_is_at_the_end = course.samples == 1 && base::reached(course.latest, step.from + step.size);
  if (only_sample_is_at_the_end) return course.carried_on;  // it jumped there
  const bool jumped =
      course.jumped || (course.seen != course.cuts && !base::reached(course.latest, step.from + step.size));
  course.fit.add(course.latest - step.from, step.size, estimate.polynomial(), course.latest - step.from);
  Polynomial polynomial;
  polynomial.degree =
      jumped ? 0 : std::min(settings_.calibration.max_order + 1, numerics::MeanSquareFit::kHighestDegree);
  polynomial.coefficients = course.fit.best(polynomial.degree);
  return polynomial;
}

int EstimatedInputs::write(CoupledSystem& system, const Step& step) {
  const auto inputs = system.graph().inputs_of(step.subsystem);
  int degree = 0;
  for (const auto& polynomial : polynomials_) degree = std::max(degree, polynomial.degree);
  for (int p = 0; p <= degree; ++p) {
    const auto target = system.coefficients(step.subsystem, degree, p);
    for (std::size_t i = 0; i < inputs.count; ++i) {
      target[i] = polynomials_[i].coefficients[static_cast<std::size_t>(p)];
    }
  }
  for (std::size_t i = 0; i < inputs.count; ++i) {
    inputs_[inputs.first + i].end_slope = polynomials_[i].at(step.size).slope;
  }
  return degree;
}

}  // namespace entrain::method
