#include "coupling/step_calls.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/grid.hpp"
#include "numerics/polynomial.hpp"

namespace entrain::coupling {
namespace {

/// That a step may be cut into where the subsystem imposes its step or has a shortest one.
int most_parts(const Capabilities& can, Duration size) {
  const Duration shortest = can.imposed_step.value_or(can.min_step.value_or(0.0));
  return size < shortest * std::numeric_limits<int>::max() ? static_cast<int>(size / shortest + 1e-9)
                                                           : std::numeric_limits<int>::max();
}

}  // namespace

StepCalls::StepCalls(const StepTask& task, const Capabilities& can, StepSlots& of) : task_(task), can_(can), of_(of) {
  if (task.parts != 1 || task.degree > of.input_degree || of.divided != 1) go_on_in_parts(task.from);
}

void StepCalls::go_on_in_parts(Time reached) {
  if (whole_) {
    whole_ = false;
    // Without a degree to lower, sub-steps are only more calls.
    const int divided = std::min(of_.substeps, most_parts(can_, task_.size));
    parts_ = task_.degree > of_.input_degree ? std::max(task_.parts, divided) : task_.parts;
    parts_ = std::max(parts_, std::min(parts_ * of_.divided, most_parts(can_, task_.size)));
    part_size_ = task_.size / parts_;
    covered_ = reached - task_.from;
    part_ = static_cast<int>(covered_ / part_size_ + 1e-9);
  } else {
    covered_ = reached - task_.from;
  }
  done_ = part_ >= parts_;
}

Subsystem::Step StepCalls::next() {
  const std::size_t count = of_.slots.inputs.size();
  if (whole_) {
    from_ = task_.from;
    size_ = task_.size;
    of_.last_part = 0.0;
    const bool held = task_.degree == 0;
    inputs_.emplace(held ? of_.slots.inputs.data() : of_.slots.coefficients, count, task_.degree);
    return {from_, size_, *inputs_};
  }
  const Duration end = part_ + 1 == parts_ ? task_.size : part_size_ * (part_ + 1);
  const bool whole_part = covered_ == part_size_ * part_;
  size_ = whole_part ? part_size_ : end - covered_;
  double* part = of_.part_coefficients.data();
  if (task_.degree == 0) {
    std::copy(of_.slots.inputs.begin(), of_.slots.inputs.end(), part);
  } else {
    std::copy_n(of_.slots.coefficients, static_cast<std::size_t>(task_.degree + 1) * count, part);
  }
  const int degree = std::min(task_.degree, of_.input_degree);
  const numerics::PolynomialBlock polynomials{part, count, task_.degree};
  numerics::shift_origin(polynomials, covered_);
  numerics::project(polynomials, degree, size_);
  inputs_.emplace(part, count, degree);
  from_ = task_.from + covered_;
  of_.last_part = size_;
  return {from_, size_, *inputs_};
}

void StepCalls::take(const StepReport& report) {
  if (!whole_ || task_.degree > 0) {  // held inputs are where they end
    for (std::size_t i = 0; i < inputs_->count(); ++i) of_.slots.inputs[i] = inputs_->value(i, size_);
  }
  if (report.event && !base::reached(report.reached, task_.to) && !report.stop_requested) {
    result_.event_at = report.reached;
    result_.outcome = StepOutcome::EndedEarly;
    done_ = true;
  } else if (report.stop_requested) {  // a subsystem that asked to stop steps no more
    result_.stopped_at = report.reached;
    done_ = true;
  } else if (report.outcome == StepOutcome::Completed) {
    if (whole_) {
      done_ = true;
      return;
    }
    covered_ = part_size_ * ++part_;
    done_ = part_ == parts_;
  } else if (report.outcome == StepOutcome::EndedEarly && report.reached > from_) {
    ++early_returns_;
    result_.outcome = StepOutcome::EndedEarly;
    go_on_in_parts(report.reached);
  } else {
    result_ = {StepOutcome::Rejected, from_, size_, {}};
    done_ = true;
  }
}

void StepCalls::go_on_after_event() {
  ++early_returns_;
  done_ = false;
  go_on_in_parts(*std::exchange(result_.event_at, std::nullopt));
}

}  // namespace entrain::coupling
