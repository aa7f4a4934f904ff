#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/capabilities.hpp"
#include "entrain/fact.hpp"
#include "entrain/variable.hpp"

namespace entrain {

inline constexpr Time kNever = std::numeric_limits<Time>::infinity();

/// The inputs of one subsystem over one step, as polynomials of the local time s = t - (start of the step):
/// u_i(s) = sum_p order(p)[i] s^p. Stored order by order, so that the values and each derivative lie contiguously.
class InputBlock {
 public:
  InputBlock(const double* coefficients, std::size_t count, int degree)
      : coefficients_(coefficients), count_(count), degree_(degree) {}

  std::size_t count() const { return count_; }
  int degree() const { return degree_; }
  std::span<const double> order(int p) const { return {coefficients_ + static_cast<std::size_t>(p) * count_, count_}; }

  double value(std::size_t input, Duration s) const {
    double sum = 0.0;
    for (int p = degree_; p >= 0; --p) sum = sum * s + order(p)[input];
    return sum;
  }
  double slope(std::size_t input, Duration s) const {
    double sum = 0.0;
    for (int p = degree_; p >= 1; --p) sum = sum * s + p * order(p)[input];
    return sum;
  }
  double curvature(std::size_t input, Duration s) const {
    double sum = 0.0;
    for (int p = degree_; p >= 2; --p) sum = sum * s + p * (p - 1) * order(p)[input];
    return sum;
  }

 private:
  const double* coefficients_;
  std::size_t count_;
  int degree_;
};

enum class StepOutcome : std::uint8_t {
  Completed,
  EndedEarly,  ///< `reached` lies before the end: an event, or the simulator asked to stop there
  Rejected,    ///< the step was not made; the state is undefined until a saved one is restored
};

struct [[nodiscard]] StepReport {
  Time reached = 0.0;
  StepOutcome outcome = StepOutcome::Completed;
  bool stop_requested = false;
  bool event = false;  ///< one waits at `reached` to be handled together with the other subsystems (EventMode)
};

/// A step under held inputs without per-call overhead: for light subsystems, which make millions of steps.
struct HeldStep {
  /// Null when the step was completed; else what happened, valid until the next call. Throws as Subsystem::step does.
  using Function = const StepReport* (*)(void* context, Time from, Duration size, const double* inputs,
                                         double* outputs);
  Function function = nullptr;
  void* context = nullptr;
};

/// A matrix, row by row. Public headers carry no linear algebra library.
struct Matrix {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<double> values;

  Matrix() = default;
  Matrix(std::size_t row_count, std::size_t col_count) : rows(row_count), cols(col_count), values(rows * cols, 0.0) {}
  double& operator()(std::size_t row, std::size_t col) { return values[row * cols + col]; }
  double operator()(std::size_t row, std::size_t col) const { return values[row * cols + col]; }
  void resize(std::size_t row_count, std::size_t col_count) {
    rows = row_count;
    cols = col_count;
    values.assign(rows * cols, 0.0);
  }
};

/// dx/dt = A x + B u + rest, y = C x + D u + rest, at one point. (Descriptor form and a D' for u' would be added here.)
struct Linearization {
  Matrix A, B, C, D;
};

/// A saved state inside one subsystem; meaningless to anyone else.
enum class StateId : std::uint32_t {};

/// Saves and restores the whole state: after restore, the same step gives the same bits.
class Rollback {
 public:
  virtual ~Rollback() = default;
  virtual StateId save() = 0;
  virtual void restore(StateId id) = 0;
  virtual void release(StateId id) = 0;

