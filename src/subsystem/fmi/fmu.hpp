#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/archive.hpp"
#include "entrain/capabilities.hpp"
#include "entrain/error.hpp"
#include "subsystem/fmi/fmu_instance.hpp"
#include "subsystem/fmi/fmu_linearizer.hpp"

namespace entrain::subsystem {

/// Where a port comes from: a variable of the description, and which element of it.
struct PortOrigin {
  std::size_t variable = 0;
  std::size_t element = 0;  ///< 0 of a scalar; arrays are counted row by row
  bool operator==(const PortOrigin&) const = default;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(variable, element);
  }
};

/// A variable as calls name it, and how many numbers it stands for.
struct FmuArray {
  ValueReference reference = 0;
  std::size_t elements = 1;
};

/// Values of structural parameters, by their index in the description.
using FmuStructure = std::map<std::size_t, std::uint64_t>;

/// What of an FMU takes part in a coupling. Index inside a list = number of the port. Real inputs and outputs are those
/// of type Float64 first, then those of type Float32, each element of an array a port of its own.
struct FmuPorts {
  VariableTable table;
  std::vector<ValueReference> inputs, outputs;              ///< of type Float64; an array has one
  std::vector<ValueReference> float_inputs, float_outputs;  ///< of type Float32
  std::size_t double_inputs = 0;                            ///< ports among table.inputs that are of type Float64
  std::size_t double_outputs = 0;
  std::vector<ValueReference> states, derivatives;  ///< of one type; an array has one
  bool single_states = false;                       ///< that type is Float32
  bool numbered_states = false;                     ///< some have no reference: known to model exchange alone
  std::vector<PortOrigin> input_origins, output_origins, parameter_origins;
  std::vector<PortOrigin> discrete_input_origins, discrete_output_origins;
  std::vector<PortOrigin> state_origins, local_origins;
  std::vector<std::size_t> clocks;    ///< by number of the clock: the variable of the description
  std::vector<std::size_t> elements;  ///< by variable of the description: how many, 1 of a scalar
  bool plain = true;                  ///< all real inputs and outputs are scalars of type Float64
  /// States, then real inputs; derivatives, then those real outputs that are no states: what directional derivatives
  /// are asked for.
  std::vector<FmuArray> knowns, unknowns;
  std::vector<std::optional<std::size_t>> state_of_output;  ///< set for an output that is a state
  Feedthrough feedthrough;
  std::vector<Fact> warnings;

  PortOrigin origin(VariableTable::Place place) const;
  FmuReals real_states() const { return as_states(states); }
  FmuReals real_derivatives() const { return as_states(derivatives); }
  FmuReals real_inputs() const { return {inputs, double_inputs, float_inputs, table.inputs.size() - double_inputs}; }
  FmuReals real_outputs() const {
    return {outputs, double_outputs, float_outputs, table.outputs.size() - double_outputs};
  }

 private:
  FmuReals as_states(const std::vector<ValueReference>& references) const {
    const std::size_t count = table.states.size();
    return single_states ? FmuReals{{}, 0, references, count} : FmuReals{references, count, {}, 0};
  }
};
/// Throws Error{InvalidSystem} for arrays of a size that makes no sense.
FmuPorts ports_of(const FmuDescription& description, const std::string& fmu, const FmuStructure& structure = {});

/// A value that the user gave.
struct FmuStart {
  PortOrigin origin;
  Value value;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(origin, value);
  }
};

/// What an FMU really can do: its flags, each proven by a call.
struct FmuAbilities {
  bool rollback = false;
  bool rollback_by_states = false;  ///< model exchange: time, states and inputs are all it remembers
  bool states = false;
  LinearizationSource linearization = LinearizationSource::None;
  bool output_derivatives = false;  ///< by a function of its own
  bool reset = false;
  bool event_mode = false;  ///< its events are handled with the importer
  int input_degree = 0;
  bool resend_inputs = false;  ///< after a step it needs the inputs at its end, and takes them
  std::optional<Duration> imposed_step;
  std::optional<Duration> internal_step;  ///< inputs sent inside a step are held so long
  std::vector<Fact> warnings;             ///< what was withdrawn, and why
  CapabilityUse tried;                    ///< what was not is absent
  bool depends_on_load = false;           ///< something was withdrawn because it took too long

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(rollback, rollback_by_states, states, linearization, output_derivatives, reset, event_mode, input_degree,
          resend_inputs, imposed_step, internal_step, warnings, tried.rollback, tried.linearization, tried.input_degree,
          tried.output_derivatives, tried.reset, depends_on_load);
  }
};

/// All that is used has been tried.
inline bool covers(const CapabilityUse& tried, const CapabilityUse& uses) {
  return (tried.rollback || !uses.rollback) && (tried.linearization || !uses.linearization) &&
         (tried.input_degree || !uses.input_degree) && (tried.output_derivatives || !uses.output_derivatives) &&
         (tried.reset || !uses.reset);
}

/// As if the rest had not been tried: what a run does must not depend on what was known before.
FmuAbilities limited_to(FmuAbilities abilities, const CapabilityUse& uses);

