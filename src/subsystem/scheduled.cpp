#include "subsystem/scheduled.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes.hpp"
#include "base/grid.hpp"
#include "subsystem/ends_initialization.hpp"
#include "subsystem/foreign_calls.hpp"

namespace entrain::subsystem {
namespace {

class Scheduled final : public Subsystem,
                        public ForeignCalls,
                        public EndsInitialization,
                        private Rollback,
                        private Equations,
                        private Events,
                        private Reset {
 public:
  Scheduled(std::unique_ptr<Subsystem> inner, std::vector<ScheduledValue> values, std::map<std::size_t, Value> starts,
            std::vector<Time> announced);

  std::string_view name() const noexcept override { return inner_->name(); }
  const VariableTable& variables() const noexcept override { return inner_->variables(); }
  const Capabilities& capabilities() const override;
  Facets facets() noexcept override;
  std::vector<Fact> warnings() const override { return inner_->warnings(); }

  void set_start(VariableTable::Place place, const Value& value) override;
  void initialize(Time start, Time stop) override;
  void evaluate(std::span<const double> inputs, std::span<double> outputs) override {
    inner_->evaluate(inputs, outputs);
  }
  StepReport step(const Step& step, std::span<double> outputs) override;

  std::string refusal() const override { return refusal_of(*inner_); }
  std::string reading(std::size_t output) const override { return reading_of(*inner_, output); }
  void finish_initialization(std::span<double> outputs) override { finish_initialization_of(*inner_, outputs); }
  void note_used_before() override { note_used_before_of(*inner_); }

 private:
  StateId save() override;
  void restore(StateId id) override;
  void release(StateId id) override { inner_->facets().rollback->release(id); }
  bool can_serialize() const override { return inner_->facets().rollback->can_serialize(); }
  base::Bytes serialize(StateId id) override;
  StateId deserialize(std::span<const std::byte> bytes) override;
  StateId keep(StateId id, std::size_t applied);
  Time next_event(Time t) override;
  void reset() override { inner_->facets().reset->reset(); }

  // The equations of the inner one, and the schedule among its events.
  Equations& equations() const { return *inner_->facets().equations; }
  void state(std::span<double> x) override { equations().state(x); }
  void right_hand_side(const Point& at, std::span<double> dx) override { equations().right_hand_side(at, dx); }
  void outputs(const Point& at, std::span<double> y) override { equations().outputs(at, y); }
  void output_rates(const Point& at, std::span<double> dy) override { equations().output_rates(at, dy); }
  bool reads_input_derivatives() const override { return equations().reads_input_derivatives(); }
  Time next_discontinuity(Time t) const override {
    return std::min(next_scheduled(t), equations().next_discontinuity(t));
  }
  std::size_t event_indicator_count() const override { return equations().event_indicator_count(); }
  void event_indicators(const Point& at, std::span<double> z) override { equations().event_indicators(at, z); }
  bool handle_event(const Point& at, std::span<double> x) override;
  void move_to(const Point& at) override { equations().move_to(at); }

  Time next_scheduled(Time t) const;
  bool apply_until(Time t);
  void refresh(const Step& step, Duration size, std::span<double> outputs);

  std::unique_ptr<Subsystem> inner_;
  std::vector<ScheduledValue> values_;         ///< in the order of time
  std::map<std::size_t, Value> start_values_;  ///< of the scheduled parameters
  std::vector<Time> announced_;                ///< growing
  std::size_t applied_ = 0;                    ///< of values_
  std::vector<std::size_t> saved_;             ///< `applied_` by the id of a saved state
  std::vector<double> inputs_;                 ///< as they ended a step
  mutable bool outdated_ = true;               ///< a start value can change the inner capabilities
  mutable Capabilities capabilities_;
};

Scheduled::Scheduled(std::unique_ptr<Subsystem> inner, std::vector<ScheduledValue> values,
                     std::map<std::size_t, Value> starts, std::vector<Time> announced)
    : inner_(std::move(inner)),
      values_(std::move(values)),
      start_values_(std::move(starts)),
      announced_(std::move(announced)),
      inputs_(variables().inputs.size()) {
  std::stable_sort(values_.begin(), values_.end(),
                   [](const ScheduledValue& a, const ScheduledValue& b) { return a.time < b.time; });
}

const Capabilities& Scheduled::capabilities() const {
  if (outdated_) capabilities_ = inner_->capabilities();
  outdated_ = false;
  capabilities_.announces_events = true;
  return capabilities_;
}

Facets Scheduled::facets() noexcept {
  Facets facets = inner_->facets();
  if (facets.rollback != nullptr) facets.rollback = this;
  if (facets.equations != nullptr) facets.equations = this;
  if (facets.reset != nullptr) facets.reset = this;
  facets.events = this;
  facets.split = nullptr;  // a step may end early for a value of the schedule
  return facets;
}

void Scheduled::set_start(VariableTable::Place place, const Value& value) {
  inner_->set_start(place, value);
  outdated_ = true;
  const bool is_parameter = place.causality == Causality::Parameter;
  if (const auto known = start_values_.find(place.index); is_parameter && known != start_values_.end()) {
    known->second = value;
  }
}

void Scheduled::initialize(Time start, Time stop) {
  for (const auto& [parameter, value] : start_values_) inner_->set_start({Causality::Parameter, parameter}, value);
  for (applied_ = 0; applied_ < values_.size() && base::reached(start, values_[applied_].time); ++applied_) {
    const auto& scheduled = values_[applied_];
    inner_->set_start({Causality::Parameter, scheduled.parameter}, scheduled.value);
  }
  inner_->initialize(start, stop);
}

Time Scheduled::next_scheduled(Time t) const {
  const auto next = std::partition_point(values_.begin(), values_.end(), [t](const ScheduledValue& scheduled) {
    return base::reached(t, scheduled.time);
  });
  const auto other =
      std::partition_point(announced_.begin(), announced_.end(), [t](Time time) { return base::reached(t, time); });
  return std::min(next == values_.end() ? kNever : next->time, other == announced_.end() ? kNever : *other);
}

/// False when there was nothing to do.
bool Scheduled::apply_until(Time t) {
  const std::size_t before = applied_;
  for (; applied_ < values_.size() && base::reached(t, values_[applied_].time); ++applied_) {
    inner_->facets().tuning->set_parameter(values_[applied_].parameter, values_[applied_].value);
  }
  return applied_ > before;
}

StepReport Scheduled::step(const Step& step, std::span<double> outputs) {
  const Time next = applied_ < values_.size() ? values_[applied_].time : kNever;
  const Time end = step.from + step.size;
  if (!base::reached(end, next)) return inner_->step(step, outputs);  // the usual case

  const bool inside = next > step.from && !base::same_time(end, next) && next < end && !capabilities().imposed_step;
  const Duration size = inside ? next - step.from : step.size;
  StepReport report = inner_->step({step.from, size, step.inputs}, outputs);
  if (report.outcome == StepOutcome::Rejected || report.stop_requested) return report;
  if (apply_until(report.reached)) refresh(step, report.reached - step.from, outputs);
  if (inside && report.outcome == StepOutcome::Completed) report.outcome = StepOutcome::EndedEarly;
  return report;
}

/// The outputs with the new values, where the subsystem can return them without a step.
void Scheduled::refresh(const Step& step, Duration size, std::span<double> outputs) {
  if (!capabilities().output_refresh) return;
  for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i] = step.inputs.value(i, size);
  inner_->evaluate(inputs_, outputs);
}

StateId Scheduled::save() {
  return keep(inner_->facets().rollback->save(), applied_);
}

StateId Scheduled::keep(StateId id, std::size_t applied) {
  const auto slot = static_cast<std::size_t>(id);
  if (saved_.size() <= slot) saved_.resize(slot + 1);
  saved_[slot] = applied;
  return id;
}

base::Bytes Scheduled::serialize(StateId id) {
  return base::to_bytes(saved_[static_cast<std::size_t>(id)], inner_->facets().rollback->serialize(id));
}

StateId Scheduled::deserialize(std::span<const std::byte> bytes) {
  std::size_t applied = 0;
  base::Bytes inner;
  base::from_bytes(bytes, applied, inner);
  return keep(inner_->facets().rollback->deserialize(inner), applied);
}

/// A saved state need not hold the parameters.
void Scheduled::restore(StateId id) {
  inner_->facets().rollback->restore(id);
  const std::size_t applied = std::exchange(applied_, saved_[static_cast<std::size_t>(id)]);
  if (applied == applied_) return;
  std::map<std::size_t, const Value*> in_force;
  for (const auto& [parameter, value] : start_values_) in_force[parameter] = &value;
  for (std::size_t i = 0; i < applied_; ++i) in_force[values_[i].parameter] = &values_[i].value;
  for (const auto& [parameter, value] : in_force) inner_->facets().tuning->set_parameter(parameter, *value);
}

Time Scheduled::next_event(Time t) {
  Events* events = inner_->facets().events;
  return std::min(next_scheduled(t), events == nullptr ? kNever : events->next_event(t));
}

bool Scheduled::handle_event(const Point& at, std::span<double> x) {
  if (applied_ < values_.size() && base::reached(at.t, values_[applied_].time)) {
    equations().move_to(at);  // where the integrator is, not where the last step ended
    apply_until(at.t);
  }
  return equations().handle_event(at, x);
}

}  // namespace

std::unique_ptr<Subsystem> scheduled(std::unique_ptr<Subsystem> inner, std::vector<ScheduledValue> values,
                                     std::map<std::size_t, Value> starts, std::vector<Time> announced) {
  return std::make_unique<Scheduled>(std::move(inner), std::move(values), std::move(starts), std::move(announced));
}

}  // namespace entrain::subsystem
