#include "run/constraint_forces.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/grid.hpp"
#include "coupling/engine.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "numerics/dense_lu.hpp"
#include "numerics/propagators.hpp"
#include "numerics/state_integrals.hpp"

namespace entrain::running {
namespace {

constexpr double kStabilised = 0.5;  // of the difference of the integrals that a step takes back

bool same_entries(const Matrix& a, const Matrix& b) {
  return a.rows == b.rows && a.cols == b.cols && a.values == b.values;
}

double weighted_states(CoupledSystem& system, SubsystemId s, const std::vector<double>& weights,
                       std::vector<double>& states) {
  states.resize(weights.size());
  system.facets(s).states->states(states);
  return std::inner_product(states.begin(), states.end(), weights.begin(), 0.0);
}

}  // namespace

void ConstraintForces::begin(CoupledSystem& system, const RunSettings& settings) {
  settings_ = settings;
  memory_ = {};
  integrals_.clear();
  sides_.clear();
  const Graph& graph = system.graph();
  for (const auto& constraint : constraints_) {
    std::vector<double>* weights[2] = {&integrals_.emplace_back().one, &integrals_.back().other};
    const OutputId outputs[2] = {constraint.one, constraint.other};
    for (int i = 0; i < 2; ++i) {
      const SubsystemId s = graph.owner(outputs[i]);
      Side& side = side_of(s);
      system.facets(s).linearizer->linearize(side.linearization);
      const auto found = numerics::integral_of_output(side.linearization, outputs[i] - graph.outputs_of(s).first);
      if (found) *weights[i] = *found;
    }
  }
  effects_ = Matrix(constraints_.size(), constraints_.size());
  memory_.courses.resize(constraints_.size());
  for (std::size_t c = 0; c < constraints_.size(); ++c) memory_.courses[c].at_start = drift_of(system, c);
}

ConstraintForces::Side& ConstraintForces::side_of(SubsystemId s) {
  const auto known = std::find_if(sides_.begin(), sides_.end(), [&](const Side& side) { return side.subsystem == s; });
  if (known != sides_.end()) return *known;
  sides_.emplace_back().subsystem = s;
  return sides_.back();
}

/// Outputs at the end of the step under the inputs that the connections deliver now: y + Q (x' + B du) + D du, with
/// Q = h C phi_1(h A).
void ConstraintForces::predict(CoupledSystem& system, Side& side, Duration size) {
  const auto facets = system.facets(side.subsystem);
  facets.linearizer->linearize(side.linearization);
  const auto& now = side.linearization;
  if (side.size != size || !same_entries(side.known_for.A, now.A) || !same_entries(side.known_for.C, now.C)) {
    side.response = numerics::propagators(now.A, now.C, size, 2)[1];
    side.known_for = now;
    side.size = size;
  }
  side.rates.resize(now.A.rows);
  facets.states->derivatives(side.rates);
  const auto inputs = system.graph().inputs_of(side.subsystem);
  for (std::size_t i = 0; i < inputs.count; ++i) {
    const InputId input{inputs.first + i};
    const double change = system.incoming(input) - system.inputs()[input];
    for (std::size_t x = 0; x < side.rates.size(); ++x) side.rates[x] += now.B(x, i) * change;
  }
}

double ConstraintForces::end_of(CoupledSystem& system, OutputId output) {
  const SubsystemId s = system.graph().owner(output);
  const Side& side = side_of(s);
  const std::size_t row = output - system.graph().outputs_of(s).first;
  double end = system.outputs()[output];
  for (std::size_t x = 0; x < side.rates.size(); ++x) end += side.response(row, x) * side.rates[x];
  const auto inputs = system.graph().inputs_of(s);
  for (std::size_t i = 0; i < inputs.count; ++i) {
    const InputId input{inputs.first + i};
    end += side.linearization.D(row, i) * (system.incoming(input) - system.inputs()[input]);
  }
  return end;
}

/// Of a unit of this input, held over the step, on the output at its end.
double ConstraintForces::effect(const CoupledSystem& system, OutputId output, InputId input) {
  const SubsystemId s = system.graph().owner(output);
  if (system.graph().owner(input) != s) return 0.0;
  const Side& side = side_of(s);
  const std::size_t row = output - system.graph().outputs_of(s).first;
  const std::size_t column = input - system.graph().inputs_of(s).first;
  double sum = side.linearization.D(row, column);
  for (std::size_t x = 0; x < side.rates.size(); ++x) sum += side.response(row, x) * side.linearization.B(x, column);
  return sum;
}

double ConstraintForces::drift_of(CoupledSystem& system, std::size_t which) {
  const auto& [one, other] = integrals_[which];
  if (one.empty() || other.empty()) return 0.0;
  const Graph& graph = system.graph();
  return weighted_states(system, graph.owner(constraints_[which].one), one, states_) -
         weighted_states(system, graph.owner(constraints_[which].other), other, states_) -
         memory_.courses[which].at_start;
}

/// The forces of the step before are still delivered: what is found is the change of each.
void ConstraintForces::solve(CoupledSystem& system, Time now) {
  const Duration size = std::min(settings_.step, settings_.stop - now);
  if (!(size > 0.0)) return;
  for (auto& side : sides_) predict(system, side, size);
  const std::size_t count = constraints_.size();
  right_side_.resize(count);
  for (std::size_t c = 0; c < count; ++c) {
    const coupling::Constraint& of = constraints_[c];
    const double wanted = -kStabilised * drift_of(system, c) / size;
    right_side_[c] = wanted - (end_of(system, of.one) - end_of(system, of.other));
    for (std::size_t by = 0; by < count; ++by) {
      const coupling::Constraint& force = constraints_[by];
      effects_(c, by) = effect(system, of.one, force.on_one) - effect(system, of.one, force.on_other) -
                        effect(system, of.other, force.on_one) + effect(system, of.other, force.on_other);
    }
  }
  const auto singular = numerics::solve_used_up(effects_, right_side_);
  if (singular) throw_singular(*singular, now);
  for (std::size_t c = 0; c < count; ++c) {
    Course& course = memory_.courses[c];
    course.force += right_side_[c];
    if (!std::isfinite(course.force)) throw_singular(c, now);
    course.most_force = std::max(course.most_force, std::abs(course.force));
  }
}

void ConstraintForces::throw_singular(std::size_t which, Time now) const {
  throw Error(ErrorCode::LoopNotSolved, {FactCode::ConstraintSingular, {constraints_[which].name}},
              {.subsystem = {}, .variable = {}, .time = now, .remedy = {}});
}

void ConstraintForces::measure(CoupledSystem& system) {
  for (std::size_t c = 0; c < constraints_.size(); ++c) {
    const double difference = system.outputs()[constraints_[c].one] - system.outputs()[constraints_[c].other];
    Course& course = memory_.courses[c];
    course.most_difference = std::max(course.most_difference, std::abs(difference));
    course.most_drift = std::max(course.most_drift, std::abs(drift_of(system, c)));
  }
}

void ConstraintForces::add_to(std::span<double> corrections) const {
  for (std::size_t c = 0; c < memory_.courses.size(); ++c) {
    corrections[constraints_[c].on_one] += memory_.courses[c].force;
    corrections[constraints_[c].on_other] -= memory_.courses[c].force;
  }
}

std::vector<Fact> ConstraintForces::notes() const {
  std::vector<Fact> notes;
  for (std::size_t c = 0; c < memory_.courses.size(); ++c) {
    const Course& course = memory_.courses[c];
    Fact fact{FactCode::ConstraintKept,
              {constraints_[c].name},
              {{"force", course.most_force}, {"difference", course.most_difference}}};
    const bool integrated = !integrals_[c].one.empty() && !integrals_[c].other.empty();
    if (integrated) fact.values.emplace_back("drift", course.most_drift);
    notes.push_back(std::move(fact));
  }
  return notes;
}

}  // namespace entrain::running
