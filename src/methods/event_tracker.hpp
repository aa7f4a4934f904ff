#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "entrain/coupled_system.hpp"

namespace entrain::method {

/// The events that subsystems have announced: when the next of each is, the earliest of all, and which were passed;
/// and the next instant of the scenario, at which the runner changes connections or parameters: a macro step ends
/// there, and Method::instant_passed follows.
class EventTracker {
 public:
  void start(CoupledSystem& system, Time now);

  /// A subsystem announces events at all.
  bool any() const { return any_; }
  Time next(SubsystemId s) const { return memory_.next[s]; }
  Time earliest() const { return earliest_; }  ///< of the subsystems
  Time instant() const { return memory_.instant; }
  Time earliest_stop() const { return std::min(earliest_, memory_.instant); }

  /// A subsystem has reached this time: the announced event that it met or passed, if there is one. Asks for the next,
  /// also where none was met: an event inside the step may announce others.
  std::optional<Time> pass(CoupledSystem& system, SubsystemId s, Time now);
  /// All subsystems have; those that met an event are asked for the next.
  void pass_all(CoupledSystem& system, Time now);
  /// The instant at this time was passed.
  void pass_instant(const CoupledSystem& system, Time now);
  /// The subsystem was taken back to where this was its next event.
  void put_back(SubsystemId s, Time event) { set(s, event); }

  struct Memory {
    std::vector<Time> next;  ///< per subsystem; kNever if none
    Time instant = kNever;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(next, instant);
    }
  };
  const Memory& memory() const { return memory_; }
  void restore(const Memory& memory);

 private:
  void set(SubsystemId s, Time event);
  void find_earliest();

  Memory memory_;
  Time earliest_ = kNever;
  bool any_ = false;
};

}  // namespace entrain::method
