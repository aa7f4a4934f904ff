#include "subsystem/fmi/fmu_subsystem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/facts/fact_bytes.hpp"
#include "base/printable.hpp"
#include "base/values.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/ends_initialization.hpp"
#include "subsystem/fmi/co_simulation.hpp"
#include "subsystem/fmi/fmu.hpp"
#include "subsystem/fmi/fmu_clocks.hpp"
#include "subsystem/fmi/fmu_probe.hpp"
#include "subsystem/fmi/model_exchange.hpp"
#include "subsystem/fmi/scheduled_partitions.hpp"
#include "subsystem/foreign_calls.hpp"

namespace entrain::subsystem {
namespace {

FmuInterface chosen_interface(const Fmu& fmu, const FmuChoice& choice) {
  const FmuInterface preferred =
      choice.prefer_model_exchange ? FmuInterface::ModelExchange : FmuInterface::CoSimulation;
  const FmuInterface wanted = choice.interface.value_or(preferred);
  if (fmu.offers(wanted)) return wanted;
  const FmuInterface usual =
      wanted == FmuInterface::CoSimulation ? FmuInterface::ModelExchange : FmuInterface::CoSimulation;
  const FmuInterface other = fmu.offers(usual)                        ? usual
                             : fmu.offers(FmuInterface::CoSimulation) ? FmuInterface::CoSimulation
                                                                      : FmuInterface::ScheduledExecution;
  if (!choice.interface) return other;
  throw Error(
      ErrorCode::InvalidSystem,
      {FactCode::FmuOtherInterface, {fmu.name()}, {{"wanted", to_string(wanted)}, {"offered", to_string(other)}}},
      {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Leave 'interface' away, or export it again"});
}

/// States of 24 bits cannot be integrated to ten digits: the integrator would follow their rounding.
double chosen_tolerance(Fmu& fmu, const FmuChoice& choice) {
  const auto proposed = fmu.description().experiment.tolerance;
  const double usual = fmu.ports().single_states ? kSingleExchangeTolerance : kExchangeTolerance;
  return choice.relative_tolerance.value_or(proposed && *proposed > 0.0 ? *proposed : usual);
}

/// The structural parameters that the user sets; one of a wrong type is reported when it is set.
FmuStructure chosen_structure(const FmuDescription& description, const FmuChoice& choice) {
  FmuStructure structure;
  for (std::size_t i = 0; i < description.variables.size(); ++i) {
    const auto& variable = description.variables[i];
    if (variable.causality != FmuCausality::StructuralParameter) continue;
    auto names = variable.other_names;
    names.push_back(variable.name);
    for (const auto& name : names) {
      const auto wanted = choice.start.find(name);
      if (wanted == choice.start.end()) continue;
      const auto value = base::converted(wanted->second, ValueType::Unsigned);
      if (value) structure[i] = std::get<std::uint64_t>(*value);
    }
  }
  return structure;
}

/// A subsystem that finds an event is taken back when another one finds an earlier one.
CapabilityUse used_of(const Fmu& fmu, FmuInterface interface, const FmuChoice& choice) {
  CapabilityUse uses = choice.uses;
  const bool finds_events =
      interface == FmuInterface::ModelExchange || (interface == FmuInterface::CoSimulation && fmu.flags().event_mode);
  uses.rollback = uses.rollback || (finds_events && !choice.alone);
  if (interface == FmuInterface::ModelExchange) {
    uses.linearization = true;  // by the integrator
    uses.input_degree = true;   // always there
  }
  return uses;
}

/// The one adapter of FMUs: start values, proven abilities, saved states. Steps are made by its stepper.
class FmuSubsystem final : public Subsystem,
                           public ForeignCalls,
                           public EndsInitialization,
                           private Rollback,
                           private Reset,
                           private Tuning,
                           private DiscreteValues,
                           private InnerValues,
                           private EventMode {
 public:
  FmuSubsystem(std::string name, std::shared_ptr<Fmu> fmu, const FmuChoice& choice);
  ~FmuSubsystem() override;

  std::string_view name() const noexcept override { return name_; }
  const VariableTable& variables() const noexcept override { return ports_.table; }
  const Capabilities& capabilities() const override;
  /// As the question of another process.
  FmuAbilities tried(const ProbeQuestion& question) const;
  Facets facets() noexcept override;
  std::vector<Fact> warnings() const override;

  void set_start(VariableTable::Place place, const Value& value) override;
  void initialize(Time start, Time stop) override;
  void evaluate(std::span<const double> inputs, std::span<double> outputs) override;
  void finish_initialization(std::span<double> outputs) override { stepper_->finish_initialization(outputs); }
  void note_used_before() override { used_before_ = true; }
  StepReport step(const Step& step, std::span<double> outputs) override;
  HeldStep held_step() noexcept override { return stepper_->held_step(); }

  std::string refusal() const override { return reporter_.refusal(); }
  std::string reading(std::size_t output) const override;

 private:
  StateId save() override;
  void restore(StateId id) override;
  void release(StateId id) override { free_.push_back(id); }
  bool can_serialize() const override;
  base::Bytes serialize(StateId id) override;
  StateId deserialize(std::span<const std::byte> bytes) override;
  StateId free_slot();
  void reset() override;
  void set_parameter(std::size_t parameter, const Value& value) override;
  void read(std::span<const std::size_t> outputs, std::span<Value> values) override;
  void write(std::span<const std::size_t> inputs, std::span<const Value> values) override;
  void read_inner(std::span<const VariableTable::Place> places, std::span<Value> values) override;

  void share_events() override {
    stepper_->share_events([this] { clocks_.read_initial(*instance_, now()); });
  }
  bool finds_events() const override { return stepper_->finds_events(); }
  bool watch_steps(const std::function<bool(Time)>* watch) override { return stepper_->watch_steps(watch); }
  bool event_waits() const override { return stepper_->event_waits(); }
  void enter() override { stepper_->enter_events(); }
  void leave() override { stepper_->leave_events(); }
  Update update() override { return stepper_->update_events(); }
  void set_inputs(std::span<const double> inputs) override { stepper_->set_inputs(inputs); }
  void read_outputs(std::span<double> outputs) override { stepper_->read_outputs(outputs); }
  void activate(std::span<const std::size_t> clocks) override {
    if (!stepper_->activate(clocks_.by_priority(clocks))) clocks_.activate(*instance_, clocks, now());
  }
  void read_active(std::span<const std::size_t> clocks, std::span<unsigned char> active) override {
    stepper_->before_reading();
    clocks_.read_active(*instance_, clocks, active, now());
  }
  Announced read_interval(std::size_t clock, ClockInterval& interval) override {
    return clocks_.read_interval(*instance_, clock, interval, now());
  }
  ClockInterval shift(std::size_t clock) override { return clocks_.shift(clock); }
  bool depends(Port output_kind, std::size_t output, Port input_kind, std::size_t input) const override;
  std::optional<std::size_t> variable_of(Port kind, std::size_t index, bool is_output) const;

  std::unique_ptr<FmuStepper> make_stepper(const FmuChoice& choice);
  void note_start(const PortOrigin& origin, const Value& value);
  Time now() const { return log_.code().time().value_or(start_); }  ///< for messages
  template <class Set>
  void change(Set set);
  FmuCaller caller() const;
  const FmuAbilities& proven() const;
  void require(const FmuResult& result);
  void free_saved();

  std::string name_;
  std::shared_ptr<Fmu> fmu_;
  FmuInterface interface_;
  std::shared_ptr<const std::string> claim_;
  const FmuPorts& ports_;
  const std::optional<double> tolerance_;  ///< as the user wrote
  const std::optional<Duration> macro_step_;
  const bool probe_;
  const CapabilityUse uses_;
  const bool copies_;
  const std::function<base::ChildOutcome(const base::Bytes&)> prove_;
  std::vector<FmuStart> starts_;
  mutable std::optional<Capabilities> capabilities_;
  mutable const FmuAbilities* proven_ = nullptr;  ///< once capabilities_ is known

  FmuLog log_;
  FmuReporter reporter_;
  std::unique_ptr<FmuInstance> instance_;
  FmuClocks clocks_;
  std::unique_ptr<FmuStepper> stepper_;
  Time start_ = 0.0;
  bool used_before_ = false;  ///< its outputs, as they were before its initialization had ended
  std::vector<FmuInstance::State> saved_;
  std::vector<StateId> free_;
  std::vector<Value> inner_;                            ///< of the variable that was read last
  std::map<std::size_t, std::vector<Value>> discrete_;  ///< all elements, by variable of a discrete port
};

FmuSubsystem::FmuSubsystem(std::string name, std::shared_ptr<Fmu> fmu, const FmuChoice& choice)
    : name_(std::move(name)),
      fmu_(std::move(fmu)),
      interface_(chosen_interface(*fmu_, choice)),
      claim_(fmu_->claim(name_, interface_)),
      ports_(fmu_->ports(chosen_structure(fmu_->description(), choice))),
      tolerance_(choice.relative_tolerance),
      macro_step_(choice.step),
      probe_(choice.probe),
      uses_(used_of(*fmu_, interface_, choice)),
      copies_(choice.copies),
      prove_(choice.prove),
      log_(fmu_->name(), {name_, choice.timeout, choice.log}),
      reporter_(log_, name_),
      clocks_(fmu_->description(), ports_, reporter_),
      stepper_(make_stepper(choice)) {
  const auto make_room = [&](const std::vector<PortOrigin>& origins, const std::vector<Variable>& table) {
    for (std::size_t i = 0; i < origins.size(); ++i) {
      auto& elements = discrete_[origins[i].variable];
      elements.resize(ports_.elements[origins[i].variable]);
      if (table[i].start) elements[origins[i].element] = *table[i].start;
    }
  };
  make_room(ports_.discrete_input_origins, variables().discrete_inputs);
  make_room(ports_.discrete_output_origins, variables().discrete_outputs);
}

std::unique_ptr<FmuStepper> FmuSubsystem::make_stepper(const FmuChoice& choice) {
  if (interface_ == FmuInterface::CoSimulation) return std::make_unique<CoSimulation>(*fmu_, ports_, reporter_);
  if (interface_ == FmuInterface::ScheduledExecution)
    return std::make_unique<ScheduledPartitions>(fmu_->description(), ports_, reporter_);
  return std::make_unique<ModelExchange>(*fmu_, ports_, chosen_tolerance(*fmu_, choice), reporter_);
}

FmuSubsystem::~FmuSubsystem() {
  free_saved();
}

const Capabilities& FmuSubsystem::capabilities() const {
  if (capabilities_) return *capabilities_;
  const FmuAbilities& abilities = proven();
  Capabilities can;
  can.rollback = abilities.rollback;
  can.input_degree = abilities.input_degree;
  can.states = abilities.states;
  can.state_derivatives = abilities.states;
  const bool linearizes = abilities.linearization != LinearizationSource::None;
  can.linearization = linearizes;
  can.output_derivative_order = abilities.output_derivatives || linearizes ? 1 : 0;
  can.equations = stepper_->equations() != nullptr;
  can.output_refresh = can.equations;
  can.reset = abilities.reset;
  can.once_per_process = fmu_->once_per_process(interface_);
  can.announces_events = abilities.event_mode;
  can.imposed_step = abilities.imposed_step;
  can.internal_step = abilities.internal_step;
  can.feedthrough = ports_.feedthrough;
  can.tried = abilities.tried;
  proven_ = &abilities;
  capabilities_ = std::move(can);
  return *capabilities_;
}

FmuCaller FmuSubsystem::caller() const {
  return {name_, log_.code().owner().timeout, {}, macro_step_, probe_, uses_, copies_};
}

FmuAbilities FmuSubsystem::tried(const ProbeQuestion& question) const {
  fmu_->load(interface_, log_.code().owner().timeout);
  const auto attempt = interface_ == FmuInterface::ModelExchange ? tried_exchange_abilities : tried_abilities;
  return attempt(*fmu_, ports_, question.starts, caller(), question.request);
}

/// Proven on a scratch instance; what goes wrong there is reported as ours.
const FmuAbilities& FmuSubsystem::proven() const {
  FmuCaller asking = caller();
  if (prove_) {
    asking.prove = [&](const ProbeRequest& request) { return prove_(base::to_bytes(ProbeQuestion{starts_, request})); };
  }
  try {
    return fmu_->abilities(interface_, ports_, starts_, asking);
  } catch (const Error& error) {
    ErrorContext context = error.context();
    context.subsystem = name_;
    throw Error(error.code(), error.fact(), context);
  }
}

Facets FmuSubsystem::facets() noexcept {
  if (!capabilities_) return {};  // nothing is promised before capabilities() was asked
  const Capabilities& can = *capabilities_;
  Facets facets;
  if (can.rollback) facets.rollback = this;
  if (can.states) facets.states = stepper_.get();
  if (can.linearization) facets.linearizer = stepper_.get();
  if (can.output_derivative_order > 0) facets.output_derivatives = stepper_.get();
  facets.equations = stepper_->equations();
  if (can.announces_events) facets.events = stepper_.get();
  if (can.reset) facets.reset = this;
  facets.tuning = this;
  facets.discrete = this;
  facets.inner = this;
  if (proven_->event_mode) facets.event_mode = this;
  return facets;
}

std::vector<Fact> FmuSubsystem::warnings() const {
  std::vector<Fact> all = ports_.warnings;
  const auto& withdrawn = proven().warnings;
  all.insert(all.end(), withdrawn.begin(), withdrawn.end());
  if (used_before_) all.push_back({FactCode::FmuOutputsAfterInitialization, {name_}});
  all.insert(all.end(), reporter_.notes().begin(), reporter_.notes().end());
  if (auto returned = reporter_.warning()) all.push_back(*std::move(returned));
  return all;
}

void FmuSubsystem::set_start(VariableTable::Place place, const Value& value) {
  assert(place.causality != Causality::Output);
  const PortOrigin origin = ports_.origin(place);
  const auto& initial = fmu_->description().variables[origin.variable].initial;
  const bool is_local = place.causality == Causality::Local;  // calculated, unless the file says something else
  if (initial == FmuInitial::Calculated || (is_local && !initial)) {
    throw Error(ErrorCode::InvalidSystem, {FactCode::FmuStartCalculated});
  }
  note_start(origin, value);
  if (place.causality == Causality::DiscreteInput) discrete_[origin.variable][origin.element] = value;
}

void FmuSubsystem::note_start(const PortOrigin& origin, const Value& value) {
  const auto known =
      std::find_if(starts_.begin(), starts_.end(), [&](const FmuStart& start) { return start.origin == origin; });
  if (known != starts_.end()) {
    known->value = value;
  } else {
    starts_.push_back({origin, value});
  }
}

/// An array is set as a whole, with its other elements as they are.
void FmuSubsystem::set_parameter(std::size_t parameter, const Value& value) {
  const PortOrigin& origin = ports_.parameter_origins[parameter];
  const auto& variable = fmu_->description().variables[origin.variable];
  std::vector<Value> elements(ports_.elements[origin.variable]);
  if (!variable.dimensions.empty()) reporter_.require(instance_->get_values(variable, elements), now());
  elements[origin.element] = value;
  change([this, &variable, elements = std::move(elements)] { return instance_->set_values(variable, elements); });
}

/// A number that does not fit its type is reported as ours.
template <class Set>
void FmuSubsystem::change(Set set) {
  if (stepper_->sets_later()) return stepper_->set_later(set);
  try {
    stepper_->change(set);
  } catch (const Error& error) {
    ErrorContext context = error.context();
    context.subsystem = name_;
    context.time = now();
    throw Error(error.code(), error.fact(), context);
  }
}

void FmuSubsystem::read(std::span<const std::size_t> outputs, std::span<Value> values) {
  stepper_->before_reading();
  std::optional<std::size_t> latest;  // the elements of an array follow each other
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const PortOrigin& origin = ports_.discrete_output_origins[outputs[i]];
    auto& elements = discrete_[origin.variable];
    if (latest != origin.variable) {
      reporter_.require(instance_->get_values(fmu_->description().variables[origin.variable], elements), now());
    }
    latest = origin.variable;
    values[i] = elements[origin.element];
  }
}

/// Those of one array follow each other.
void FmuSubsystem::read_inner(std::span<const VariableTable::Place> places, std::span<Value> values) {
  stepper_->finish_initialization({});  // and where the states have been changed since, they are set in the FMU
  std::optional<std::size_t> latest;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const PortOrigin origin = ports_.origin(places[i]);
    inner_.resize(std::max(inner_.size(), ports_.elements[origin.variable]));
    const auto elements = std::span(inner_).first(ports_.elements[origin.variable]);
    if (latest != origin.variable) {
      reporter_.require(instance_->get_values(fmu_->description().variables[origin.variable], elements), now());
    }
    latest = origin.variable;
    values[i] = elements[origin.element];
  }
}

/// An array is set as a whole, with the elements without a connection as they were.
void FmuSubsystem::write(std::span<const std::size_t> inputs, std::span<const Value> values) {
  std::vector<std::size_t> changed;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const PortOrigin& origin = ports_.discrete_input_origins[inputs[i]];
    discrete_[origin.variable][origin.element] = values[i];
    if (std::find(changed.begin(), changed.end(), origin.variable) == changed.end()) changed.push_back(origin.variable);
  }
  change([this, changed = std::move(changed)] {
    FmuResult result;
    for (const std::size_t variable : changed) {
      if (!result.done()) break;
      result = graver(result, instance_->set_values(fmu_->description().variables[variable], discrete_[variable]));
    }
    return result;
  });
}

std::optional<std::size_t> FmuSubsystem::variable_of(Port kind, std::size_t index, bool is_output) const {
  switch (kind) {
    case Port::Real: return (is_output ? ports_.output_origins : ports_.input_origins)[index].variable;
    case Port::Discrete:
      return (is_output ? ports_.discrete_output_origins : ports_.discrete_input_origins)[index].variable;
    case Port::Clock: break;
  }
  if (ports_.table.clocks[index].is_output != is_output) return std::nullopt;
  return ports_.clocks[index];
}

/// By the model structure; what is not listed there is not declared. Without a list it depends on everything.
bool FmuSubsystem::depends(Port output_kind, std::size_t output, Port input_kind, std::size_t input) const {
  const auto from = variable_of(input_kind, input, false);
  const auto to = variable_of(output_kind, output, true);
  if (!from || !to) return false;
  const auto& listed = fmu_->description().outputs;
  return std::any_of(listed.begin(), listed.end(), [&](const FmuUnknown& unknown) {
    const auto& on = unknown.dependencies;
    return unknown.variable == *to && (!on || std::find(on->begin(), on->end(), *from) != on->end());
  });
}

void FmuSubsystem::require(const FmuResult& result) {
  reporter_.require(result, start_);
}

void FmuSubsystem::initialize(Time start, Time stop) {
  capabilities();
  start_ = start;
  if (!instance_) instance_ = fmu_->instantiate(name_, {interface_, proven_->event_mode}, log_);
  begin_initialization(*instance_, {fmu_->description(), ports_, starts_, {start, stop, tolerance_}}, log_, name_);
  if (!capabilities().rollback) stepper_->never_goes_back();
  stepper_->start(*instance_, *proven_, start, stop);
}

void FmuSubsystem::evaluate(std::span<const double> inputs, std::span<double> outputs) {
  stepper_->evaluate(inputs, outputs);
}

StepReport FmuSubsystem::step(const Step& step, std::span<double> outputs) {
  return stepper_->step(step, outputs);
}

std::string FmuSubsystem::reading(std::size_t output) const {
  const auto& description = fmu_->description();
  const bool narrow = description.variables[ports_.output_origins[output].variable].type == FmuType::Float32;
  return fmt::format("{}, by {}", log_.code().owner().code,
                     description.version == FmiVersion::One   ? "fmiGetReal"
                     : description.version == FmiVersion::Two ? "fmi2GetReal"
                     : narrow                                 ? "fmi3GetFloat32"
                                                              : "fmi3GetFloat64");
}

StateId FmuSubsystem::free_slot() {
  if (free_.empty()) {
    saved_.emplace_back();
    free_.reserve(saved_.size());  // so that release never allocates
    free_.push_back(static_cast<StateId>(saved_.size() - 1));
  }
  const StateId id = free_.back();
  free_.pop_back();
  return id;
}

StateId FmuSubsystem::save() {
  const StateId id = free_slot();
  const auto slot = static_cast<std::size_t>(id);
  stepper_->save(slot);
  if (!proven_->rollback_by_states) require(instance_->get_state(saved_[slot]));
  return id;
}

void FmuSubsystem::restore(StateId id) {
  const auto slot = static_cast<std::size_t>(id);
  if (!proven_->rollback_by_states) require(instance_->set_state(saved_[slot]));
  stepper_->restore(slot);
}

bool FmuSubsystem::can_serialize() const {
  if (proven_->rollback_by_states) return true;
  if (interface_ == FmuInterface::ScheduledExecution) return false;
  return interface_ == FmuInterface::CoSimulation ? fmu_->flags().serialization : fmu_->exchange_flags().serialization;
}

/// With the elements of its discrete ports: an array is set as a whole, from what we know of it.
base::Bytes FmuSubsystem::serialize(StateId id) {
  const auto slot = static_cast<std::size_t>(id);
  base::Bytes inside;
  if (!proven_->rollback_by_states) require(instance_->serialize_state(saved_[slot], inside));
  return base::to_bytes(stepper_->serialize(slot), inside, discrete_);
}

StateId FmuSubsystem::deserialize(std::span<const std::byte> bytes) {
  base::Bytes ours;
  base::Bytes inside;
  base::from_bytes(bytes, ours, inside, discrete_);
  const StateId id = free_slot();
  const auto slot = static_cast<std::size_t>(id);
  stepper_->deserialize(slot, ours);
  if (proven_->rollback_by_states) return id;
  if (saved_[slot] != nullptr) require(instance_->free_state(saved_[slot]));
  saved_[slot] = nullptr;
  require(instance_->deserialize_state(inside, saved_[slot]));
  return id;
}

void FmuSubsystem::free_saved() {
  for (auto& state : saved_) {
    if (reporter_.failed() || !log_.code().usable() || state == nullptr) continue;
    try {
      if (instance_->free_state(state).status >= FmuStatus::Error) break;
    } catch (const Error&) {  // the function is not in the library: nothing can be freed
      break;
    }
  }
  saved_.clear();
  free_.clear();
}

void FmuSubsystem::reset() {
  free_saved();
  used_before_ = false;
  if (!instance_) return;
  require(instance_->reset());
}

}  // namespace

