
#include <algorithm>

#include "entrain/fact_codes.hpp"
#include "subsystem/fmi/fmu_probe.hpp"
#include "subsystem/fmi/model_exchange.hpp"

namespace entrain::subsystem {
namespace {

/// Tries what a model-exchange FMU claims; a new instance after each call that failed.
class ExchangeProber {
 public:
  ExchangeProber(Fmu& fmu, const FmuPorts& ports, const std::vector<FmuStart>& starts, const FmuCaller& caller,
                 const ProbeRequest& request)
      : fmu_(fmu),
        request_(request),
        ports_(ports),
        starts_(starts),
        start_(fmu.description().experiment.start.value_or(0.0)),
        step_(trial_step(fmu.description(), start_, caller.step)),
        inputs_(start_inputs(ports, starts)),
        log_(fmu.name(), request.as_seen_there(caller)),
        reporter_(log_, caller.subsystem),
        exchange_(fmu, ports, kExchangeTolerance, reporter_),
        result_(request.known) {}

  FmuAbilities run() {
    const auto& flags = fmu_.exchange_flags();
    const FmiVersion version = fmu_.description().version;
    request_.enter(ProbeStage::Begin);
    fresh();  // an FMU that cannot be initialised is an error, not a missing ability
    if (enter(ProbeStage::Linearization)) {
      const bool directional = flags.directional_derivatives && !ports_.numbered_states &&
                               prove(directional_attribute(version), [&] { differentiate(); });
      result_.linearization = directional ? LinearizationSource::Directional : LinearizationSource::Differences;
      fresh();
    }
    if (enter(ProbeStage::Rollback)) {
      result_.rollback = flags.rollback && prove(rollback_attribute(version), [&] { save_and_restore(true); });
    }
    if (enter(ProbeStage::States) && !result_.rollback && !may_change()) {
      result_.rollback = result_.rollback_by_states = works([&] { save_and_restore(false); });
    }
    if (enter(ProbeStage::Reset)) result_.reset = works([&] { reset(); });
    return std::move(result_);
  }

 private:
  bool enter(ProbeStage stage) const {
    if (!request_.includes(stage)) return false;
    request_.enter(stage);
    return true;
  }
  bool may_change() {
    exchange_.begin();
    return exchange_.event_indicator_count() > 0 || has_discrete_variables() || exchange_.next_event(start_) < kNever;
  }

  void require(const FmuResult& result) { require_done(result, log_, {}); }

  void fresh() {
    if (request_.only && instance_) return;  // the only stage is over, and a second instance may be what it cannot bear
    instance_.reset();
    instance_ = fmu_.instantiate("probe", {FmuInterface::ModelExchange, false}, log_);
    initialize();
  }

  void initialize() {
    const Time stop = std::max(fmu_.description().experiment.stop.value_or(start_), start_ + 10.0 * step_);
    begin_initialization(*instance_, {fmu_.description(), ports_, starts_, {start_, stop}}, log_, {});
    exchange_.start(*instance_, result_, start_, stop);
  }

  /// A fresh instance afterwards.
  template <class Attempt>
  bool works(Attempt&& attempt, std::string* why = nullptr) {
    bool done = true;
    try {
      attempt();
    } catch (const Error& error) {
      done = false;
      if (why != nullptr) *why = error.message();
    }
    log_.take_text();
    fresh();
    return done;
  }

  /// False, with a warning, when the ability is claimed and not there.
  template <class Attempt>
  bool prove(std::string_view claim, Attempt&& attempt) {
    std::string why;
    if (works(attempt, &why)) return true;
    result_.warnings.push_back(withdrawn_claim(fmu_, claim, why));
    return false;
  }

  /// What an FMU could remember besides its states.
  bool has_discrete_variables() const {
    const auto& all = fmu_.description().variables;
    return std::any_of(all.begin(), all.end(),
                       [](const FmuVariable& variable) { return variable.variability == FmuVariability::Discrete; });
  }

  void differentiate() {
    Linearization result;
    exchange_.begin();
    FmuLinearizer linearizer(ports_);
    require(linearizer.linearize(*instance_, LinearizationSource::Directional, result));
  }

