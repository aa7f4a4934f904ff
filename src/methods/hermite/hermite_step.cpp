#include "methods/hermite/hermite_step.hpp"

#include <algorithm>
#include <cmath>

#include "base/signal_range.hpp"
#include "coupling/engine.hpp"
#include "coupling/transfer.hpp"
#include "numerics/cubic_hermite.hpp"

namespace entrain::method {

void HermiteStep::start(CoupledSystem& system, Time now, HermiteRestart restart, std::vector<coupling::TrialKind> kinds,
                        const trials::EstimatorOptions& estimator) {
  restart_ = restart;
  trials_.emplace(system, std::move(kinds), estimator);
  unknowns_.clear();
  std::vector<bool> connected(system.graph().outputs(), false);
  for (const auto& connection : system.graph().connections()) connected[connection.output] = true;
  for (std::size_t y = 0; y < connected.size(); ++y) {
    if (connected[y]) unknowns_.emplace_back(y);
  }
  block_ = trials_->make_block();
  memory_.left = right_ = memory_.previous = {block_.signals, block_.slopes};
  memory_.magnitude.assign(block_.signals.size(), 0.0);
  memory_.now = now;
  memory_.slopes_known = false;
  memory_.previous_size = 0.0;
  first_constant_ = system.graph().outputs();
  start_tasks(system);
}

void HermiteStep::start_tasks(const CoupledSystem& system) {
  tasks_.assign(system.size(), {});
  longest_part_.assign(system.size(), kNever);
  imposed_ = false;
  shortest_ = 0.0;
  for (std::size_t s = 0; s < system.size(); ++s) {
    tasks_[s].subsystem = SubsystemId{s};
    const auto& can = system.capabilities(SubsystemId{s});
    shortest_ = std::max(shortest_, can.min_step.value_or(0.0));
    longest_part_[s] = can.imposed_step.value_or(can.max_step.value_or(kNever));
    imposed_ = imposed_ || can.imposed_step.has_value();
  }
}

std::span<const double> HermiteStep::real_slopes() const {
  return restart_ == HermiteRestart::Real ? memory_.left.slopes : real_slopes_;
}

std::span<const double> HermiteStep::real_values(const CoupledSystem& system) const {
  return restart_ == HermiteRestart::Real ? std::span<const double>(memory_.left.values) : system.outputs();
}

double HermiteStep::magnitude(OutputId y) const {
  return base::divisible_size(memory_.magnitude[y]);
}

double HermiteStep::size(OutputId y, double terms) const {
  return std::max({std::abs(memory_.left.values[y]), std::abs(right_.values[y]),
                   base::size_floor::kQuiet * std::max(magnitude(y), terms)});
}

double HermiteStep::middle_defect(const CoupledSystem& system, const trials::TrialBlock& middle, OutputId y) const {
  const auto& [left, left_slopes] = memory_.left;
  const numerics::CubicHermite course{{left[y], left_slopes[y]}, {right_.values[y], right_.slopes[y]}, window_.size};
  if (!memory_.slopes_known) return std::abs(course.middle_of_parabola() - middle.signals[y]);
  const numerics::CubicHermite known{
      {left[y] - real_values(system)[y], left_slopes[y] - real_slopes()[y]}, {}, window_.size};
  double defect = course.middle() - middle.signals[y];
  defect -= known.middle();
  return std::abs(defect);
}

/// y / 24 (h + H)^2 h^2 at the end of the step h behind one of H, y / 384 h^4 in its middle.
std::optional<double> HermiteStep::continued_defect(OutputId y) const {
  const Duration before = memory_.previous_size;
  if (!(before > 0.0)) return std::nullopt;
  const numerics::EndPoint start{memory_.previous.values[y], memory_.previous.slopes[y]};
  const numerics::EndPoint here{memory_.left.values[y], memory_.left.slopes[y]};
  const double miss = numerics::CubicHermite{start, here, before}.continued(window_.size).value - right_.values[y];
  const double further = 1.0 + before / window_.size;
  return std::abs(miss) / (16.0 * further * further);
}

void HermiteStep::begin() {
  if (restart_ == HermiteRestart::Real) {
    trials_->begin(memory_.now, window_.size, memory_.left.slopes);
    if (memory_.slopes_known) trials_->follow_inputs(memory_.now, memory_.left.values, memory_.left.slopes);
  } else {  // the polynomials go on with their own slopes; subsystems that provide no others keep those
    real_slopes_ = memory_.left.slopes;
    trials_->begin(memory_.now, window_.size, real_slopes_);
  }
}

void HermiteStep::predict(Predictor predictor) {
  const Duration size = window_.size;
  const bool continues = predictor == Predictor::Hermite && memory_.previous_size > 0.0;
  for (const OutputId y : unknowns_) {
    const numerics::EndPoint here{memory_.left.values[y], memory_.left.slopes[y]};
    numerics::EndPoint end{predictor == Predictor::Hold ? here.value : here.value + size * here.slope, here.slope};
    if (continues) {
      const numerics::EndPoint before{memory_.previous.values[y], memory_.previous.slopes[y]};
      end = numerics::CubicHermite{before, here, memory_.previous_size}.continued(size);
    }
    right_.values[y] = end.value;
    right_.slopes[y] = end.slope;
    memory_.magnitude[y] = std::max({memory_.magnitude[y], std::abs(here.value), std::abs(size * here.slope)});
  }
}

void HermiteStep::write_inputs(CoupledSystem& system) const {
  const auto& plan = system.engine().transfer();
  const int top = memory_.slopes_known ? 3 : 2;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const SubsystemId id{s};
    const auto inputs = system.graph().inputs_of(id);
    std::array<std::span<double>, kMaxInputDegree + 1> coefficient;
    for (int p = 0; p <= top; ++p) coefficient[static_cast<std::size_t>(p)] = system.coefficients(id, top, p);
    for (std::size_t i = 0; i < inputs.count; ++i) {
      const InputId input{inputs.first + i};
      const std::size_t source = plan.source(input);
      const double factor = plan.factor(input);
      // From its own start, so that an offset of the connection does not enter.
      const numerics::CubicHermite course{
          {0.0, factor * memory_.left.slopes[source]},
          {factor * (right_.values[source] - memory_.left.values[source]), factor * right_.slopes[source]},
          window_.size};
      const auto c = memory_.slopes_known ? course.coefficients() : course.parabola();
      coefficient[0][i] = plan.incoming(input, memory_.left.values) + plan.moved(input, memory_.now);
      for (std::size_t p = 1; p <= static_cast<std::size_t>(top); ++p) coefficient[p][i] = c[p];
      if (const double slope = plan.slope(input); slope != 0.0) coefficient[1][i] += slope;  // of a ramp
    }
  }
}

