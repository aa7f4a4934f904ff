#include "masters/estimated_inputs.hpp"

#include <algorithm>

#include "base/grid.hpp"

namespace entrain {
namespace {

/// An input that nothing feeds keeps its value.
const OutputEstimate* source_of(const CoupledSystem& system, EstimatedInputs::Estimates estimates, InputId input) {
  const std::size_t source = system.transfer().source(input);
  return source < estimates.size() ? &estimates[source] : nullptr;
}

}  // namespace

void EstimatedInputs::start(const CoupledSystem& system, const Settings& settings) {
  settings_ = settings;
  const std::size_t inputs = system.graph().inputs();
  end_slopes_.assign(inputs, 0.0);
  starts_.assign(inputs, {});
  polynomials_.reserve(inputs);
}

EndPoint EstimatedInputs::Polynomial::at(Duration s) const {
  EndPoint point;
  for (std::size_t p = static_cast<std::size_t>(degree) + 1; p-- > 0;) {
    point.slope = point.slope * s + point.value;
    point.value = point.value * s + coefficients[p];
  }
  return point;
}

void EstimatedInputs::Polynomial::arrive(const TransferPlan& plan, InputId input) {
  coefficients[0] = plan.transferred(input, coefficients[0]);
  for (std::size_t p = 1; p < coefficients.size(); ++p) coefficients[p] *= plan.factor(input);
}

EstimatedInputs::Polynomial EstimatedInputs::carried_on(const OutputEstimate& estimate, Time from) {
  Polynomial polynomial;
  polynomial.degree = estimate.order();
  std::copy(estimate.polynomial().begin(), estimate.polynomial().end(), polynomial.coefficients.begin());
  shift_origin({polynomial.coefficients.data(), 1, polynomial.degree}, from - estimate.time());
  return polynomial;
}

int EstimatedInputs::extrapolate(CoupledSystem& system, Estimates estimates, const Step& step) {
  const bool smooth = settings_.smooth && system.capabilities(step.subsystem).input_degree >= 3;
  polynomials_.clear();
  for (const InputId input : system.graph().inputs_of(step.subsystem)) {
    const OutputEstimate* estimate = source_of(system, estimates, input);
    auto& polynomial = polynomials_.emplace_back();
    if (estimate == nullptr) {
      polynomial.coefficients[0] = system.inputs()[input];
      continue;
    }
    polynomial = carried_on(*estimate, step.from);
    polynomial.arrive(system.transfer(), input);
    const bool begins_anew = estimate->times().size() == 1;  // the run begins, or the source has jumped
    if (!smooth || begins_anew) continue;
    const EndPoint left{system.inputs()[input], end_slopes_[input]};
    polynomial = {hermite_cubic(left, polynomial.at(step.size), step.size), 3};
  }
  return write(system, step);
}

void EstimatedInputs::remember_start(const CoupledSystem& system, Estimates estimates, const Step& step) {
  for (const InputId input : system.graph().inputs_of(step.subsystem)) {
    const OutputEstimate* estimate = source_of(system, estimates, input);
    if (estimate != nullptr) starts_[input] = {estimate->time(), estimate->value(), carried_on(*estimate, step.from)};
  }
}

int EstimatedInputs::interpolate(CoupledSystem& system, Estimates estimates, const Step& step) {
  polynomials_.clear();
  for (const InputId input : system.graph().inputs_of(step.subsystem)) {
    const OutputEstimate* estimate = source_of(system, estimates, input);
    auto& polynomial = polynomials_.emplace_back();
    if (estimate == nullptr) {
      polynomial.coefficients[0] = system.inputs()[input];
      continue;
    }
    const bool known_to_the_end = reached(estimate->time(), step.from + step.size);
    polynomial = known_to_the_end ? between_samples(*estimate, starts_[input], step) : carried_on(*estimate, step.from);
    polynomial.arrive(system.transfer(), input);
  }
  return write(system, step);
}

/// Through samples that span the step: its two ends and, where there are more, others between or before.
EstimatedInputs::Polynomial EstimatedInputs::between_samples(const OutputEstimate& estimate, const Start& start,
                                                             const Step& step) const {
  const auto times = estimate.times();
  const auto values = estimate.values();
  std::array<Time, kMaxInputDegree + 1> nodes{};
  std::array<double, kMaxInputDegree + 1> samples{};
  std::size_t back = 0;  // to the sample at the start of the step
  while (back < times.size() && !reached(step.from, times[back])) ++back;
  const bool jumped_on_the_way = back == times.size() && times.size() < OutputEstimate::kSamples;
  if (jumped_on_the_way) return start.carried_on;

  std::size_t count = std::min(static_cast<std::size_t>(settings_.max_order) + 2, nodes.size());
  const bool forgotten = back == times.size();  // more samples on the way than are kept
  const std::size_t last = forgotten ? times.size() - 1 : std::max(back, std::min(count, times.size()) - 1);
  const std::size_t from_history = std::min(forgotten ? count - 1 : count, last + 1);
  for (std::size_t j = 0; j < from_history; ++j) {
    const std::size_t spread = from_history == 1 ? 0 : j * last / (from_history - 1);
    nodes[j] = times[spread] - step.from;
    samples[j] = values[spread];
  }
  count = from_history;
  if (forgotten) {
    nodes[count] = start.time - step.from;
    samples[count++] = start.value;
  }
  Polynomial polynomial;
  polynomial.degree = static_cast<int>(count) - 1;
  entrain::interpolate({nodes.data(), count}, {samples.data(), count}, polynomial.coefficients);
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
    end_slopes_[inputs.first + i] = polynomials_[i].at(step.size).slope;
  }
  return degree;
}

void EstimatedInputs::save(IdRange<InputId> inputs, std::vector<double>& numbers) const {
  for (const InputId input : inputs) {
    const auto& start = starts_[input];
    numbers.insert(numbers.end(),
                   {end_slopes_[input], start.time, start.value, static_cast<double>(start.carried_on.degree)});
    numbers.insert(numbers.end(), start.carried_on.coefficients.begin(), start.carried_on.coefficients.end());
  }
}

void EstimatedInputs::restore(IdRange<InputId> inputs, const double*& next) {
  for (const InputId input : inputs) {
    auto& start = starts_[input];
    end_slopes_[input] = *next++;
    start.time = *next++;
    start.value = *next++;
    start.carried_on.degree = static_cast<int>(*next++);
    for (auto& coefficient : start.carried_on.coefficients) coefficient = *next++;
  }
}

}  // namespace entrain