  /// Whether a saved state can be written to a file and go on in another process. Without, a run can be taken back but
  /// not continued from a checkpoint file.
  virtual bool can_serialize() const { return false; }
  /// A saved state as bytes that another object of the same subsystem understands, in another process too.
  virtual std::vector<std::byte> serialize(StateId) { return {}; }
  /// Called after Subsystem::initialize: a saved state, as if `save` had been called where the bytes were made; to be
  /// restored and released like any other.
  virtual StateId deserialize(std::span<const std::byte> /*bytes*/) { return {}; }
};

/// Continuous states at the time reached.
class States {
 public:
  virtual ~States() = default;
  virtual void states(std::span<double> x) = 0;
  /// At the time reached, with the inputs as they ended there.
  virtual void derivatives(std::span<double> dx) = 0;
};

class Linearizer {
 public:
  virtual ~Linearizer() = default;
  /// At the time reached, with the inputs as they ended there. Reuses the storage of `result`.
  virtual void linearize(Linearization& result) = 0;
};

class OutputDerivatives {
 public:
  virtual ~OutputDerivatives() = default;
  /// d(outputs)/dt at the time reached, in unit/s, with the inputs as they ended there.
  virtual void output_derivatives(std::span<double> dy) = 0;
};

/// The equations themselves, for an integrator outside.
class Equations {
 public:
  /// A point in the space of all arguments; `du` are the time derivatives of the inputs.
  struct Point {
    Time t;
    std::span<const double> x, u, du;
  };
  virtual ~Equations() = default;
  virtual void state(std::span<double> x) = 0;
  virtual void right_hand_side(const Point& at, std::span<double> dx) = 0;
  virtual void outputs(const Point& at, std::span<double> y) = 0;
  /// Time derivatives of the outputs along the motion.
  virtual void output_rates(const Point& at, std::span<double> dy) = 0;
  /// True when `outputs` really depends on `du`: such a subsystem differentiates its input.
  virtual bool reads_input_derivatives() const = 0;
  /// The first time after `t` at which f or g is not smooth; kNever if none.
  virtual Time next_discontinuity(Time t) const = 0;
  /// State events: f and g are smooth as long as no indicator changes its sign.
  virtual std::size_t event_indicator_count() const { return 0; }
  virtual void event_indicators(const Point&, std::span<double>) {}
  /// Called where an indicator changed its sign and at announced times: may change `x` (the numbers of at.x) and what
  /// the subsystem remembers, and does nothing when nothing has happened. True when it must be called again.
  virtual bool handle_event(const Point&, std::span<double>) { return false; }
  /// Whether every internal step of the integrator outside must be reported by `complete_step`.
  virtual bool wants_completed_steps() const { return false; }
  /// An internal step ended at `at`. True when an event must be handled there.
  virtual bool complete_step(const Point&) { return false; }
  /// True when the subsystem requests the end of the run where it is.
  virtual bool stop_requested() const { return false; }
  /// Where the integrator outside has got to: from now on the other facets refer to this point. The calls above, but
  /// for handle_event, do not change what the subsystem has reached.
  virtual void move_to(const Point& at) = 0;
};

class Events {
 public:
  virtual ~Events() = default;
  /// The next announced discontinuity after `t`; kNever if none is known.
  virtual Time next_event(Time t) = 0;
};

class Reset {
 public:
  virtual ~Reset() = default;
  /// Back to before `initialize`; start values given before are kept.
  virtual void reset() = 0;
};

/// Parameters that may change during a run.
class Tuning {
 public:
  virtual ~Tuning() = default;
  /// At the time reached; the type is the variable's. `parameter`: index in VariableTable::parameters, a tunable one.
  virtual void set_parameter(std::size_t parameter, const Value& value) = 0;
};

/// Inputs and outputs that are no real numbers.
class DiscreteValues {
 public:
  virtual ~DiscreteValues() = default;
  /// At the time reached. One value per index in VariableTable::discrete_outputs; their storage is reused.
  virtual void read(std::span<const std::size_t> outputs, std::span<Value> values) = 0;
  /// From the time reached on. One value per index in VariableTable::discrete_inputs, of its type.
  virtual void write(std::span<const std::size_t> inputs, std::span<const Value> values) = 0;
};

/// Variables that are no ports: locals, parameters, and the states of a subsystem without the facet States.
class InnerValues {
 public:
  virtual ~InnerValues() = default;
  /// At the time reached. One value per place, of the type of its variable; their storage is reused.
  virtual void read_inner(std::span<const VariableTable::Place> places, std::span<Value> values) = 0;
};

/// `counter` / `resolution` seconds, exactly.
struct ClockInterval {
  std::uint64_t counter = 0;
  std::uint64_t resolution = 1;  ///< ticks per second
  bool operator==(const ClockInterval&) const = default;
};

/// Takes part in the event phases of the system: between two steps, at one instant, all subsystems concerned are in
/// event mode and exchange values until nothing changes (docs/adr/0056). DiscreteValues::write and read are called in
/// it, too.
class EventMode {
 public:
  /// A port in an event phase; the index is that of the list in VariableTable.
  enum class Port : std::uint8_t { Real, Discrete, Clock };
  struct Update {
    bool again = false;           ///< another one is needed
    bool stop_requested = false;  ///< the subsystem asks to end the run
  };
  enum class Announced : std::uint8_t { NotYet, Unchanged, Changed };

  virtual ~EventMode() = default;
  /// Before Subsystem::initialize: from now on events wait for the phase. Without, the subsystem handles them itself.
  virtual void share_events() = 0;
  /// A step can end at an event that was not announced.
  virtual bool finds_events() const = 0;
  /// `watch` is asked at times that steps reach on their way, inside them; true = the step is to end there, as at an
  /// event. Null ends that. False when no step can be ended so.
  virtual bool watch_steps(const std::function<bool(Time)>* /*watch*/) { return false; }
  /// An event waits at the time reached. Announced ones are in the facet Events.
  virtual bool event_waits() const = 0;
  /// Does nothing in event mode. After the initialization it is there already.
  virtual void enter() = 0;
  /// Back to where steps are made.
  virtual void leave() = 0;
  virtual Update update() = 0;