std::unique_ptr<Subsystem> make_fmu_subsystem(std::string name, const std::filesystem::path& file,
                                              const FmuChoice& choice) {
  return std::make_unique<FmuSubsystem>(std::move(name), Fmu::open(file, choice.folder), choice);
}

std::shared_ptr<Fmu> hold_fmu(const std::filesystem::path& file) {
  return Fmu::open(file);
}

std::string fmu_title(const std::filesystem::path& file, const FmuChoice& choice) {
  const auto fmu = Fmu::open(file);
  const FmuInterface interface = chosen_interface(*fmu, choice);
  const bool exchange = interface == FmuInterface::ModelExchange;
  const bool ours = exchange && !choice.prefer_model_exchange;
  return fmu->title(interface, ours ? integrator_text(chosen_tolerance(*fmu, choice)) : "");
}

std::string fmu_about(const std::filesystem::path& file) {
  const auto fmu = Fmu::open(file);
  const FmuDescription& description = fmu->description();
  std::string text = description.model_name;
  if (!description.about.empty()) text += ": " + description.about;
  if (!description.tool.empty()) text += "; made by " + description.tool;
  return base::printable(text);
}

bool fmu_offers(const std::filesystem::path& file, FmuInterface interface) {
  return Fmu::open(file)->offers(interface);
}

