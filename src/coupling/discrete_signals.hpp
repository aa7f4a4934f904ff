#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/function_ref.hpp"
#include "entrain/graph.hpp"
#include "entrain/ids.hpp"
#include "entrain/subsystem.hpp"
#include "entrain/system_description.hpp"

namespace entrain::coupling {

/// A connection whose source is no real number.
struct DiscreteConnection {
  SubsystemId from;
  std::size_t output = 0;  ///< index in VariableTable::discrete_outputs
  SubsystemId to;
  std::size_t input = 0;  ///< index in VariableTable::discrete_inputs, or of the real input
  bool to_real = false;   ///< input = factor * number + offset; factor and offset mean nothing else
  double factor = 1.0;
  double offset = 0.0;
  ValueTable table = {};   ///< in the types of both ends; what it does not hold cannot be passed on
  bool from_real = false;  ///< `output` is a real one, sampled: factor * number + offset
};

/// A start value that the user gave to an input that takes no real numbers.
struct DiscreteStart {
  std::size_t subsystem;
  std::size_t input;
  Value value;
};

/// Whether a value of the one type can be passed on as one of the other: integers of all sizes to each other (each
/// value must fit), booleans as 0 and 1, both to real numbers; texts and bytes to their like.
bool can_feed(ValueType output, ValueType input);

/// The values that are no real numbers: integers, booleans, texts, bytes. They have one value per communication time
/// and are held between: an input takes, at a communication time of its subsystem, what its source had at its own
/// latest one (ADR 0019). Nothing of this touches the steps.
class DiscreteSignals {
 public:
  /// Borrows the subsystems, all of the system, and the real signals.
  DiscreteSignals(const std::vector<Subsystem*>& subsystems, const std::vector<DiscreteConnection>& connections,
                  const Graph& graph, std::span<const double> signals);

  /// A start value that the user gave to an input.
  void set_start(std::size_t subsystem, std::size_t input, const Value& value);

  /// A value for an input that nothing feeds, from now on.
  void set_input(std::size_t subsystem, std::size_t input, const Value& value);
  /// The connection that feeds an input, a real or a discrete one; nullptr if there is none.
  const DiscreteConnection* feeder(std::size_t subsystem, std::size_t input, bool real) const;

  /// Reads those outputs that are connected, or all.
  void read(bool all);
  /// Passes on what was read, to subsystems whose time is `now`. True when a discrete input changed.
  bool write(Time now, std::span<const Time> times);
  /// Numbers for real inputs. `receive(connection, value)` is called for those whose source changed.
  template <class Receive>
  void write_reals(Receive&& receive) {
    for (std::size_t c = 0; c < real_connections_.size(); ++c) {
      const auto& connection = real_connections_[c];
      const double value = number(connection);
      if (value == sent_[c]) continue;
      sent_[c] = value;
      receive(connection, value);
    }
  }

  // For event phases, which decide themselves what is passed on to a subsystem.
  const std::vector<DiscreteConnection>& connections() const { return connections_; }
  bool is_connected(std::size_t subsystem, std::size_t output) const;
  /// `write` passes it by.
  void leave_to_events(std::size_t subsystem);
  void read(std::size_t subsystem, std::span<const std::size_t> outputs);
  using Wanted = base::FunctionRef<bool(const DiscreteConnection&, bool changed)>;
  bool would_pass_on(std::size_t subsystem, Wanted wanted);
  /// Takes what is wanted of its incoming connections; `write_collected` sets it in the subsystem. Valid until then.
  std::span<const DiscreteConnection* const> collect(std::size_t subsystem, Wanted wanted);
  void write_collected(std::size_t subsystem);
  /// What the connection begins with; valid until this is asked again.
  const Value& source(const DiscreteConnection& connection) const;

  /// Those that the last write changed, "subsystem.variable"; without any, the real inputs that discrete outputs feed.
  std::vector<std::string> changed_inputs() const;
  /// Inputs that still changed when the search for consistent values at the start was given up.
  const std::vector<std::string>& unsettled() const { return unsettled_; }
  void note_unsettled() { unsettled_ = changed_inputs(); }

  /// All outputs in the order of the subsystems, then all inputs.
  std::span<const Value> values() const { return values_; }

  /// All there is to be remembered: what is written follows from it.
  using Memory = std::vector<Value>;
  const Memory& memory() const { return values_; }
  /// Real inputs are all sent anew afterwards.
  void restore(const Memory& memory);
  /// Before the start of a run: every value counts as changed.
  void forget();

 private:
  /// What one subsystem has to do with it.
  struct Member {
    Subsystem* subsystem = nullptr;
    std::size_t index = 0;         ///< of the subsystem
    std::size_t first_output = 0;  ///< in values_
    std::size_t first_input = 0;   ///< in values_
    std::vector<std::size_t> all_outputs, connected_outputs;
    std::vector<DiscreteConnection> incoming;
    bool in_phases = false;  ///< written in event phases only
    std::vector<std::size_t> changed_inputs;
    std::vector<const DiscreteConnection*> changed_by;
    std::vector<Value> buffer;
  };

  /// What the connection passes on, before it is made to fit its input. Throws where a table does not know the source.
  const Value& passed(const DiscreteConnection& connection) const;
  double number(const DiscreteConnection& connection) const;
  Value fitting(const Member& member, const DiscreteConnection& connection) const;
  Member* member(std::size_t subsystem);
  void read(Member& member, std::span<const std::size_t> outputs);
  bool collect(Member& member, Wanted wanted);
  void write_collected(Member& member);

  std::vector<Member> members_;            ///< those with discrete inputs or outputs
  std::vector<std::size_t> first_output_;  ///< by subsystem, in values_
  std::vector<Value> values_;
  std::vector<unsigned char> written_;  ///< by value: it has been set in the subsystem
  std::vector<DiscreteConnection> real_connections_;
  std::vector<double> sent_;              ///< by real connection
  std::vector<std::string> real_inputs_;  ///< by real connection
  std::vector<Subsystem*> subsystems_;
  std::vector<DiscreteConnection> connections_;
  const Graph& graph_;
  std::span<const double> signals_;
  mutable Value sampled_;  ///< of the connection from a real output that was asked for last
  std::vector<std::string> unsettled_;
};

}  // namespace entrain::coupling
