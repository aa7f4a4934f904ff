#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/variable.hpp"

namespace entrain {

/// The socket in the folder of a run, while it goes on (docs/real_time.md).
inline constexpr std::string_view kControlSocket = "control.socket";

/// Where a run that goes on stands.
struct ControlledState {
  std::string state;  ///< "running" or "paused"
  Time time = 0.0;
  Time stop = 0.0;
  std::uint64_t macro_steps = 0;
};

/// Values of a run that goes on, in the order of the signals that were asked for.
struct ControlledSample {
  Time time = 0.0;
  std::vector<double> values;
};

/// Controls a run of any process of the same user by the socket in its folder. Every call waits for the answer of the
/// run, and throws Error{FileFailed} when it cannot be reached (control-not-reached), Error{InvalidSystem} when the run
/// refuses (control-refused).
class ENTRAIN_API RunControl {
 public:
  explicit RunControl(const std::filesystem::path& folder);
  ~RunControl();
  RunControl(RunControl&&) noexcept;
  RunControl& operator=(RunControl&&) noexcept;

  ControlledState status();
  /// Returns when the run waits between two macro steps.
  ControlledState pause();
  ControlledState resume();
  /// Of a paused run; returns when the steps are made and it waits again.
  ControlledState step(std::uint64_t steps = 1);
  /// An input that no output feeds, or a tunable parameter, as Simulation::set.
  ControlledState set(std::string_view variable, const Value& value);
  /// Ends the run as interrupted; what is recorded is kept.
  void stop();
  /// Calls `take` with samples, at most one per `every` seconds of wall clock time, until it returns false (then true
  /// is returned) or the run ends (false). A paused run has no samples: `waiting`, where given, is called some times
  /// per second while none comes, and ends it likewise.
  bool subscribe(const std::vector<std::string>& signals, Duration every,
                 const std::function<bool(const ControlledSample&)>& take, const std::function<bool()>& waiting = {});
  /// One line of the protocol, and the line that answers it.
  std::string request(std::string_view line);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace entrain
