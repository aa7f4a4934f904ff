#include "subsystem/restricted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/grid.hpp"
#include "entrain/error.hpp"
#include "subsystem/foreign_calls.hpp"

namespace entrain {
namespace {

Capabilities reduced(Capabilities result, const Restrictions& restrictions) {
  result.rollback = restrictions.rollback.value_or(result.rollback);
  result.states = restrictions.states.value_or(result.states);
  result.state_derivatives = result.states && restrictions.state_derivatives.value_or(result.state_derivatives);
  result.linearization = result.states && restrictions.linearization.value_or(result.linearization);
  result.input_degree = restrictions.input_degree.value_or(result.input_degree);
  result.output_derivative_order = restrictions.output_derivative_order.value_or(result.output_derivative_order);
  if (restrictions.imposed_step) result.imposed_step = restrictions.imposed_step;
  result.step_offset = restrictions.step_offset.value_or(result.step_offset);
  if (restrictions.min_step) result.min_step = restrictions.min_step;
  if (restrictions.max_step) result.max_step = restrictions.max_step;
  if (restrictions.initial_step) result.initial_step = restrictions.initial_step;
  if (restrictions.substeps) result.substeps = *restrictions.substeps;
  if (restrictions.events) result.announces_events = !restrictions.events->empty();
  return result;
}

class Restricted final : public Subsystem, public ForeignCalls, private States, private Events {
 public:
  Restricted(std::unique_ptr<Subsystem> inner, const Restrictions& restrictions)
      : inner_(std::move(inner)), restrictions_(restrictions) {
    if (restrictions_.events) std::sort(restrictions_.events->begin(), restrictions_.events->end());
  }

  std::string_view name() const noexcept override { return inner_->name(); }
  const VariableTable& variables() const noexcept override { return inner_->variables(); }
  const Capabilities& capabilities() const override {
    if (outdated_) capabilities_ = reduced(inner_->capabilities(), restrictions_);
    outdated_ = false;
    return capabilities_;
  }
  Facets facets() noexcept override;
  std::vector<std::string> warnings() const override { return inner_->warnings(); }

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

 private:
  void states(std::span<double> x) override { inner_->facets().states->states(x); }
  void derivatives(std::span<double>) override {
    throw Error(ErrorCode::MissingCapability, "the state derivatives were taken away",
                {std::string(name()), "", std::nullopt, "Remove 'state_derivatives = false'"});
  }
  Time next_event(Time t) override {
    const auto& times = *restrictions_.events;
    const auto next = std::find_if(times.begin(), times.end(), [t](Time event) { return !reached(t, event); });
    return next == times.end() ? kNever : *next;
  }

  std::unique_ptr<Subsystem> inner_;
  Restrictions restrictions_;
  mutable bool outdated_ = true;  ///< a start value can change the inner capabilities
  mutable Capabilities capabilities_;
};

Facets Restricted::facets() noexcept {
  const Capabilities& can = capabilities();
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
  } else if (restrictions_.events) {
    facets.events = this;
  }
  return facets;
}

}  // namespace

bool Restrictions::any() const {
  return rollback || states || state_derivatives || linearization || input_degree || output_derivative_order ||
         imposed_step || step_offset || min_step || max_step || initial_step || substeps || events;
}

std::vector<std::string> additions(const Capabilities& capabilities, const Restrictions& restrictions) {
  std::vector<std::string> sentences;
  const auto flag = [&](const char* what, std::optional<bool> wanted, bool present) {
    if (wanted.value_or(false) && !present) sentences.push_back(fmt::format("{} cannot be added: it has none", what));
  };
  const auto degree = [&](const char* what, std::optional<int> wanted, int present) {
    if (wanted && *wanted > present) {
      sentences.push_back(fmt::format("{} cannot be raised to {}: it has {}", what, *wanted, present));
    }
  };
  flag("rollback", restrictions.rollback, capabilities.rollback);
  flag("states", restrictions.states, capabilities.states);
  const bool states = capabilities.states && restrictions.states.value_or(true);
  flag("state_derivatives", restrictions.state_derivatives, states && capabilities.state_derivatives);
  flag("linearization", restrictions.linearization, states && capabilities.linearization);
  degree("input_degree", restrictions.input_degree, capabilities.input_degree);
  degree("output_derivative_order", restrictions.output_derivative_order, capabilities.output_derivative_order);

  const auto& imposed = capabilities.imposed_step;
  if (imposed && restrictions.imposed_step && *restrictions.imposed_step != *imposed) {
    sentences.push_back(fmt::format("step cannot be {} s: it insists on {} s", *restrictions.imposed_step, *imposed));
  }
  if (restrictions.step_offset.value_or(0.0) > 0.0 && !imposed && !restrictions.imposed_step) {
    sentences.emplace_back("step_offset means nothing without an imposed step");
  }
  const auto shortest = restrictions.min_step ? restrictions.min_step : restrictions.imposed_step;
  if (shortest && *shortest < capabilities.min_step.value_or(0.0)) {
    sentences.push_back(
        fmt::format("a step of {} s cannot be allowed: its shortest is {} s", *shortest, *capabilities.min_step));
  }
  const auto longest = restrictions.max_step ? restrictions.max_step : restrictions.imposed_step;
  if (longest && *longest > capabilities.max_step.value_or(kNever)) {
    sentences.push_back(
        fmt::format("a step of {} s cannot be allowed: its longest is {} s", *longest, *capabilities.max_step));
  }
  return sentences;
}

std::unique_ptr<Subsystem> restricted(std::unique_ptr<Subsystem> inner, const Restrictions& restrictions) {
  return std::make_unique<Restricted>(std::move(inner), restrictions);
}

}  // namespace entrain
