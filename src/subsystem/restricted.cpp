#include "subsystem/restricted.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/grid.hpp"
#include "description/subsystem_keys.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/ends_initialization.hpp"
#include "subsystem/foreign_calls.hpp"

namespace entrain::subsystem {
namespace {

template <class Ability>
constexpr bool kIsAbility = !std::is_same_v<Ability, std::nullptr_t>;

template <class To, class From>
void assign(To& ability, const From& value) {
  ability = value;
}
void assign(int& ability, std::int64_t value) {
  ability = static_cast<int>(value);
}

Capabilities reduced(Capabilities result, const SubsystemDescription& description) {
  description::for_each_subsystem_key([&]<class T, class Ability>(const description::SubsystemKey<T, Ability>& key) {
    if constexpr (kIsAbility<Ability>) {
      if (const auto& written = description.*key.field) assign(result.*key.ability, written->value);
    }
  });
  result.state_derivatives = result.states && result.state_derivatives;
  result.linearization = result.states && result.linearization;
  if (description.events) result.announces_events = !description.events->value.empty();
  return result;
}

class Restricted final : public Subsystem,
                         public ForeignCalls,
                         public EndsInitialization,
                         private States,
                         private Events {
 public:
  Restricted(std::unique_ptr<Subsystem> inner, SubsystemDescription description)
      : inner_(std::move(inner)), description_(std::move(description)) {
    if (auto& events = description_.events) std::sort(events->value.begin(), events->value.end());
  }

  std::string_view name() const noexcept override { return inner_->name(); }
  const VariableTable& variables() const noexcept override { return inner_->variables(); }
  const Capabilities& capabilities() const override {
    if (outdated_) capabilities_ = reduced(inner_->capabilities(), description_);
    outdated_ = false;
    return capabilities_;
  }
  Facets facets() noexcept override;
  std::vector<Fact> warnings() const override { return inner_->warnings(); }

  void set_start(VariableTable::Place place, const Value& value) override {
    inner_->set_start(place, value);
    outdated_ = true;
  }
  void initialize(Time start, Time stop) override { inner_->initialize(start, stop); }
  void evaluate(std::span<const double> inputs, std::span<double> outputs) override {
    inner_->evaluate(inputs, outputs);
  }
  StepReport step(const Step& step, std::span<double> outputs) override { return inner_->step(step, outputs); }
  HeldStep held_step() noexcept override { return inner_->held_step(); }

  std::string refusal() const override { return refusal_of(*inner_); }
  std::string reading(std::size_t output) const override { return reading_of(*inner_, output); }
  void finish_initialization(std::span<double> outputs) override { finish_initialization_of(*inner_, outputs); }
  void note_used_before() override { note_used_before_of(*inner_); }

 private:
  void states(std::span<double> x) override { inner_->facets().states->states(x); }
  void derivatives(std::span<double>) override {
    throw Error(ErrorCode::MissingCapability, {FactCode::DerivativesTakenAway},
                {std::string(name()), "", std::nullopt, "Remove 'state_derivatives = false'"});
  }
  Time next_event(Time t) override {
    const auto& times = description_.events->value;
    const auto next = std::find_if(times.begin(), times.end(), [t](Time event) { return !base::reached(t, event); });
    return next == times.end() ? kNever : *next;
  }

  std::unique_ptr<Subsystem> inner_;
  SubsystemDescription description_;
  mutable bool outdated_ = true;  ///< a start value can change the inner capabilities
  mutable Capabilities capabilities_;
};

Facets Restricted::facets() noexcept {
  try {
    static_cast<void>(capabilities());
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): thrown again by initialize, where it is expected
  }
  const Capabilities& can = capabilities_;
  Facets facets = inner_->facets();
  if (!can.rollback) facets.rollback = nullptr;
  if (!can.states) {
    facets.states = nullptr;
  } else if (!can.state_derivatives) {
    facets.states = this;
  }
  if (!can.linearization) facets.linearizer = nullptr;
  if (can.output_derivative_order == 0) facets.output_derivatives = nullptr;
  if (!can.announces_events) {
    facets.events = nullptr;
  } else if (description_.events) {
    facets.events = this;
  }
  return facets;
}

}  // namespace

bool restricts(const SubsystemDescription& description) {
  bool any = description.events.has_value();
  description::for_each_subsystem_key([&]<class T, class Ability>(const description::SubsystemKey<T, Ability>& key) {
    if constexpr (kIsAbility<Ability>) any = any || (description.*key.field).has_value();
  });
  return any;
}

std::vector<Fact> additions(const Capabilities& capabilities, const SubsystemDescription& description) {
  std::vector<Fact> facts;
  const auto flag = [&](const char* what, const std::optional<Written<bool>>& wanted, bool present) {
    if (wanted && wanted->value && !present)
      facts.push_back({FactCode::CapabilityNotThere, {description.name}, {{"key", what}}});
  };
  const auto degree = [&](const char* what, const std::optional<Written<std::int64_t>>& wanted, int present) {
    if (wanted && wanted->value > present) {
      facts.push_back({FactCode::CapabilityNotRaised,
                       {description.name},
                       {{"key", what}, {"wanted", wanted->value}, {"present", present}}});
    }
  };
  flag("rollback", description.rollback, capabilities.rollback);
  flag("states", description.states, capabilities.states);
  const bool states = capabilities.states && (!description.states || description.states->value);
  flag("state_derivatives", description.state_derivatives, states && capabilities.state_derivatives);
  flag("linearization", description.linearization, states && capabilities.linearization);
  degree("input_degree", description.input_degree, capabilities.input_degree);
  degree("output_derivative_order", description.output_derivative_order, capabilities.output_derivative_order);

  const auto& imposed = capabilities.imposed_step;
  const auto& step = description.step;
  if (imposed && step && step->value != *imposed) {
    facts.push_back(
        {FactCode::StepIsImposed, {description.name}, {{"step", step->value, "s"}, {"imposed", *imposed, "s"}}});
  }
  if (description.step_offset && description.step_offset->value > 0.0 && !imposed && !step) {
    facts.push_back({FactCode::OffsetWithoutStep, {description.name}});
  }
  const auto& shortest = description.min_step ? description.min_step : step;
  if (shortest && shortest->value < capabilities.min_step.value_or(0.0)) {
    facts.push_back({FactCode::StepBelowShortest,
                     {description.name},
                     {{"step", shortest->value, "s"}, {"limit", *capabilities.min_step, "s"}}});
  }
  const auto& longest = description.max_step ? description.max_step : step;
  if (longest && longest->value > capabilities.max_step.value_or(kNever)) {
    facts.push_back({FactCode::StepAboveLongest,
                     {description.name},
                     {{"step", longest->value, "s"}, {"limit", *capabilities.max_step, "s"}}});
  }
  return facts;
}

std::unique_ptr<Subsystem> restricted(std::unique_ptr<Subsystem> inner, const SubsystemDescription& description) {
  return std::make_unique<Restricted>(std::move(inner), description);
}

}  // namespace entrain::subsystem