  // In event mode. Real inputs and outputs are all of them.
  virtual void set_inputs(std::span<const double> inputs) = 0;
  virtual void read_outputs(std::span<double> outputs) = 0;
  virtual void activate(std::span<const std::size_t> clocks) = 0;
  /// One number per clock: not 0 when this output clock is active.
  virtual void read_active(std::span<const std::size_t> clocks, std::span<unsigned char> active) = 0;
  /// Of an input clock with times; `interval` is set where it has changed, or is asked for the first time.
  virtual Announced read_interval(std::size_t clock, ClockInterval& interval) = 0;
  /// Until its first tick, of a periodic one.
  virtual ClockInterval shift(std::size_t clock) = 0;
  /// Whether an output is declared to follow an input in the same phase.
  virtual bool depends(Port output_kind, std::size_t output, Port input_kind, std::size_t input) const = 0;
};

class SplitStep;
struct DatagramCounters;

/// Of a part outside the computer: what passed between it and the run.
class Remote {
 public:
  virtual ~Remote() = default;
  virtual DatagramCounters datagrams() = 0;
  /// Before `initialize`: answers are kept from then on, for so many steps at most.
  virtual void keep_answers(std::size_t /*steps*/) {}
  /// Outputs by their own times, in the order of arrival; those that arrived late too.
  struct Answers {
    std::vector<Time> times;
    std::vector<double> outputs;  ///< of one time after the other
  };
  virtual Answers answers() { return {}; }
};

/// Optional abilities; null = this subsystem cannot. Same lifetime as the subsystem, and in line with its capabilities.
struct Facets {
  Rollback* rollback = nullptr;
  States* states = nullptr;
  Linearizer* linearizer = nullptr;
  OutputDerivatives* output_derivatives = nullptr;
  Equations* equations = nullptr;
  Events* events = nullptr;
  Reset* reset = nullptr;
  Tuning* tuning = nullptr;
  DiscreteValues* discrete = nullptr;
  InnerValues* inner = nullptr;
  SplitStep* split = nullptr;
  EventMode* event_mode = nullptr;
  Remote* remote = nullptr;
};

/// One participant of a co-simulation: a native model, an FMU, a remote worker.
///
/// Call order: set_start*, initialize, evaluate*, then steps. Not thread-safe; distinct subsystems may run
/// concurrently. Every call may throw Error{SubsystemFailed}; after that only destruction is allowed.
class Subsystem {
 public:
  struct Step {
    Time from = 0.0;
    Duration size = 0.0;  ///< > 0
    InputBlock inputs;    ///< degree at most capabilities().input_degree
  };

  virtual ~Subsystem() = default;
  virtual std::string_view name() const noexcept = 0;
  virtual const VariableTable& variables() const noexcept = 0;
  /// Asked after set_start; throws Error{InvalidSystem} when a start value makes no sense.
  virtual const Capabilities& capabilities() const = 0;
  virtual Facets facets() noexcept = 0;
  /// What may degrade the result, known so far. Grows at its end only; asked after initialize and at the end of a run.
  virtual std::vector<Fact> warnings() const { return {}; }

  /// A start value of a parameter, state or input. The type has been matched with the variable's.
  virtual void set_start(VariableTable::Place place, const Value& value) = 0;
  virtual void initialize(Time start, Time stop) = 0;
  /// Outputs at the time reached for these input values. Before the first step always; later only with output_refresh.
  virtual void evaluate(std::span<const double> inputs, std::span<double> outputs) = 0;
  /// Advances and returns the outputs at the time reached, evaluated with the inputs as they ended there.
  virtual StepReport step(const Step& step, std::span<double> outputs) = 0;
  /// The same as `step` with inputs of degree 0, by a shorter path where there is one. As long-lived as the subsystem.
  virtual HeldStep held_step() noexcept { return {}; }
};

/// What is read of a subsystem after a step, asked for together with it.
struct StepReadings {
  bool output_derivatives = false;
  bool states = false;
  bool state_derivatives = false;
};

/// For a subsystem that computes elsewhere, in another process or on another machine: a step in two halves, so that all
/// of a batch compute at the same time. Subsystem::step is one after the other.
class SplitStep {
 public:
  virtual ~SplitStep() = default;
  /// Sends the step and returns at once; inputs, step and `readings` in one message. `step.inputs` is valid
  /// until `wait` returns. The other facets answer `readings` from what the message brought back.
  virtual void post(const Subsystem::Step& step, const StepReadings& readings) = 0;
  /// What came of the step that was posted, as Subsystem::step. Called once after each `post`.
  virtual StepReport wait(std::span<double> outputs) = 0;
};

}  // namespace entrain
