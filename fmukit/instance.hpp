#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fmukit/fmu_definition.hpp"
#include "fmukit/references.hpp"
#include "fmukit/snapshot.hpp"

namespace entrain::fmukit {

/// Where an instance is in the standard's state machine. Bits, so that a function can name all it may be called in.
inline constexpr unsigned kInstantiated = 1;
inline constexpr unsigned kInitialization = 2;
inline constexpr unsigned kStep = 4;
inline constexpr unsigned kTerminated = 8;
inline constexpr unsigned kFailed = 16;  ///< after an error, only entered by a strict FMU
inline constexpr unsigned kAnyPhase = kInstantiated | kInitialization | kStep | kTerminated | kFailed;

/// One instance of an FMU, without regard to the version of FMI. Throws Error; the exports make a status of it.
///
/// Inputs have a value and, for the next step only, derivatives: u(s) = sum_p derivative_p s^p / p!. After a step they
/// are what the polynomial ended with, so that outputs, their rates and the linearization belong to the time reached.
class Instance {
 public:
  explicit Instance(const FmuDefinition& definition);

  /// Strict FMUs only: throws unless the phase is one of `allowed`.
  void require(unsigned allowed, const char* function) const;
  void fail();  ///< a call has returned an error

  void set_up_experiment(Time start, std::optional<Time> stop);
  void enter_initialization();
  void exit_initialization();
  void terminate() { phase_ = kTerminated; }
  void reset();
  void step(Time from, Duration size);
  Time time() const { return now_[0]; }

  void get(std::span<const Reference> references, double* values);
  void set(std::span<const Reference> references, const double* values);
  /// A parameter that is no number; counters are integers.
  const Value& value(Reference reference, ValueType type);
  void set_value(Reference reference, Value value);

  void set_input_derivative(Reference reference, int order, double value);
  double output_derivative(Reference reference, int order);
  void directional_derivative(std::span<const Reference> unknowns, std::span<const Reference> knowns,
                              const double* seed, double* sensitivity);

  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);
  Snapshot restored_from(std::span<const std::uint8_t> bytes) const;
  std::vector<std::uint8_t> serialized(const Snapshot& snapshot) const;

 private:
  Place place_of(Reference reference) const;
  double real(Reference reference);
  void set_real(Reference reference, double value);
  void require_settable(Place place, Reference reference) const;
  void require_rollback() const;
  void require_step(Time from, Duration size) const;
  void configure_if_changed();
  /// Something the outputs and derivatives depend on has changed.
  void forget_results() { outputs_known_ = derivatives_known_ = rates_known_ = linearization_known_ = false; }
  double output(std::size_t index);
  double derivative(std::size_t index);
  double sensitivity(Place unknown, Place known) const;
  void advance_with_polynomials(Time from, Duration size);
  void count(Counter counter) { ++calls_[static_cast<std::size_t>(counter)]; }

  double* x() { return now_.data() + 1; }
  double* u() { return x() + states_; }
  double* du() { return u() + inputs_; }
  double* ddu() { return du() + inputs_; }
  /// Derivatives of this order for the next step.
  double* ahead(int order) { return ddu() + static_cast<std::size_t>(order) * inputs_; }
  Model::Point here() { return {now_[0], {x(), states_}, {u(), inputs_}, {du(), inputs_}, {ddu(), inputs_}}; }

  const FmuDefinition& definition_;
  std::unique_ptr<Model> model_;
  const VariableTable& variables_;
  References references_;
  std::size_t states_;
  std::size_t inputs_;

  unsigned phase_ = kInstantiated;
  bool experiment_known_ = false;
  Time stop_ = kNever;
  /// Time, states, inputs, their slopes and curvatures, and the derivatives of order 1 to 3 for the next step: in one
  /// piece, so that saving is one copy.
  std::vector<double> now_;
  int ahead_degree_ = 0;  ///< highest order given for the next step
  std::shared_ptr<const std::vector<Value>> parameters_;
  bool parameters_changed_ = true;

  std::vector<double> y_, dx_, dy_;
  Linearization linearization_;
  bool outputs_known_ = false;
  bool derivatives_known_ = false;
  bool rates_known_ = false;
  bool linearization_known_ = false;
  std::vector<double> coefficients_;
  std::array<std::int64_t, kCounterNames.size()> calls_{};
  Value counter_;  ///< what `value` returns for a counter
};

}  // namespace entrain::fmukit