void HermiteStep::set_tasks() {
  const int degree = memory_.slopes_known ? 3 : 2;
  for (std::size_t s = 0; s < tasks_.size(); ++s) {
    const int parts = std::max(1, static_cast<int>(std::ceil(window_.size / longest_part_[s] - 1e-9)));
    tasks_[s] = {tasks_[s].subsystem, memory_.now, window_.size, degree, parts, window_.to};
  }
}

void HermiteStep::run_half(trials::TrialBlock& middle) {
  const Window whole = window_;
  window_ = {memory_.now + 0.5 * whole.size, 0.5 * whole.size};
  set_tasks();
  trials_->run(tasks_, middle);
  window_ = whole;
  set_tasks();
}

void HermiteStep::commit() {
  trials_->commit(tasks_, block_);
  memory_.now = window_.to;
}

void HermiteStep::keep_before_commit() {
  kept_now_ = memory_.now;
  trials_->keep_before_commit();
}

void HermiteStep::take_back() {
  memory_.now = kept_now_;
  trials_->take_back(kept_now_);
}

void HermiteStep::move_on() {
  std::swap(memory_.previous, memory_.left);
  memory_.previous_size = memory_.slopes_known ? window_.size : 0.0;
  const bool c1 = restart_ == HermiteRestart::C1;
  memory_.left.values = c1 ? right_.values : block_.signals;
  memory_.left.slopes = c1 ? right_.slopes : block_.slopes;
  memory_.slopes_known = true;
}

void HermiteStep::cross(CoupledSystem& system, Time to) {
  system.hold_all_inputs();
  for (auto& task : tasks_) task = {task.subsystem, memory_.now, to - memory_.now, 0, 1, to};
  system.commit_all(tasks_);
  memory_.now = to;
}

void HermiteStep::restart(CoupledSystem& system) {
  system.refresh_signals(memory_.now);
  std::copy(system.signals().begin(), system.signals().end(), memory_.left.values.begin());
  std::fill(memory_.left.slopes.begin(), memory_.left.slopes.end(), 0.0);
  memory_.slopes_known = false;
  memory_.previous_size = 0.0;
  trials_->forget_past();
}

/// They lie in all that holds signals.
void HermiteStep::take_constants(std::span<const double> signals) {
  const auto first = static_cast<std::ptrdiff_t>(first_constant_);
  for (auto* values : {&memory_.left.values, &right_.values, &memory_.previous.values, &block_.signals}) {
    std::copy(signals.begin() + first, signals.end(), values->begin() + first);
  }
}

void HermiteStep::restored() {
  const std::vector<double> signals = memory_.left.values;
  take_constants(signals);
}

}  // namespace entrain::method
