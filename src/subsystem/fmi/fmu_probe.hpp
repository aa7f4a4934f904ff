#pragma once

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.hpp"
#include "subsystem/fmi/fmu.hpp"

namespace entrain::subsystem {

/// Of co-simulation: the one step that it can make, if so.
std::optional<Duration> imposed_step_of(const FmuDescription& description);

/// Some step that the FMU should be able to do, and soon: none longer than the macro step of the run, if that is known.
Duration trial_step(const FmuDescription& description, Time start, std::optional<Duration> macro_step);

/// The inputs an FMU starts with: its own, or those that the user gave.
std::vector<double> start_inputs(const FmuPorts& ports, const std::vector<FmuStart>& starts);

/// What is tried of an FMU, in this order. A stage uses what those before it found.
enum class ProbeStage {
  Begin,
  States,
  Rollback,
  Linearization,
  Reset,
  InputDegree,
  OutputDerivatives,
  InputsAfterStep
};

/// One attempt to find out.
struct ProbeRequest {
  std::vector<ProbeStage> stages;     ///< after the beginning
  std::optional<ProbeStage> only{};   ///< this stage and the beginning, on a single instance; else all of them
  FmuAbilities known{};               ///< what earlier stages found, where one stage is tried
  std::atomic<int>* stage = nullptr;  ///< receives the stage under way; may be null
  bool limited = false;               ///< the time of calls, by the process that waits for the answer

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(stages, only, known);
  }

  void enter(ProbeStage now) const {
    if (stage != nullptr) stage->store(static_cast<int>(now));
  }
  bool includes(ProbeStage wanted) const {
    if (only) return *only == wanted;
    return wanted == ProbeStage::Begin || std::find(stages.begin(), stages.end(), wanted) != stages.end();
  }
  FmuCaller as_seen_there(FmuCaller caller) const {
    if (limited) caller.timeout.reset();
    return caller;
  }
};

/// A ProbeRequest for the process that tries, with the values that the user gave.
struct ProbeQuestion {
  std::vector<FmuStart> starts;
  ProbeRequest request;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(starts, request);
  }
};

/// What a scratch instance of the FMU could do. In a worker (FmuCaller::prove), or where there is none in a copy of
/// this process: a call that crashes or hangs there withdraws what it was tried for, and no second instance is made
/// beside the one of the run. `stages` after the beginning, in the order in which `attempt` makes them; it throws when
/// the FMU cannot be initialised.
FmuAbilities probed_apart(const Fmu& fmu, const FmuCaller& caller, const std::vector<ProbeStage>& stages,
                          base::FunctionRef<FmuAbilities(const ProbeRequest& request)> attempt);

/// Of a co-simulation FMU: what it claims, each claim tried on a scratch instance.
FmuAbilities tried_abilities(Fmu& fmu, const FmuPorts& ports, const std::vector<FmuStart>& starts,
                             const FmuCaller& caller, const ProbeRequest& request);

/// The same of model exchange.
FmuAbilities tried_exchange_abilities(Fmu& fmu, const FmuPorts& ports, const std::vector<FmuStart>& starts,
                                      const FmuCaller& caller, const ProbeRequest& request);

/// The warning about an ability that the FMU claims and that failed when it was tried.
Fact withdrawn_claim(const Fmu& fmu, std::string_view claim, std::string_view why);
/// The warning about an FMU that allows no scratch instance.
Fact untried_claims(const Fmu& fmu);

}  // namespace entrain::subsystem
