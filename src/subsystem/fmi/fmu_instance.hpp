#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "entrain/error.hpp"
#include "entrain/variable.hpp"
#include "subsystem/fmi/fmu_log.hpp"
#include "subsystem/fmi/library.hpp"
#include "subsystem/fmi/model_description.hpp"

namespace entrain {

enum class FmuStatus { Ok, Warning, Discard, Error, Fatal };

/// What a call returned, and which function of the standard it was.
struct [[nodiscard]] FmuResult {
  FmuStatus status = FmuStatus::Ok;
  const char* function = "";

  bool done() const { return status <= FmuStatus::Warning; }
};

/// One communication step with everything that belongs to it.
struct FmuStepCall {
  Time from = 0.0;
  Duration size = 0.0;
  bool may_go_back = false;  ///< the state may be set to one before `from` later
  std::span<const ValueReference> inputs;
  const double* input_values = nullptr;
  /// Derivatives of the inputs at `from`, p-th ones in unit/s^p; none = empty.
  std::span<const ValueReference> derivative_inputs;
  const int* derivative_orders = nullptr;
  const double* derivative_values = nullptr;
  std::span<const ValueReference> outputs;
};

struct [[nodiscard]] FmuStepResult {
  FmuResult result;    ///< of the call that failed, else of the step
  Time reached = 0.0;  ///< the end of the step, or how far it came
  bool terminated = false;
};

/// One instance of an FMU in the terms that both versions of the standard share. A thin table: each function is one
/// call (a few, for `step`: it is the hot path). Needed in full by one adapter, hence not split into facets.
/// Throws Error{SubsystemFailed} only for a function that the library does not have.
class FmuInstance {
 public:
  /// A state inside the FMU. Given back with free_state; reused when passed to get_state again.
  using State = void*;

  virtual ~FmuInstance() = default;

  virtual FmuResult set_value(const FmuVariable& variable, const Value& value) = 0;
  /// Says when the run starts and ends; before the initialization mode.
  virtual FmuResult set_up(Time start, Time stop) = 0;
  virtual FmuResult enter_initialization() = 0;
  virtual FmuResult exit_initialization() = 0;
  virtual FmuResult reset() = 0;

  virtual FmuResult set_reals(std::span<const ValueReference> references, const double* values) = 0;
  virtual FmuResult get_reals(std::span<const ValueReference> references, double* values) = 0;
  virtual FmuResult set_input_derivatives(std::span<const ValueReference> references, const int* orders,
                                          const double* values) = 0;
  virtual FmuResult get_output_derivatives(std::span<const ValueReference> references, const int* orders,
                                           double* values) = 0;
  /// d(unknowns)/d(known), one column of a Jacobian.
  virtual FmuResult directional_derivative(std::span<const ValueReference> unknowns, ValueReference known,
                                           double* column) = 0;

  virtual FmuResult get_state(State& state) = 0;
  virtual FmuResult set_state(State state) = 0;
  virtual FmuResult free_state(State& state) = 0;

  virtual FmuStepResult step(const FmuStepCall& call, double* outputs) = 0;
};

/// Makes instances; holds the functions of the library that they share.
class FmuFunctions {
 public:
  virtual ~FmuFunctions() = default;
  /// Null when the FMU refuses; then `log` may know why. Borrows description, functions and log.
  virtual std::unique_ptr<FmuInstance> instantiate(const std::string& name, const std::filesystem::path& root,
                                                   FmuLog& log) const = 0;
};

/// Of the version that the description says. Borrow both.
std::unique_ptr<FmuFunctions> make_fmi2_functions(const FmuLibrary& library, const FmuDescription& description);
std::unique_ptr<FmuFunctions> make_fmi3_functions(const FmuLibrary& library, const FmuDescription& description);

/// Categories of log messages about trouble, among those that an FMU offers.
std::vector<const char*> trouble_categories(const FmuDescription& description);

/// The value in the FMU's own integer type. Throws Error{InvalidSystem} when it does not fit.
template <class Integer>
Integer checked_integer(const FmuVariable& variable, const Value& value) {
  const auto wide = std::get<std::int64_t>(value);
  if (std::in_range<Integer>(wide)) return static_cast<Integer>(wide);
  throw Error(ErrorCode::InvalidSystem,
              "the value " + std::to_string(wide) + " does not fit its type, " + std::string(to_string(variable.type)),
              {.subsystem = {}, .variable = variable.name, .time = {}, .remedy = {}});
}

}  // namespace entrain
