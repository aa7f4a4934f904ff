#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "coupling/signal_store.hpp"
#include "coupling/step_executor.hpp"
#include "entrain/run_summary.hpp"

namespace entrain::coupling {

/// An entry of a scenario, its names resolved.
struct ScenarioEntry {
  /// On an output or an input, looked at between macro steps.
  struct Condition {
    enum class Relation : unsigned char { Below, AtMost, Above, AtLeast };
    bool of_output = true;
    std::size_t signal = 0;  ///< an OutputId or an InputId
    Relation relation = Relation::Below;
    double limit = 0.0;

    bool holds(double reading) const;  ///< never for NaN
  };
  struct Parameter {
    SubsystemId subsystem;
    std::size_t index = 0;  ///< in VariableTable::parameters
    Value start;            ///< what it has without the scenario
  };

  std::size_t number = 0;  ///< of SystemDescription::scenario
  ScenarioAction action = ScenarioAction::Set;
  std::string target;  ///< as written
  std::optional<Time> at;
  std::optional<Condition> when;
  std::vector<InputId> inputs;  ///< whose connections it concerns; or
  std::optional<Parameter> parameter;
  std::optional<Value> value;
  Duration over = 0.0;
  Duration interval = 0.0;
  std::uint64_t stream = 0;  ///< of random numbers
};

/// A number of the standard normal distribution that depends on its arguments alone: the same on every thread, in every
/// order, after every restart.
double normal_number(std::uint64_t stream, std::uint64_t counter);

/// What happens to connections, inputs and parameters during a run (ADR 0092). Everything changes at instants: the
/// times that are written, ends of ramps, new values of noise, and the communication times at which a condition is
/// found true. What is in force is a value, part of every save of the whole system. Between macro steps it is called
/// by the runner; inside them nothing of it changes, but for the lines that the transfer plan follows.
///
/// On each place the signal is replaced first (set, ramp, freeze, drop), then scaled, then biased, then noise is added.
class Scenario {
 public:
  /// Borrows all but the entries.
  Scenario(const Graph& graph, SignalStore& store, StepExecutor& executor, std::vector<ScenarioEntry> entries);

  /// A start value that is given before the run: what a parameter has without the scenario.
  void set_start(SubsystemId s, std::size_t parameter, const Value& value);
  /// As at the start of a run, before the subsystems begin: nothing is in force.
  void start(Time start);
  /// The first instant after `t` that is known before; kNever if there is none.
  Time next_instant(Time t) const;
  /// Something happens at this time, which the run has reached.
  bool is_due(Time t) const;
  /// Lets it happen. The entries that took effect are appended to `effects`.
  void run(Time t, std::vector<ScenarioEffect>& effects);
  /// Before the step that begins here: conditions are found true on the line from what their signals are now.
  void look(Time t);
  /// Ramps on their way: connections and parameters at this time.
  void follow(Time t);
  /// Entries whose condition never came true.
  std::vector<const ScenarioEntry*> never_true() const;

  base::Bytes memory() const { return base::to_bytes(memory_); }
  void restore(std::span<const std::byte> bytes);

 private:
  /// An input or a parameter, and what it is without the scenario.
  struct Place {
    std::optional<InputId> input;
    std::optional<ScenarioEntry::Parameter> parameter;
    double factor = 1.0;   // of the connection ...
    double offset = 0.0;   // ... as written
    double dropped = 0.0;  // the value of an input that nothing feeds
    SubsystemId owner;
    bool is_real = true;
  };
  /// What is in force on it.
  struct InForce {
    bool replaced = false;
    // The line level + slope (t - since), up to `until`.
    double level = 0.0;
    double slope = 0.0;
    Time since = 0.0;
    Time until = 0.0;
    double scale = 1.0;
    double bias = 0.0;
    std::uint64_t noise = 0;  // entry + 1; 0 = none
    Time noise_since = 0.0;
    std::uint64_t noise_count = 0;              // intervals since then
    std::optional<Value> other = std::nullopt;  // of a parameter that is no real number

    double line(Time t) const { return slope == 0.0 ? level : level + slope * (std::min(t, until) - since); }
    bool is_moving(Time t) const { return slope != 0.0 && t < until; }

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(replaced, level, slope, since, until, scale, bias, noise, noise_since, noise_count, other);
    }
  };
  struct Memory {
    Time now = 0.0;
    std::vector<unsigned char> done;  // by entry
    std::vector<InForce> places;
    Time looked_at = 0.0;
    std::vector<double> seen;  // by entry: the signal of its condition then

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(now, done, places, looked_at, seen);
    }
  };

  void add_places(const ScenarioEntry& entry);
  double signal_of(const ScenarioEntry::Condition& condition) const;
  bool is_due(std::size_t entry, Time t) const;
  ScenarioEffect act(std::size_t entry, Time t);
  void act_on(const ScenarioEntry& entry, std::size_t place, Time t);
  Time crossing(std::size_t entry, Time t) const;
  double base_value(std::size_t place, Time t) const;
  double added(const InForce& of) const;
  bool settle(InForce& of, Time t) const;
  Time noise_end(const InForce& of) const;
  void put_in_force(std::size_t place, Time t);
  void set_parameter(std::size_t place, Time t);
  void show_inputs(std::span<const std::size_t> places, Time t);

  const Graph& graph_;
  SignalStore& store_;
  StepExecutor& executor_;
  std::vector<ScenarioEntry> entries_;
  std::vector<std::size_t> by_time_;                 // entries, those with a time first
  std::vector<std::vector<std::size_t>> places_of_;  // by entry
  std::vector<Place> places_;
  std::vector<std::optional<Value>> parameter_in_force_;  // by place: as set last; nullopt = its start
  Memory memory_;
};

}  // namespace entrain::coupling
