#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>

#include "base/bytes.hpp"
#include "base/foreign_code.hpp"
#include "base/shared_memory.hpp"
#include "entrain/subsystem.hpp"
#include "worker/sandbox.hpp"

namespace entrain::worker {

// What both processes see, and the order of calls between them (docs/adr/0052). A worker waits for its bell; each
// subsystem has a mailbox with one call at a time. Calls that a step makes carry their numbers behind the mailbox, all
// others bytes in a segment of their own.

/// Of a changed layout or a changed list: parent and worker must be of one build.
inline constexpr std::uint64_t kProtocol = 0x656e'7472'0000'0007;

/// What a worker inherits.
inline constexpr int kSocket = 3;    ///< what it says by itself, and its end of file
inline constexpr int kMemory = 4;    ///< shared
inline constexpr int kLifeline = 5;  ///< a pipe in which nothing is ever written: it ends with the parent
inline constexpr int kErrors = 6;    ///< in a sandbox: the error stream, once the sandbox itself has nothing to say

enum class Operation : std::uint32_t {
  Make,
  Close,
  SetStart,
  Abilities,
  Warnings,
  Initialize,
  FinishInitialization,
  NoteUsedBefore,
  Evaluate,
  Step,
  OutputDerivatives,
  States,
  StateDerivatives,
  Linearize,
  Save,
  Serialize,
  Deserialize,
  Reset,
  NextEvent,
  SetParameter,
  ReadDiscrete,
  WriteDiscrete,
  ReadInner,
  Refusal,
  Reading,
  Proof,
  ShareEvents,
  EventDependencies,
  EnterEvents,
  LeaveEvents,
  UpdateEvents,
  SetEventInputs,
  ReadEventOutputs,
  ActivateClocks,
  ReadActiveClocks,
  ReadClockInterval,
  ReadClockShift,
  EquationState,
  RightHandSide,
  EquationOutputs,
  OutputRates,
  NextDiscontinuity,
  EventIndicators,
  HandleEvent,
  CompleteStep,
  MoveTo,
  Count,
};
const char* name_of(Operation operation);

/// States of the worker's rollback that are let go before the next call: no call of its own.
inline constexpr std::size_t kMostReleased = 15;

struct Mailbox {
  std::atomic<std::uint32_t> posted;    ///< calls made, by the parent
  std::atomic<std::uint32_t> answered;  ///< of them, by the worker
  Operation operation;
  // Before the call: what has been left for it.
  bool restores;
  std::uint32_t restored;
  std::uint32_t releases;
  std::uint32_t released[kMostReleased];
  // The call.
  double from;  ///< or the time of a point
  double size;
  std::int32_t degree;
  std::uint32_t state;
  StepReadings readings;
  // The answer.
  bool threw;  ///< the bytes are those of an ErrorRecord
  StepReport report;
  double time;
  bool flag;
  bool stop_requested;       ///< of the equations
  std::uint64_t indicators;  ///< of the equations
  bool event_waits;          ///< of the event mode
  bool finds_events;         ///< of the event mode
  std::atomic<int> stage;    ///< of the proof: what is being tried
  base::Segment bytes;       ///< the place of bytes, in either direction ...
  std::uint64_t bytes_used;  ///< ... and how many
};

/// The first page, of the process.
struct ProcessPage {
  std::uint64_t protocol;
  std::atomic<std::uint64_t> end;     ///< of the segments
  std::atomic<std::uint32_t> bell;    ///< calls made in all mailboxes
  std::atomic<std::uint32_t> speaks;  ///< messages that the worker has sent over its socket
  std::atomic<std::uint32_t> serves;  ///< the mailbox whose call is under way
  Confinement confinement;            ///< which the worker puts itself under
  std::atomic<bool> began;            ///< the worker, to serve
  std::atomic<bool> may_look;         ///< the worker, for its next call, before it sleeps
  base::CallNote note;
  Mailbox process;  ///< of calls to the process itself, number 0
};

/// How many there are of each.
struct Dimensions {
  std::size_t inputs = 0, outputs = 0, states = 0;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(inputs, outputs, states);
  }
};

/// The numbers behind a mailbox.
struct Numbers {
  std::span<double> inputs;               ///< polynomials, order by order; of a point u, then du
  std::span<double> outputs, slopes;      ///< of the step
  std::span<double> states, derivatives;  ///< of the step
  std::span<double> x, result;            ///< of a point: the argument, and the answer of the equations

  Numbers() = default;
  Numbers(double* first, const Dimensions& of) {
    const auto take = [&](std::size_t count) {
      const std::span<double> part(first, count);
      first += count;
      return part;
    };
    inputs = take(of.inputs * (kMaxInputDegree + 1));
    outputs = take(of.outputs);
    slopes = take(of.outputs);
    states = take(of.states);
    derivatives = take(of.states);
    x = take(of.states);
    result = take(std::max(of.states, of.outputs));
  }
  static std::size_t count(const Dimensions& of) {
    return of.inputs * (kMaxInputDegree + 1) + 2 * of.outputs + 3 * of.states + std::max(of.states, of.outputs);
  }
};

/// Numbers begin at the next multiple of a cache line.
inline constexpr std::size_t kMailboxSize = (sizeof(Mailbox) + 63) / 64 * 64;

/// The bytes of a mailbox, seen from one of the two processes.
class Parcel {
 public:
  Parcel(base::SharedMemory& memory, std::atomic<std::uint64_t>& end, Mailbox& box)
      : memory_(memory), end_(end), box_(box) {}

  void put(const base::Bytes& bytes);
  std::span<const std::byte> content();
  template <class... Values>
  void write(const Values&... values) {
    put(base::to_bytes(values...));
  }
  template <class... Values>
  void read(Values&... values) {
    base::from_bytes(content(), values...);
  }

 private:
  base::SharedMemory& memory_;
  std::atomic<std::uint64_t>& end_;
  Mailbox& box_;
};

}  // namespace entrain::worker
