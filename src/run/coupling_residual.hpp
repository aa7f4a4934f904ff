#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/signal_range.hpp"
#include "entrain/coupled_system.hpp"

namespace entrain::running {

/// How far each input was from the output it stands for at the end of the steps, relative to the range of that output
/// over the run: the one coupling measure every method has (docs/theory/residual.md).
class CouplingResidual {
 public:
  explicit CouplingResidual(const CoupledSystem& system);

  /// At the start, where the signals were made consistent.
  void begin(Time start);
  /// Call after every macro step, with the time reached and Method::communicated.
  void update(Time now, std::span<const SubsystemId> communicated = {});

  /// The values below hold for the signals as they were when this was called.
  void look_back();
  /// Relative to the range so far. NaN when its ends have not communicated at the same time since the start.
  double of(const Connection& connection) const;
  /// What `of` is relative to, in the unit of the input. Of an output that has moved by no more than rounding: its
  /// magnitude, or that of the signals around its subsystem; and no less than matters beside others of its unit.
  double range(const Connection& connection) const;
  /// `read_differences` will be called after macro steps: what is compared there is kept for it.
  void keep_differences() { latest_.assign(difference_.size(), 0.0); }
  /// Signals have changed since the last `update`.
  void forget_differences() { is_latest_ = false; }
  /// |input - output| of every connection as it is now; NaN where not both ends communicated.
  void read_differences(Time now, std::span<double> all) const;

  /// The rest follows from it.
  template <class Visitor>
  void fields(Visitor& visit) {
    visit(difference_, ranges_, all_met_, met_);
  }

 private:
  [[gnu::noinline]] void compare_and_keep();
  [[gnu::noinline]] void update_of(std::span<const SubsystemId> communicated, Time now);
  [[gnu::noinline]] void compare_synchronized(Time now);
  void compare_if_synchronized(InputId input, Time now);
  bool both_ends_communicated(InputId input, Time now) const;
  const std::string& unit_of(OutputId output) const;

  const CoupledSystem* system_;
  std::vector<InputId> connected_;         // in the order of the connections
  std::vector<double> difference_;         // per input: largest |input - output| so far
  std::vector<double> latest_;             // per input: that of the last update; empty = not asked for
  bool is_latest_ = false;                 // it is as the signals are now
  std::vector<base::SignalRange> ranges_;  // per output
  std::vector<double> around_;             // per subsystem: largest magnitude of its outputs and connected inputs
  base::UnitSizes sizes_;                  // of the ranges
  bool all_met_ = false;                   // everyone, at the same time
  std::vector<unsigned char> met_;         // per input: it and its source, at the same time
};

}  // namespace entrain::running
