#pragma once

#include <memory>

#include "entrain/subsystem.hpp"
#include "worker/messages.hpp"

namespace entrain::worker {

inline Dimensions dimensions_of(const VariableTable& variables) {
  return {variables.inputs.size(), variables.outputs.size(), variables.states.size()};
}
inline std::size_t box_size(const Dimensions& of) {
  return kMailboxSize + Numbers::count(of) * sizeof(double);
}

/// A subsystem in its worker: makes the calls that come by its mailbox.
class ServedSubsystem {
 public:
  ServedSubsystem(base::SharedMemory& memory, ProcessPage& page, const base::Segment& box,
                  std::unique_ptr<Subsystem> subsystem);

  Mailbox& box() { return box_; }
  /// The call in the mailbox; what it throws is its answer.
  void answer();

 private:
  using Handler = void (ServedSubsystem::*)();
  static Handler handler(Operation operation);
  void answer_with(const Error& error);
  void settle();
  void note_equations();
  void note_events();
  Equations::Point point() const;

  void set_start();
  void abilities();
  void warnings();
  void initialize();
  void finish_initialization();
  void note_used_before();
  void evaluate();
  void step();
  void output_derivatives();
  void states();
  void state_derivatives();
  void linearize();
  void save();
  void serialize();
  void deserialize();
  void reset();
  void next_event();
  void set_parameter();
  void read_discrete();
  void write_discrete();
  void read_inner();
  void refusal();
  void reading();
  void proof();
  void share_events();
  void event_dependencies();
  void enter_events();
  void leave_events();
  void update_events();
  void set_event_inputs();
  void read_event_outputs();
  void activate_clocks();
  void read_active_clocks();
  void read_clock_interval();
  void read_clock_shift();
  void equation_state();
  void right_hand_side();
  void equation_outputs();
  void output_rates();
  void next_discontinuity();
  void event_indicators();
  void handle_event();
  void complete_step();
  void move_to();

  std::unique_ptr<Subsystem> subsystem_;
  Facets facets_;  ///< as of the latest Abilities
  Dimensions dimensions_;
  Mailbox& box_;
  Numbers numbers_;
  Parcel parcel_;
  Linearization linearization_;
  std::vector<double> indicators_;
  std::vector<Value> values_;
};

}  // namespace entrain::worker
