#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/subsystem.hpp"
#include "subsystem/fmi/fmu_log.hpp"
#include "subsystem/fmi/library.hpp"
#include "subsystem/fmi/model_description.hpp"

namespace entrain::subsystem {

enum class FmuStatus { Ok, Warning, Discard, Error, Fatal };

/// What a call returned, and which function of the standard it was.
struct [[nodiscard]] FmuResult {
  FmuStatus status = FmuStatus::Ok;
  const char* function = "";

  bool done() const { return status <= FmuStatus::Warning; }
};

/// Of two calls that both were done the one with the graver status, else the second: no warning is lost.
inline FmuResult graver(const FmuResult& first, const FmuResult& second) {
  return second.done() && first.status > second.status ? first : second;
}

/// Which real variables a call is about; the values lie in their order, those of type Float64 first. Borrowed.
struct FmuReals {
  std::span<const ValueReference> doubles;
  std::size_t double_values = 0;  ///< more than references where there are arrays
  std::span<const ValueReference> floats = {};
  std::size_t float_values = 0;

  FmuReals() = default;
  FmuReals(std::span<const ValueReference> d, std::size_t dn, std::span<const ValueReference> f, std::size_t fn)
      : doubles(d), double_values(dn), floats(f), float_values(fn) {}
  // Scalars of type Float64, which most calls are about, without a word more.
  // NOLINTNEXTLINE(google-explicit-constructor)
  FmuReals(std::span<const ValueReference> scalars) : doubles(scalars), double_values(scalars.size()) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  FmuReals(const std::vector<ValueReference>& scalars) : FmuReals(std::span(scalars)) {}
  FmuReals(const ValueReference* first, std::size_t count) : FmuReals(std::span(first, count)) {}
  bool empty() const { return doubles.empty() && floats.empty(); }
};

/// One communication step with everything that belongs to it.
struct FmuStepCall {
  Time from = 0.0;
  Duration size = 0.0;
  bool may_go_back = false;  ///< the state may be set to one before `from` later
  FmuReals inputs;
  const double* input_values = nullptr;
  /// Derivatives of the inputs at `from`, p-th ones in unit/s^p; none = empty.
  std::span<const ValueReference> derivative_inputs;
  const int* derivative_orders = nullptr;
  const double* derivative_values = nullptr;
  FmuReals outputs;
  /// FMI 3: inputs of degree 1 and more, from which the FMU's questions inside the step are answered.
  const InputBlock* polynomials = nullptr;
};

struct [[nodiscard]] FmuStepResult {
  FmuResult result;    ///< of the call that failed, else of the step
  Time reached = 0.0;  ///< the end of the step, or how far it came
  bool terminated = false;
  bool event = false;      ///< one was found at `reached` and must be handled in event mode
  int input_requests = 0;  ///< how often the FMU asked for inputs inside the step
  int refused_order = 0;   ///< the lowest order of input derivatives that it took with a warning; 0 = none
};

/// What fmi3DoStep returns about its end.
struct FmuEnding {
  Time last = 0.0;  ///< set to the start before: for FMUs that end early without a word where
  bool event = false;
  bool terminate = false;
  bool early = false;
};

/// Where a held step was left: a call that did not simply succeed.
struct FmuHalt {
  enum class Call : std::uint8_t { None, Set, Step, Get };
  Call call = Call::None;
  int status = 0;  ///< of the version
  FmuEnding ending;
};

/// Makes the steps that the held step cannot make, or not to the end.
class FmuStepOwner {
 public:
  virtual const StepReport* step_at_length(const Subsystem::Step& step, double* outputs) = 0;
  virtual const StepReport* resume(const FmuHalt& halt, const Subsystem::Step& step, double* outputs) = 0;