std::string fmu_missing_binary(const std::filesystem::path& file, const FmuChoice& choice) {
  const auto fmu = Fmu::open(file);
  return fmu->missing_binary(chosen_interface(*fmu, choice));
}

bool fmu_imposes_step(const std::filesystem::path& file, const FmuChoice& choice) {
  const auto fmu = Fmu::open(file);
  return chosen_interface(*fmu, choice) == FmuInterface::CoSimulation && imposed_step_of(fmu->description());
}

bool fmu_has_discrete_ports(const std::filesystem::path& file) {
  const auto fmu = Fmu::open(file);
  const auto& table = fmu->ports().table;
  return !table.discrete_inputs.empty() || !table.discrete_outputs.empty() || !table.clocks.empty();
}

bool fmu_once_per_process(const std::filesystem::path& file, const FmuChoice& choice) {
  const auto fmu = Fmu::open(file);
  return fmu->once_per_process(chosen_interface(*fmu, choice));
}

std::string fmu_outside_needs(const std::filesystem::path& file) {
  const auto fmu = Fmu::open(file);
  std::error_code unknown;
  if (std::filesystem::exists(fmu->folder() / "resources" / "launch.toml", unknown)) {
    return "starts programs of its own and talks to them through sockets (resources/launch.toml, as FMUs of UniFMU do)";
  }
  const auto& description = fmu->description();
  const auto needs_tool = [&](FmuInterface interface, const auto& flags) {
    return flags && flags->needs_execution_tool && !fmu->expects_python(interface);
  };
  const bool needs = needs_tool(FmuInterface::CoSimulation, description.co_simulation) ||
                     needs_tool(FmuInterface::ModelExchange, description.model_exchange);
  return needs ? "needs the tool that made it (needsExecutionTool)" : "";
}

void unpack_fmu(const std::filesystem::path& file, const std::filesystem::path& folder) {
  base::unpack_archive(base::LocatedFile(file), folder);
  make_readable_libraries(folder);
}

base::Bytes fmu_proof(Subsystem& subsystem, const base::Bytes& question, std::atomic<int>& stage) {
  ProbeQuestion asked;
  base::from_bytes(question, asked);
  asked.request.stage = &stage;
  return base::to_bytes(dynamic_cast<FmuSubsystem&>(subsystem).tried(asked));
}

std::filesystem::path fmu_folder(const std::filesystem::path& file) {
  return Fmu::open(file)->folder();
}

void load_fmu(const std::filesystem::path& file, const FmuChoice& choice) {
  const auto fmu = Fmu::open(file);
  fmu->load(chosen_interface(*fmu, choice), choice.timeout);
}

/// Takes the description out of the archive and nothing else: no instance need follow.
DefaultExperiment fmu_experiment(const std::filesystem::path& file) {
  const base::LocatedFile description(file / "modelDescription.xml");
  return read_model_description(description.path(), file.string()).experiment;
}

}  // namespace entrain::subsystem
