#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "entrain/coupled_system.hpp"
#include "entrain/variable.hpp"

namespace entrain::running {

/// Values that a program sets while a run goes on, between two macro steps: inputs that no output feeds, and tunable
/// parameters.
class Changes {
 public:
  /// The value of a parameter before any change, where it is known.
  using StartOf = std::function<std::optional<Value>(SubsystemId, std::size_t parameter)>;

  /// Borrows the system.
  Changes(CoupledSystem& system, StartOf start_of) : system_(system), start_of_(std::move(start_of)) {}

  /// "subsystem.variable" has this value from now on. Throws Error{InvalidSystem} when there is no such variable, when
  /// it cannot be set, or when the value does not fit; then nothing has changed. Before `initialize` it is a start
  /// value.
  void set(std::string_view name, const Value& value, bool initialized);

  /// Everything that was set, by place: a value, part of a checkpoint.
  using Place = std::tuple<std::size_t, Causality, std::size_t>;
  using InForce = std::map<Place, Value>;
  const InForce& in_force() const { return in_force_; }
  /// Of those, the ones that were set before the run.
  const InForce& at_start() const { return at_start_; }
  /// In another process: what was set before the run, before `initialize`; what was set since, after it.
  void resume_start(const InForce& at_start);
  void resume(const InForce& in_force);
  /// What was set since is taken back, where it is known what was before.
  void restore(const InForce& earlier);
  /// The start again: what was set before `initialize` stays.
  void rewind();

 private:
  void apply(const Place& place, const Value& value);
  std::optional<Value> value_before(const Place& place);

  CoupledSystem& system_;
  StartOf start_of_;
  InForce in_force_;
  InForce at_start_;
  std::map<Place, std::optional<Value>> originals_;  // of everything that was ever set; nullopt = not known
};

}  // namespace entrain::running
