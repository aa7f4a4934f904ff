#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "coupling/clock_schedule.hpp"
#include "coupling/discrete_signals.hpp"
#include "coupling/signal_store.hpp"
#include "coupling/step_executor.hpp"
#include "entrain/simulation.hpp"

namespace entrain::coupling {

/// A clock that activates another: an output clock, or an input clock with times of its own.
struct ClockConnection {
  SubsystemId from;
  std::size_t source = 0;  ///< index in VariableTable::clocks
  SubsystemId to;
  std::size_t target = 0;
};

/// Events of all subsystems together (docs/adr/0056). Time is (t, n): at an instant t the clocks that are due are
/// activated, and values go from one subsystem to the other until nothing changes; then every subsystem in event mode
/// updates its discrete states once, and n + 1 begins, as long as something is left to do. A subsystem enters event
/// mode when the first value or clock reaches it; all leave together.
class EventPhase {
 public:
  /// Borrows all but the connections. `discrete` may be null.
  EventPhase(const Graph& graph, SignalStore& store, StepExecutor& executor, DiscreteSignals* discrete,
             std::span<const ClockConnection> clock_connections);

  /// Before the subsystems are initialised.
  void share_events();
  /// After they are: the first phase. Clocks count from here.
  void start(Time start);
  /// Something is to be handled at this time, which all subsystems have reached.
  bool is_due(Time t);
  void run(Time t);
  /// The next tick of a clock behind `t`; kNever if none is known.
  Time next_tick(Time t) const;
  bool takes_part(SubsystemId s) const { return member_of_[s].has_value(); }
  /// Steps of this subsystem can end at an event that waits for the others.
  bool finds_events(SubsystemId s) const { return takes_part(s) && members_[*member_of_[s]].mode().finds_events(); }
  /// An output clock, or an output that is no real number, feeds others: an event that it finds concerns them.
  bool is_heard(SubsystemId s) const { return takes_part(s) && members_[*member_of_[s]].is_heard; }
  /// For a subsystem that found an event where the others cannot come: it handles it alone. True when it asks to end
  /// the run there. Called for several at once, by threads of the executor.
  bool handle_alone(SubsystemId s, Time t);
  /// A warning per subsystem that had to.
  std::vector<Fact> warnings() const;

  /// Bytes that were passed on since this was asked last.
  std::vector<Frame> take_frames() { return std::exchange(frames_, {}); }

  base::Bytes memory() const { return base::to_bytes(schedule_); }
  void restore(std::span<const std::byte> bytes);

 private:
  /// Of a signal. A constant is its own input: whether the subsystem has it shows in nothing else.
  enum class Jump : unsigned char { None, Untold, Seen };
  struct TimedClock {
    std::size_t clock;   // index in VariableTable::clocks
    std::size_t number;  // in the schedule
    ClockKind kind;
    std::uint64_t late = 0;  // ticks handled behind their time ...
    Time first_late = 0.0;   // ... when the first of them was due ...
    Duration longest_delay = 0.0;
  };
  struct Member {
    SubsystemId id;
    Subsystem* subsystem = nullptr;
    std::vector<TimedClock> timed;
    std::vector<ClockConnection> incoming_clocks;
    std::vector<std::size_t> output_clocks;     // connected, or with variables of their own
    std::vector<std::size_t> discrete_outputs;  // connected
    std::vector<std::size_t> sources;           // other members that feed it
    std::vector<std::size_t> needed;            // those of them that its outputs are declared to depend on
    std::vector<unsigned char> active;          // by clock: in this (t, n)
    std::vector<unsigned char> sent;            // by discrete input: in this (t, n)
    bool is_heard = false;
    bool in_events = false;
    bool inputs_set = false;  // the real ones, since it entered
    bool is_read = false;     // its outputs, since something was set
    bool restless = false;    // it asked for this round, or something was set in it
    std::uint64_t alone = 0;  // events handled without the others
    Time first_alone = 0.0;
    std::uint64_t inside = 0;  // phases that found it in the middle of a step
    Time first_inside = 0.0;
    EventMode& mode() const { return *subsystem->facets().event_mode; }
    const VariableTable& variables() const { return subsystem->variables(); }
  };

  void add_member(SubsystemId s, std::span<const ClockConnection> clock_connections);
  void find_sources(std::span<const ClockConnection> clock_connections);
  void find_order();
  void hear_announcements(Time t);
  bool find_jumps_outside(Time t);
  void note_constants();
  void run_once(Time t);
  static bool is_active(const Member& member, std::span<const std::size_t> clocks);
  static bool depends_on(const Member& member, EventMode::Port kind, std::size_t input);
  bool waits_for(std::span<const std::size_t> sources) const;
  Member* next_to_read();
  void enter(Member& member);
  bool activate_due(Time t);
  void note_delay(TimedClock& timed, Time t);
  TickTime earliest_tick(Time t) const;
  std::string imposing() const;
  bool is_at(const Member& member, Time t) const;
  void follow_functions();
  bool settle(Time t);
  bool deliver(Member& member);
  bool deliver_clocks(Member& member);
  bool deliver_discrete(Member& member);
  bool deliver_reals(Member& member);
  bool wants(const Member& member, const DiscreteConnection& connection, bool changed) const;
  bool data_is_ready(const Member& member, std::size_t clock) const;
  bool read(Member& member, Time t);
  void read_reals(Member& member, Time t);
  bool update_all();
  void schedule_clocks(Member& member, const std::vector<unsigned char>& ticked, const TickTime& now);
  void leave_all();
  void require_interval(const Member& member, const TimedClock& timed, const char* what,
                        const ClockInterval& interval) const;
  [[noreturn]] void throw_unsettled(Time t, const char* why) const;
  [[noreturn]] void throw_clocks_too_fast(Time t) const;

  const Graph& graph_;
  SignalStore& store_;
  StepExecutor& executor_;
  DiscreteSignals* discrete_;
  std::vector<Member> members_;                        // in the order of the subsystems
  std::vector<std::optional<std::size_t>> member_of_;  // by subsystem
  std::vector<std::size_t> order_;                     // sources before those that they feed
  std::vector<SubsystemId> functions_;                 // take no part; their outputs jump with their inputs
  ClockSchedule schedule_;
  TickTime now_;
  Time latest_ = -kNever;             // of the phases ...
  int repeated_ = 0;                  // ... and how often one followed at the same time
  std::vector<Time> announced_;       // by subsystem that takes no part: its next event
  std::vector<double> constants_;     // as they were handled
  std::vector<Jump> jumped_;          // by signal: in this phase
  std::vector<Jump> jumped_outside_;  // the same: by what happened before it
  std::vector<double> outputs_;       // of the member that is read
  std::vector<Frame> frames_;
};

}  // namespace entrain::coupling
