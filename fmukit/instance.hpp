#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/function_ref.hpp"
#include "fmukit/fmu_definition.hpp"
#include "fmukit/references.hpp"
#include "fmukit/snapshot.hpp"
#include "subsystem/native/event_integration.hpp"

namespace entrain::fmukit {

/// Where an instance is in the standard's state machine. Bits, so that a function can name all it may be called in.
inline constexpr unsigned kInstantiated = 1;
inline constexpr unsigned kInitialization = 2;
inline constexpr unsigned kStep = 4;
inline constexpr unsigned kTerminated = 8;
inline constexpr unsigned kFailed = 16;        ///< after an error, only entered by a strict FMU
inline constexpr unsigned kIntermediate = 32;  ///< inside a step, while the importer is asked for inputs
inline constexpr unsigned kEvent = 64;
inline constexpr unsigned kContinuous = 128;  ///< model exchange between events
inline constexpr unsigned kAnyPhase =
    kInstantiated | kInitialization | kStep | kTerminated | kFailed | kEvent | kContinuous;

// Where most functions of model exchange may be called.
inline constexpr unsigned kExchangeModes = kEvent | kContinuous;
inline constexpr unsigned kExchangeReadable = kInitialization | kExchangeModes | kTerminated | kFailed;

enum class Kind { CoSimulation, ModelExchange };

/// What one round of an event iteration did.
struct EventUpdate {
  bool again = false;
  bool states_changed = false;
  Time next_event = kNever;
};

/// One instance of an FMU, without regard to the version of FMI. Throws Error; the exports make a status of it.
///
/// Inputs have a value and, for the next step only, derivatives: u(s) = sum_p derivative_p s^p / p!. After a step they
/// are what the polynomial ended with, so that outputs, their rates and the linearization belong to the time reached.
class Instance {
 public:
  explicit Instance(const FmuDefinition& definition, Kind kind = Kind::CoSimulation);

  /// Strict FMUs only: throws unless the phase is one of `allowed`.
  void require(unsigned allowed, const char* function) const;
  void fail();  ///< a call has returned an error

  void set_up_experiment(Time start, std::optional<Time> stop);
  void enter_initialization();
  void exit_initialization();
  void terminate() { phase_ = kTerminated; }
  void reset();
  /// Asks the importer for the inputs at a time inside the step: it sets them or leaves them as they are. True when it
  /// requests the step to end there. `finished`: an internal step ended at this time.
  using InputRequest = base::FunctionRef<bool(Time t, bool finished)>;
  /// The time reached. `ask`: null when the importer takes no part inside a step.
  Time step(Time from, Duration size, const InputRequest* ask = nullptr);
  /// Throws unless all of them are inputs that may be set inside a step.
  void require_intermediate_inputs(std::span<const Reference> references) const;
  bool in_intermediate_update() const { return phase_ == kIntermediate; }
  Time time() const { return now_[0]; }

  /// Before the initialization: events at announced times are handled with the importer (FMI 3, co-simulation).
  void use_event_mode() { event_mode_used_ = true; }
  /// FMI 1: between two steps values may be set and then read.
  void allow_reading_after_set() { reads_after_set_ = true; }
  /// Of a step, at most to the announced event.
  Duration until_event(Time from, Duration size);
  bool at_event();
  void enter_event_mode();
  EventUpdate update_discrete_states();
  void enter_step_mode() { phase_ = kStep; }
  void enter_continuous_time() { phase_ = kContinuous; }
  // Of model exchange.
  void set_time(Time t);
  void set_continuous_states(std::span<const double> given);
  void get_continuous_states(std::span<double> result);
  void get_derivatives(std::span<double> result);
  void get_event_indicators(std::span<double> result);
  /// The models provide no nominal values: 1 is the default of the standard.
  void get_nominals(std::span<double> result) const { std::fill(result.begin(), result.end(), 1.0); }
  std::size_t states() const { return states_; }
  std::size_t indicators() const { return indicators_; }

  void get(std::span<const Reference> references, double* values);
  void set(std::span<const Reference> references, const double* values);
  /// A parameter that is no number; counters are integers.
  const Value& value(Reference reference, ValueType type);
  void set_value(Reference reference, Value value);

