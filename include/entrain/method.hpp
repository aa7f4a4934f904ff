#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/coupled_system.hpp"
#include "entrain/error.hpp"
#include "entrain/export.hpp"
#include "entrain/method_traits.hpp"
#include "entrain/options.hpp"
#include "entrain/simulation.hpp"

namespace entrain {

struct RunSettings {
  Time start = 0.0;
  Time stop = 0.0;
  Duration step = 0.0;
  /// Communication times to be met instead of those that the method would choose, from start to stop: one list for all
  /// subsystems or, where each has steps of its own, one per subsystem. Empty: the method chooses.
  std::vector<std::vector<Time>> prescribed = {};
};

/// What a method needs from every subsystem, as data; matched before time zero, all mismatches at once.
struct Requirements {
  bool equations = false;
  bool refresh_in_loops = false;  ///< outputs re-evaluated without a step, for subsystems in algebraic loops
  bool refresh_all = false;       ///< outputs re-evaluated without a step, for all subsystems
  bool common_grid = true;        ///< imposed steps must fit the macro step
  bool trials = false;            ///< steps that can be taken back, or estimated
  bool start_gains = false;       ///< how outputs follow inputs at once, looked at before the first step
  bool steps_together = false;    ///< no subsystem may impose a step longer than the macro step
  bool free_step = false;         ///< no subsystem may impose a step at all ...
  std::string fixed_step = "adaptive = false";  ///< ... unless these options keep the macro step fixed
  std::string power_bonds = {};                 ///< the option that needs power bonds in the system; empty = none does
  CapabilityUse uses = {};                      ///< where a subsystem has it; all, unless the method knows better
};

struct [[nodiscard]] MacroStepReport {
  Time reached = 0.0;  ///< the stop time is met to the last bit
  std::uint64_t iterations = 0;
  std::uint64_t rejected = 0;  ///< attempts that were given up
};

/// What a method remembers between macro steps, as one value: copied with a checkpoint, and written to a file as it is.
struct MethodMemory {
  std::uint64_t step = 0;             ///< macro steps done
  std::vector<double> numbers = {};   ///< histories; the layout is the method's own
  std::vector<std::byte> bytes = {};  ///< whatever else; the same, and the same on every machine
};

/// A coupling algorithm: decides inputs, order, iteration and acceptance of each macro step.
///
/// Owns no thread, file or log, and calls subsystems in batches of the CoupledSystem only. Implemented by the methods
/// of the engine and by those of users (Extensions::methods); both are treated alike.
class ENTRAIN_API Method : public HasOptions {
 public:
  /// The same for every object of the class, as long as it lives.
  virtual const MethodTraits& traits() const = 0;
  const std::string& name() const { return traits().name; }
  /// Without options, unless overridden.
  void bind(OptionBinder&) override {}
  virtual Requirements requirements() const { return {}; }
  /// Options that make no sense for this system (unknown names in lists, ...); `written` contains their positions.
  virtual void check(const Graph&, const WrittenOptions& /*written*/, std::vector<Problem>&) const {}
  /// The same for options that make no sense for these times; asked of the method in use.
  virtual void check_times(const RunSettings&, const WrittenOptions& /*written*/, std::vector<Problem>&) const {}

  /// The options whose numbers decide on the steps, to be made smaller for finer ones; none: the step of the run does.
  virtual std::vector<std::string> step_tolerances() const { return {}; }

  /// Called once per run, after consistent initialisation at settings.start; forgets an earlier run.
  virtual void start(CoupledSystem& system, const RunSettings& settings) = 0;
  /// One macro step, at most to the stop time of the settings.
  virtual MacroStepReport advance(CoupledSystem& system) = 0;
  /// Between two macro steps: inputs that no output feeds were given other values.
  virtual void constants_changed(CoupledSystem&) {}
  /// Between two macro steps: at this time, reached by all, events were handled. Signals may have jumped, and the
  /// subsystems may have announced other events.
  virtual void instant_passed(CoupledSystem& system, Time) { constants_changed(system); }

  /// Everything it remembers between macro steps, so that a run restored to an earlier time goes on to the same bits.
  virtual MethodMemory memory() const = 0;
  virtual void restore(const MethodMemory& memory) = 0;

  /// How the run is done, for the summary: a sequence found, loops delayed, ... A method of a user reports by
  /// custom_note and custom_warning (entrain/fact.hpp).
  virtual std::vector<Fact> notes(const CoupledSystem&) const { return {}; }
  /// How the run went, for the summary; asked at the end.
  virtual std::vector<Fact> closing_notes(const CoupledSystem&) const { return {}; }
  /// Whose steps ended with the latest macro step, of a method that gives subsystems steps of their own: what was
  /// measured of the others has not changed. Empty where it is not known.
  virtual std::span<const SubsystemId> communicated() const { return {}; }
  /// The steps it gave this subsystem, if not those of all.
  virtual std::optional<OwnSteps> own_steps(SubsystemId) const { return std::nullopt; }
  /// What may have degraded the result; asked at the end.
  virtual std::vector<Fact> warnings(const CoupledSystem&) const { return {}; }

  /// Signals of the method itself that can be recorded, and their values after the latest macro step.
  virtual std::vector<Signal> own_signals(const Graph&) const { return {}; }
  virtual void own_values(std::span<double> /*values*/) const {}
};

}  // namespace entrain
