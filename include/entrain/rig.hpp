#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/extensions.hpp"
#include "entrain/system_description.hpp"

namespace entrain {

/// When a rig answers: with the outputs that it has as the inputs arrive, like a physical one, or with those at the end
/// of the step, which it has computed.
enum class RigAnswer { End, Begin };
template <>
struct ChoiceNames<RigAnswer> {
  static constexpr std::array<ChoiceName<RigAnswer>, 2> all{{{RigAnswer::End, "end"}, {RigAnswer::Begin, "begin"}}};
};

/// How a rig that is played disturbs the coupling.
struct RigOptions {
  Duration delay = 0.0;           ///< wall clock s from the arrival of inputs to the answer
  Duration jitter = 0.0;          ///< added to the delay, uniformly between 0 and this
  double loss = 0.0;              ///< share of the answers that are not sent
  double doubled = 0.0;           ///< share of the answers that are sent twice
  Duration actuator_delay = 0.0;  ///< simulated s by which inputs act later
  Duration actuator_lag = 0.0;    ///< time constant of a first-order lag in front of every input, simulated s
  RigAnswer answer = RigAnswer::End;
  std::uint64_t seed = 1;            ///< of jitter, loss and doubled
  std::uint64_t runs = 1;            ///< that are served one after the other; 0 = until interrupted
  std::optional<Duration> patience;  ///< wall clock s without any datagram after which it ends; none = for ever
  const std::atomic<bool>* interrupt = nullptr;
  bool keeps_arrivals = false;
  std::function<void(const std::string& address)> listening = {};  ///< it can be reached from now on
};

/// What a rig counted.
struct RigReport {
  std::uint64_t runs = 0;
  std::uint64_t received = 0;    ///< datagrams that were understood
  std::uint64_t invalid = 0;     ///< others
  std::uint64_t old = 0;         ///< steps that lie behind: doubled or reordered on the way
  std::uint64_t gaps = 0;        ///< datagrams of the run that never arrived
  std::uint64_t sent = 0;        ///< answers, with those sent twice
  std::uint64_t withheld = 0;    ///< answers that were lost on purpose
  std::vector<double> arrivals;  ///< wall clock s of every step datagram, since the first; if asked for
};

/// Plays one subsystem of a system as a rig: the part outside that `udp` or `shm` of the subsystem describes, computed
/// by its model, FMU or table. Returns after the last run, or when interrupted. Throws Error.
ENTRAIN_API RigReport play_rig(const SystemDescription& description, const std::string& subsystem,
                               const RigOptions& options = {}, const Extensions& extensions = {});

/// The subsystems that lie outside, computed by their models instead.
ENTRAIN_API SystemDescription with_stand_ins(SystemDescription description);

}  // namespace entrain