/// An FMU file, unpacked and read once for all its instances in this process. Thread-safe.
class Fmu {
 public:
  /// The same object for the same file as long as it is held. Throws Error.
  static std::shared_ptr<Fmu> open(const std::filesystem::path& file) { return open(file, {}); }
  /// `folder`: where it lies unpacked already; empty = it is unpacked here.
  static std::shared_ptr<Fmu> open(const std::filesystem::path& file, const std::filesystem::path& folder);
  Fmu(const std::filesystem::path& file, const std::filesystem::path& folder);

  const std::string& name() const noexcept { return name_; }  ///< the path, for messages
  /// "prey.fmu (FMI 2.0 co-simulation)"; `how`: how it is integrated, if not by itself.
  std::string title(FmuInterface interface, const std::string& how) const;
  const std::filesystem::path& folder() const noexcept { return folder_; }  ///< of what it contains
  const FmuDescription& description() const noexcept { return description_; }
  bool offers(FmuInterface interface) const noexcept;
  const CoSimulationFlags& flags() const noexcept { return *description_.co_simulation; }
  const ModelExchangeFlags& exchange_flags() const noexcept { return *description_.model_exchange; }
  const ScheduledFlags& scheduled_flags() const noexcept { return *description_.scheduled_execution; }
  bool once_per_process(FmuInterface interface) const noexcept;
  /// With structural parameters as the user sets them; the same object for the same values.
  const FmuPorts& ports(const FmuStructure& structure = {});

  /// Held while an instance may exist. Throws Error{InvalidSystem} for a second one of an FMU that allows just one.
  std::shared_ptr<const std::string> claim(const std::string& instance, FmuInterface interface);
  /// Loads the library if it is not yet. Throws Error when the library or the FMU refuses. Borrows `log`.
  std::unique_ptr<FmuInstance> instantiate(const std::string& instance, const FmuUse& use, FmuLog& log);
  /// Why it cannot be loaded here at all; empty when it has a binary for this platform.
  std::string missing_binary(FmuInterface interface) const;
  /// The tool that it needs may be Python, which is in every worker.
  bool expects_python(FmuInterface interface) const;
  /// Loads the library if it is not yet. Throws Error with the reason why it cannot be.
  void load(FmuInterface interface, std::optional<Duration> timeout) { functions(interface, timeout); }
  /// For these uses alone. Proven once for each choice of start values that are no real numbers (integers, booleans,
  /// texts): these select solvers and modes, and with them what an FMU can do; numbers do not.
  const FmuAbilities& abilities(FmuInterface interface, const FmuPorts& ports, const std::vector<FmuStart>& starts,
                                const FmuCaller& caller);

 private:
  struct Loaded {
    std::unique_ptr<FmuLibrary> library;
    std::unique_ptr<FmuFunctions> functions;
  };
  /// With whether it may be tried, and the values that select.
  using Selection = std::tuple<FmuInterface, bool, std::map<std::pair<std::size_t, std::size_t>, Value>>;

  FmuAbilities found_abilities(const Selection& selecting, const FmuPorts& ports, const std::vector<FmuStart>& starts,
                               const FmuCaller& caller);

  const FmuFunctions& functions(FmuInterface interface, std::optional<Duration> timeout);
  const std::string& identifier(FmuInterface interface) const;
  const char* platform() const { return description_.version == FmiVersion::Three ? "x86_64-linux" : "linux64"; }

  std::string name_;
  std::optional<base::UnpackedArchive> archive_;
  std::filesystem::path folder_;  ///< of what it contains
  FmuDescription description_;
  std::mutex mutex_;
  std::map<FmuStructure, FmuPorts> ports_;
  std::map<std::string, Loaded> loaded_;  ///< by the model identifier
  std::weak_ptr<const std::string> claimed_;
  std::mutex proof_;
  std::map<Selection, std::list<FmuAbilities>> abilities_;  ///< by the values that select, for various uses
  std::optional<std::string> hash_;                         ///< of the file; empty = not known
};

/// "FMU 'prey.fmu': fmi2DoStep returned fmi2Discard; its log: 'no'".
Fact call_fact(const FmuResult& result, FmuLog& log);

/// Throws Error{SubsystemFailed} with the call and the last words of the FMU, unless the call succeeded.
void require_done(const FmuResult& result, FmuLog& log, const ErrorContext& context);

/// How an instance begins: what is set before and in its initialization mode.
struct FmuBeginning {
  const FmuDescription& description;
  const FmuPorts& ports;
  const std::vector<FmuStart>& starts;
  FmuExperiment experiment;
};
/// From a new (or reset) instance into its initialization mode. Throws as require_done.
void begin_initialization(FmuInstance& instance, const FmuBeginning& beginning, FmuLog& log,
                          const std::string& subsystem);

/// Tries the flags on an instance of its own, which is gone afterwards. Throws when it cannot be initialised.
FmuAbilities proven_abilities(Fmu& fmu, const FmuPorts& ports, const std::vector<FmuStart>& starts,
                              const FmuCaller& caller);
FmuAbilities proven_exchange_abilities(Fmu& fmu, const FmuPorts& ports, const std::vector<FmuStart>& starts,
                                       const FmuCaller& caller);

}  // namespace entrain::subsystem