  std::vector<double> step() {
    std::vector<double> reached(ports_.table.outputs.size() + ports_.table.states.size());
    const auto outputs = std::span(reached).first(ports_.table.outputs.size());
    static_cast<void>(exchange_.step({start_, step_, {inputs_.data(), inputs_.size(), 0}}, outputs));
    exchange_.states(std::span(reached).subspan(outputs.size()));
    return reached;
  }

  /// Proven when the same step from the restored state ends in the same bits.
  void save_and_restore(bool by_fmu_state) {
    FmuInstance::State state = nullptr;
    exchange_.save(0);
    if (by_fmu_state) require(instance_->get_state(state));
    const auto first = step();
    if (by_fmu_state) require(instance_->set_state(state));
    exchange_.restore(0);
    const auto second = step();
    if (by_fmu_state) require(instance_->free_state(state));
    if (first != second) {
      throw Error(ErrorCode::SubsystemFailed, {FactCode::FmuReplayDiffers});
    }
  }

  void reset() {
    std::vector<double> at_start(ports_.table.outputs.size());
    auto again = at_start;
    exchange_.evaluate(inputs_, at_start);
    step();
    require(instance_->reset());
    initialize();
    exchange_.evaluate(inputs_, again);
    if (at_start != again) throw Error(ErrorCode::SubsystemFailed, {FactCode::FmuResetDiffers});
  }

  Fmu& fmu_;
  const ProbeRequest& request_;
  const FmuPorts& ports_;
  const std::vector<FmuStart>& starts_;
  Time start_;
  Duration step_;
  std::vector<double> inputs_;
  FmuLog log_;
  std::unique_ptr<FmuInstance> instance_;
  FmuReporter reporter_;
  ModelExchange exchange_;
  FmuAbilities result_;
};

/// A second instance in the life of the process is what such an FMU does not allow: its flags must do.
FmuAbilities claimed_exchange_abilities(const Fmu& fmu, const FmuPorts& ports) {
  const auto& flags = fmu.exchange_flags();
  FmuAbilities result;
  result.rollback = flags.rollback;
  result.linearization = flags.directional_derivatives && !ports.numbered_states ? LinearizationSource::Directional
                                                                                 : LinearizationSource::Differences;
  if (flags.once_per_process) result.warnings.push_back(untried_claims(fmu));
  return result;
}

/// The integrator takes the linearization where it is given.
std::vector<ProbeStage> exchange_stages_for(const CapabilityUse& uses) {
  std::vector<ProbeStage> stages{ProbeStage::Linearization};
  if (uses.rollback) stages.insert(stages.end(), {ProbeStage::Rollback, ProbeStage::States});
  if (uses.reset) stages.push_back(ProbeStage::Reset);
  return stages;
}

/// For what only co-simulation can do.
std::string other_interface(const Fmu& fmu) {
  return fmu.offers(FmuInterface::CoSimulation) ? "Write interface = \"co-simulation\" for it"
                                                : "Export it again for co-simulation";
}

}  // namespace

FmuAbilities tried_exchange_abilities(Fmu& fmu, const FmuPorts& ports, const std::vector<FmuStart>& starts,
                                      const FmuCaller& caller, const ProbeRequest& request) {
  return ExchangeProber(fmu, ports, starts, caller, request).run();
}

FmuAbilities proven_exchange_abilities(Fmu& fmu, const FmuPorts& ports, const std::vector<FmuStart>& starts,
                                       const FmuCaller& caller) {
  if (ports.states.size() != fmu.description().state_derivatives.size()) {
    throw Error(ErrorCode::InvalidSystem, {FactCode::FmuStatesUnknown, {fmu.name()}},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = other_interface(fmu)});
  }
  fmu.load(FmuInterface::ModelExchange, caller.timeout);
  const bool untried = fmu.exchange_flags().once_per_process || !caller.probe;
  FmuAbilities result =
      untried ? claimed_exchange_abilities(fmu, ports)
              : probed_apart(fmu, caller, exchange_stages_for(caller.uses), [&](const ProbeRequest& request) {
                  return tried_exchange_abilities(fmu, ports, starts, caller, request);
                });
  if (!untried) result.tried = caller.uses;
  result.states = true;
  result.event_mode = true;
  result.input_degree = kMaxInputDegree;
  return result;
}

}  // namespace entrain::subsystem