 protected:
  ~FmuStepOwner() = default;
};

/// The short path of steps under held inputs, the hot path: all it reads and writes lies in two cache lines.
struct alignas(64) FmuHeldStep {
  Time until = -kNever;    ///< steps that end later have something special about them
  Time reached = -kNever;  ///< by the last step of it, until that has been taken note of
  base::ForeignCode* code = nullptr;
  void* handle = nullptr;
  void (*set)() = nullptr;  ///< of the version's own types
  void (*step)() = nullptr;
  void (*get)() = nullptr;
  std::span<const ValueReference> inputs;
  std::span<const ValueReference> outputs;
  bool may_go_back = false;
  FmuStepOwner* owner = nullptr;
};

/// Of each version; the context is an FmuHeldStep.
HeldStep::Function fmi1_held_step();
HeldStep::Function fmi2_held_step();
HeldStep::Function fmi3_held_step();

/// What one pass of an event iteration returned.
struct [[nodiscard]] FmuEventUpdate {
  FmuResult result;
  bool again = false;        ///< the discrete states are not settled yet
  bool terminate = false;    ///< the FMU asks to end the run
  Time next_event = kNever;  ///< announced
};

/// What an FMU requests after an internal step of the integrator outside.
struct [[nodiscard]] FmuCompletedStep {
  FmuResult result;
  bool enter_event_mode = false;
  bool terminate = false;
};

/// What is passed to an FMU about the run before its initialization.
struct FmuExperiment {
  Time start = 0.0;
  Time stop = kNever;
  std::optional<double> tolerance = std::nullopt;  ///< relative, for a solver inside the FMU
};

/// How an instance is to be used.
struct FmuUse {
  FmuInterface interface = FmuInterface::CoSimulation;
  bool event_mode = false;  ///< co-simulation of FMI 3: the handling of events is left to the importer
};

/// One instance of an FMU in the terms that the versions of the standard share. A thin table: each function is one
/// call (a few, for `step`: it is the hot path). Needed in full by one adapter, hence not split into facets.
/// Throws Error{SubsystemFailed} only for a function that the library does not have.
class FmuInstance {
 public:
  /// A state inside the FMU. Given back with free_state; reused when passed to get_state again.
  using State = void*;

  virtual ~FmuInstance() = default;

  /// All elements of one variable, of its type. Throws Error{InvalidSystem} for a number that does not fit its type.
  virtual FmuResult set_values(const FmuVariable& variable, std::span<const Value> values) = 0;
  virtual FmuResult get_values(const FmuVariable& variable, std::span<Value> values) = 0;
  /// Between the two structural parameters may be set; before anything else. FMI 3 only.
  virtual FmuResult enter_configuration() = 0;
  virtual FmuResult exit_configuration() = 0;
  /// Before the initialization mode.
  virtual FmuResult set_up(const FmuExperiment& experiment) = 0;
  virtual FmuResult enter_initialization() = 0;
  virtual FmuResult exit_initialization() = 0;
  virtual FmuResult reset() = 0;

  virtual FmuResult set_reals(const FmuReals& reals, const double* values) = 0;
  virtual FmuResult get_reals(const FmuReals& reals, double* values) = 0;
  virtual FmuResult set_input_derivatives(std::span<const ValueReference> references, const int* orders,
                                          const double* values) = 0;
  virtual FmuResult get_output_derivatives(std::span<const ValueReference> references, const int* orders,
                                           double* values) = 0;
  /// d(unknowns)/d(knowns) times `seed`: one number for each element of a known, one out of each of an unknown.
  virtual FmuResult directional_product(std::span<const ValueReference> unknowns,
                                        std::span<const ValueReference> knowns, std::span<const double> seed,
                                        std::span<double> product) = 0;
  /// `seed` times d(unknowns)/d(knowns), the adjoint direction. FMI 3 only.
  virtual FmuResult adjoint_product(std::span<const ValueReference> unknowns, std::span<const ValueReference> knowns,
                                    std::span<const double> seed, std::span<double> product) = 0;

  virtual FmuResult get_state(State& state) = 0;
  virtual FmuResult set_state(State state) = 0;
  virtual FmuResult free_state(State& state) = 0;
  virtual FmuResult serialize_state(State state, std::vector<std::byte>& bytes) = 0;
  virtual FmuResult deserialize_state(std::span<const std::byte> bytes, State& state) = 0;