  void set_input_derivative(Reference reference, int order, double value);
  double output_derivative(Reference reference, int order);
  void directional_derivative(std::span<const Reference> unknowns, std::span<const Reference> knowns,
                              const double* seed, double* sensitivity);

  void adjoint_derivative(std::span<const Reference> unknowns, std::span<const Reference> knowns, const double* seed,
                          double* sensitivity);

  void save(Snapshot& snapshot);
  void restore(const Snapshot& snapshot);
  Snapshot restored_from(std::span<const std::uint8_t> bytes) const;
  std::vector<std::uint8_t> serialized(const Snapshot& snapshot) const;

 private:
  Place place_of(Reference reference) const;
  double real(Reference reference);
  void set_real(Reference reference, double value);
  void require_settable(Place place, Reference reference) const;
  bool may_tune(Place place) const;
  bool before_the_run() const { return (phase_ & (kInstantiated | kInitialization)) != 0; }
  void note_set() { set_since_step_ = phase_ == kStep && !reads_after_set_; }
  void require_step_since_set() const;
  void require_rollback() const;
  void require_step(Time from, Duration size);
  void configure_if_changed();
  /// Something the outputs and derivatives depend on has changed.
  void forget_results() {
    outputs_known_ = derivatives_known_ = rates_known_ = linearization_known_ = indicators_known_ = false;
  }
  double output(std::size_t index);
  double derivative(std::size_t index);
  double indicator(std::size_t index);
  void linearize_if_needed();
  double sensitivity(Place unknown, Place known) const;
  bool asked(const InputRequest& ask, Time t, bool finished);
  int coefficients_from_derivatives();
  int coefficients_from_samples(Time from, Duration size, const InputRequest& ask);
  void integrate(Time from, Duration size, const InputBlock& inputs);
  void advance_with_polynomials(Time from, Duration size, int degree);
  Time advance_in_internal_steps(Time from, Duration size, const InputRequest* ask);
  void count(Counter counter) { ++calls_[static_cast<std::size_t>(counter)]; }

  double* x() { return now_.data() + 1; }
  double* u() { return x() + states_; }
  double* du() { return u() + inputs_; }
  double* ddu() { return du() + inputs_; }
  /// Derivatives of this order for the next step.
  double* ahead(int order) { return ddu() + static_cast<std::size_t>(order) * inputs_; }
  double& next_event() { return *ahead(kMaxInputDegree + 1); }
  double* memory() { return ahead(kMaxInputDegree + 1) + 1; }
  /// Between events the model is what it was after the last one, up to and with the time of the next.
  Time smooth_time();
  Model::Point here() { return {smooth_time(), {x(), states_}, {u(), inputs_}, {du(), inputs_}, {ddu(), inputs_}}; }

  const FmuDefinition& definition_;
  Kind kind_;
  std::unique_ptr<Model> model_;
  std::optional<subsystem::EventIntegration> integration_;  ///< when the steps are not the model's own
  const VariableTable& variables_;
  References references_;
  std::size_t states_;
  std::size_t inputs_;
  std::size_t indicators_;

  unsigned phase_ = kInstantiated;
  bool experiment_known_ = false;
  bool event_mode_used_ = false;
  bool reads_after_set_ = false;
  bool set_since_step_ = false;  ///< a value, in step mode
  Time stop_ = kNever;
  /// Time, states, inputs, their slopes and curvatures, the derivatives of order 1 to 3 for the next step, the time of
  /// the next event, and space for the model's memory when it is saved: in one piece, so that saving is one copy.
  std::vector<double> now_;
  int ahead_degree_ = 0;  ///< highest order given for the next step
  std::shared_ptr<const std::vector<Value>> parameters_;
  bool parameters_changed_ = true;

  std::vector<double> y_, dx_, dy_, z_;
  Linearization linearization_;
  bool outputs_known_ = false;
  bool derivatives_known_ = false;
  bool rates_known_ = false;
  bool linearization_known_ = false;
  bool indicators_known_ = false;
  std::vector<double> coefficients_;
  std::array<std::int64_t, kCounterNames.size()> calls_{};
  Value counter_;  ///< what `value` returns for a counter
};

}  // namespace entrain::fmukit
