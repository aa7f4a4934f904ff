#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "entrain/capabilities.hpp"
#include "entrain/error.hpp"
#include "entrain/export.hpp"
#include "entrain/method_traits.hpp"
#include "entrain/real_time.hpp"
#include "entrain/system_description.hpp"

namespace entrain {

enum class Termination { NotStarted, Running, Completed, Failed, Interrupted };
ENTRAIN_API std::string_view to_string(Termination termination);

/// The steps of a subsystem whose method gives each one steps of its own.
struct OwnSteps {
  Duration smallest = 0.0;
  Duration largest = 0.0;
  std::vector<std::uint64_t> orders;   ///< how often an output was carried on by order 0, 1, 2, ...
  std::uint64_t beyond_tolerance = 0;  ///< steps after which an output missed its prediction by more than the tolerance
  std::uint64_t at_min_step = 0;       ///< steps for which the control requested less than the minimal one
  std::uint64_t reads_past_validity = 0;  ///< steps that outlast the estimate of one of their inputs
  std::uint64_t jumps = 0;                ///< found in its outputs, not announced
};

/// What passed between a run and a part outside.
struct DatagramCounters {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;  ///< answers, those that came twice included
  std::uint64_t late = 0;      ///< answers that came when their step was over
  std::uint64_t lost = 0;      ///< answers that the rig sent and that never came
  std::uint64_t doubled = 0;
  std::uint64_t reordered = 0;  ///< came after one that was sent later
  std::uint64_t invalid = 0;    ///< not understood, or of another run
  std::uint64_t foreign = 0;    ///< from another address: never read
  std::uint64_t held = 0;       ///< steps whose outputs are not new
};

struct SubsystemSummary {
  std::string name;
  std::string source;  ///< "model lotka_volterra.prey", "fmu prey.fmu (FMI 2.0 co-simulation)"
  std::uint64_t steps = 0;
  std::uint64_t trials = 0;
  std::uint64_t rollbacks = 0;
  double seconds = 0.0;  ///< in its steps; sampled (1 step in 64), extrapolated
  Capabilities capabilities;
  std::optional<OwnSteps> own_steps;                         ///< nullopt where all subsystems step together
  std::optional<DatagramCounters> datagrams = std::nullopt;  ///< of a part outside
};

struct LoopSummary {
  std::vector<std::string> variables;  ///< inputs and outputs of one algebraic loop, "subsystem.variable"
  double initial_residual = 0.0;       ///< max |input - output| / (1 + |output|) after initialisation
};

struct ConnectionSummary {
  std::string name;           ///< "left.x -> right.x"
  std::string output;         ///< "left.x"
  std::string input;          ///< "right.x"
  double max_residual = 0.0;  ///< as RunSummary::max_coupling_residual, of this connection; NaN: not measured
  double range = 0.0;         ///< of the output over the run, in the unit of the input
};

/// Energy that a power bond lost or made in the coupling (docs/theory/energy.md). Measured where both ends communicate;
/// NaN when they never did together.
struct BondSummary {
  std::string name;
  std::string effort;               ///< the connection that carries it: "a.F -> b.F"
  std::string flow;                 ///< "b.v -> a.v"
  double residual_energy = 0.0;     ///< J: the sum over all macro steps
  double max_residual_power = 0.0;  ///< W: the largest size
  double transferred_energy = 0.0;  ///< J: what went through the bond, sizes added
  std::uint64_t measurements = 0;   ///< macro steps at whose end both ends communicated
};

/// The learned correction that a run was made with (entrain/learning.hpp).
struct CorrectionSummary {
  std::string file;                 ///< where it was read; empty when a program made it
  std::vector<std::string> inputs;  ///< that are corrected: "subsystem.input"
  double error = 0.0;  ///< that learning left, relative to the range of the signals; infinite: no run ended
};

/// A value that the program set during the run.
struct ValueChange {
  Time time = 0.0;
  std::string name;  ///< "subsystem.variable"
  Value value;
};

/// An entry of the scenario that took effect.
struct ScenarioEffect {
  Time time = 0.0;        ///< from here on
  std::size_t entry = 0;  ///< of SystemDescription::scenario
  std::string action;     ///< "set", "bias", ...
  std::string target;
  std::optional<Value> value;
  std::optional<Time> until;        ///< of a ramp: its end
  std::optional<Duration> late_by;  ///< no step could end at its time
  std::optional<Time> crossed;      ///< of a condition: when it came true, by the line between two communication times
};

/// The run that this one goes on from.
struct ResumedFrom {
  std::string directory;  ///< of its results; empty = not known
  Time time = 0.0;        ///< where it stood
};

/// One of the processes that a run was made by (entrain/ranks.hpp).
struct RankSummary {
  std::string host;
  std::vector<std::string> subsystems;  ///< that it computed
  double busy = 0.0;                    ///< s, in all but ...
  double waiting = 0.0;                 ///< ... waiting for others
};

/// How a run went. Always exists, also after a failure.
struct RunSummary {
  std::string version;
  std::string system;
  std::string method;
  MethodFamily family = MethodFamily::Explicit;  ///< of the method
  Termination termination = Termination::NotStarted;
  std::string message;           ///< why it ended, when not completed
  std::optional<Error> failure;  ///< of a failed run: what ended it, as data
  Time start = 0.0;
  Time stop = 0.0;
  Time reached = 0.0;
  Duration step = 0.0;  ///< as asked for
  std::uint64_t macro_steps = 0;
  Duration smallest_step = 0.0;  ///< of the macro steps made; 0 before the first
  Duration largest_step = 0.0;
  std::uint64_t rejected_steps = 0;
  std::uint64_t iterations = 0;
  std::uint64_t linearizations = 0;
  double wall_seconds = 0.0;
  /// max over steps and connections of |input at the end of the step - output there| / range of that output; NaN when
  /// no two connected subsystems ever communicated at the same time after the start
  double max_coupling_residual = 0.0;
  std::string worst_connection;  ///< where that was: "left.x -> right.x"
  std::vector<ConnectionSummary> connections;
  std::vector<BondSummary> bonds;
  std::vector<LoopSummary> loops;
  std::vector<std::string> sequence;  ///< the subsystems, sources before consumers as far as there are such
  std::vector<Fact> notes;            ///< how the run was done: loops delayed, sequence found, ...
  std::vector<Fact> warnings;         ///< what may degrade the result
  std::vector<SubsystemSummary> subsystems;
  std::map<std::string, OptionValue> parameters;  ///< every option in force
  std::vector<std::string> step_tolerances;       ///< those of them that the steps follow; none: the step of the run
  std::optional<CorrectionSummary> correction;
  std::vector<ValueChange> changes;         ///< values set by Simulation::set, in the order of time
  std::vector<ScenarioEffect> scenario;     ///< what took effect of the scenario, in the order of time
  std::optional<ResumedFrom> resumed_from;  ///< of a run that was continued from a checkpoint file
  std::optional<PacingSummary> pacing;      ///< of a run in real time
  std::vector<RankSummary> ranks;           ///< by rank; empty of a run in one process

  /// Of all bonds that were measured, in J; NaN when there are bonds and none was.
  double residual_energy() const {
    double total = bonds.empty() ? 0.0 : std::numeric_limits<double>::quiet_NaN();
    for (const auto& bond : bonds) {
      if (bond.measurements > 0) total = bond.residual_energy + (std::isnan(total) ? 0.0 : total);
    }
    return total;
  }
};

}  // namespace entrain