  virtual FmuResult enter_event_mode() = 0;
  virtual FmuEventUpdate update_discrete_states() = 0;
  /// From event mode back to where steps are made; in model exchange that is the continuous-time mode.
  virtual FmuResult enter_step_mode() = 0;

  // Clocks of FMI 3.
  virtual FmuResult activate_clocks(std::span<const ValueReference> /*clocks*/) { return no_clocks(); }
  /// Not 0: active.
  virtual FmuResult get_clocks(std::span<const ValueReference> /*clocks*/, std::span<unsigned char> /*active*/) {
    return no_clocks();
  }
  virtual FmuResult get_interval(const FmuVariable& /*clock*/, ClockInterval&, EventMode::Announced&) {
    return no_clocks();
  }
  virtual FmuResult get_shift(const FmuVariable& /*clock*/, ClockInterval&) { return no_clocks(); }
  /// Scheduled execution only.
  virtual FmuResult activate_partition(ValueReference /*clock*/, Time) { return no_clocks(); }

  /// FMI 3: `watch` is asked at times that steps reach inside; true ends the step there. False where that is not
  /// possible.
  virtual bool watch_steps(const std::function<bool(Time)>* /*watch*/) { return false; }
  /// The last step was ended by it. Asked once.
  virtual bool take_stopped() { return false; }
  virtual FmuStepResult step(const FmuStepCall& call, double* outputs) = 0;
  /// Fills in what a held step needs of this instance.
  virtual void open(FmuHeldStep& held) const = 0;
  /// The rest of a held step that was left.
  virtual FmuStepResult resumed(const FmuHalt& halt, const FmuStepCall& call, double* outputs) = 0;

  // Model exchange only.
  virtual FmuResult set_time(Time t) = 0;
  virtual FmuResult set_continuous_states(std::span<const double> x) = 0;
  virtual FmuResult get_continuous_states(std::span<double> x) = 0;
  virtual FmuResult get_nominals(std::span<double> nominals) = 0;
  virtual FmuResult get_derivatives(std::span<double> dx) = 0;
  virtual FmuResult get_event_indicators(std::span<double> z) = 0;
  /// Leaves `count` as it is when the description contains it.
  virtual FmuResult count_event_indicators(std::size_t& count) = 0;
  virtual FmuCompletedStep complete_integrator_step(bool may_go_back) = 0;

 private:
  static FmuResult no_clocks() { return {FmuStatus::Error, "a clock"}; }
};

/// Makes instances; holds the functions of the library that they share.
class FmuFunctions {
 public:
  virtual ~FmuFunctions() = default;
  /// Null when the FMU refuses; then `log` may know why. Borrows description, functions and log.
  virtual std::unique_ptr<FmuInstance> instantiate(const std::string& name, const std::filesystem::path& root,
                                                   const FmuUse& use, FmuLog& log) const = 0;
};

/// Of the version in the description. Borrow both.
std::unique_ptr<FmuFunctions> make_fmi1_functions(const FmuLibrary& library, const FmuDescription& description);
std::unique_ptr<FmuFunctions> make_fmi2_functions(const FmuLibrary& library, const FmuDescription& description);
std::unique_ptr<FmuFunctions> make_fmi3_functions(const FmuLibrary& library, const FmuDescription& description);

/// The value in the FMU's own integer type. Throws Error{InvalidSystem} when it does not fit.
template <class Integer>
Integer checked_integer(const FmuVariable& variable, const Value& value) {
  const auto wide = std::get<std::int64_t>(value);
  if (std::in_range<Integer>(wide)) return static_cast<Integer>(wide);
  throw Error(ErrorCode::InvalidSystem,
              {FactCode::ValueDoesNotFit, {}, {{"value", std::to_string(wide)}, {"type", to_string(variable.type)}}},
              {.subsystem = {}, .variable = variable.name, .time = {}, .remedy = {}});
}

}  // namespace entrain::subsystem
