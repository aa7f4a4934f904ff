#pragma once

#include <algorithm>

#include "entrain/fact_codes.hpp"
#include "subsystem/fmi/fmu_instance.hpp"

namespace entrain::subsystem {

/// What instances of all versions of the standard do alike: the calls whose functions differ in their names only.
/// `Functions` holds the symbols of one version under our names, `Handle` is what its functions take first.
template <class Functions, class Handle>
class VersionedInstance : public FmuInstance {
 public:
  VersionedInstance(const VersionedInstance&) = delete;  // the FMU keeps the address of its environment
  VersionedInstance& operator=(const VersionedInstance&) = delete;
  ~VersionedInstance() override = default;

  FmuResult exit_initialization() override {
    stepping_ = true;
    return call(functions_.exit_initialization);
  }
  FmuResult reset() override {
    stepping_ = false;
    const FmuResult result = call(functions_.reset);
    if (result.done()) worst_ = FmuStatus::Ok;
    return result;
  }

  FmuResult get_state(State& state) override { return call(functions_.get_state, &state); }
  FmuResult set_state(State state) override { return call(functions_.set_state, state); }
  FmuResult free_state(State& state) override { return call(functions_.free_state, &state); }
  FmuResult serialize_state(State state, std::vector<std::byte>& bytes) override {
    std::size_t size = 0;
    const FmuResult sized = call(functions_.serialized_size, state, &size);
    if (!sized.done()) return sized;
    bytes.resize(size);
    return graver(sized, call(functions_.serialize_state, state,
                              reinterpret_cast<typename Functions::Byte*>(bytes.data()), size));
  }
  FmuResult deserialize_state(std::span<const std::byte> bytes, State& state) override {
    return call(functions_.deserialize_state, reinterpret_cast<const typename Functions::Byte*>(bytes.data()),
                bytes.size(), &state);
  }
  FmuResult enter_event_mode() override { return call(functions_.enter_event_mode); }

  FmuResult set_time(Time t) override {
    code_.set_time(t);
    return call(functions_.set_time, t);
  }
  FmuResult set_continuous_states(std::span<const double> x) override {
    return call(functions_.set_continuous_states, x.data(), x.size());
  }
  FmuResult get_continuous_states(std::span<double> x) override {
    return call(functions_.get_continuous_states, x.data(), x.size());
  }
  FmuResult get_nominals(std::span<double> nominals) override {
    return call(functions_.get_nominals, nominals.data(), nominals.size());
  }
  FmuResult get_derivatives(std::span<double> dx) override {
    return call(functions_.get_derivatives, dx.data(), dx.size());
  }
  FmuResult get_event_indicators(std::span<double> z) override {
    return call(functions_.get_event_indicators, z.data(), z.size());
  }

  /// The functions are looked up, as far as they will be called.
  void open(FmuHeldStep& held) const override {
    held.code = &code_;
    held.handle = handle_;
    if (!held.inputs.empty()) held.set = reinterpret_cast<void (*)()>(functions_.set_reals.function());
    held.step = reinterpret_cast<void (*)()>(functions_.do_step.function());
    if (!held.outputs.empty()) held.get = reinterpret_cast<void (*)()>(functions_.get_reals.function());
  }
  FmuStepResult resumed(const FmuHalt& halt, const FmuStepCall& arguments, double* outputs) override {
    if (halt.call == FmuHalt::Call::Set) {
      return made_with_inputs(noted(halt.status, functions_.set_reals.name()), arguments, outputs);
    }
    if (halt.call == FmuHalt::Call::Step) {
      return ended(noted(halt.status, functions_.do_step.name()), halt.ending, arguments, outputs);
    }
    return with_outcome_of_get({{}, arguments.from + arguments.size}, noted(halt.status, functions_.get_reals.name()));
  }

 protected:
  VersionedInstance(const Functions& functions, FmuLog& log) : functions_(functions), code_(log.code()), log_(log) {}

  /// The rest of a step after the call that set the inputs.
  virtual FmuStepResult made_with_inputs(FmuResult sent, const FmuStepCall& arguments, double* outputs) = 0;
  /// The rest of it after the step itself.
  virtual FmuStepResult ended(const FmuResult& made, const FmuEnding& ending, const FmuStepCall& arguments,
                              double* outputs) = 0;

  /// A state or a derivative of the model that has no reference.
  FmuResult get_numbered(const FmuVariable& variable, std::span<Value> values) {
    numbers_.resize(variable.numbered);
    const std::size_t index = variable.reference - kFirstNumberedState;
    const bool is_state = index < numbers_.size();
    const FmuResult result = is_state ? get_continuous_states(numbers_) : get_derivatives(numbers_);
    values.front() = numbers_[is_state ? index : index - numbers_.size()];
    return result;
  }

  /// For the destructors: the FMU may log while it is freed, so what it logs to must still be there.
  void end() noexcept {
    if (handle_ == nullptr || worst_ == FmuStatus::Fatal || !code_.usable()) return;  // no call is allowed then
    try {
      if (stepping_ && worst_ < FmuStatus::Error) static_cast<void>(call(functions_.terminate));
      if (worst_ != FmuStatus::Fatal) functions_.free_instance(code_, handle_);
    } catch (const Error& error) {  // it threw; a function that is missing: nothing can be freed
      if (error.fact().code == FactCode::CodeThrew) log_.report_end(error);
    }
  }

  /// Asks for messages about trouble, or all. Of an FMU that names no categories everything comes; FmuLog listens to
  /// trouble alone.
  template <class Boolean>
  void ask_for_messages(const FmuDescription& description, Boolean yes) {
    if (handle_ != nullptr) log_.instance_made();
    const auto categories = log_.categories(description.log_categories);
    if (handle_ == nullptr || categories.empty() || !functions_.set_debug_logging.exists()) return;
    static_cast<void>(call(functions_.set_debug_logging, yes, categories.size(), categories.data()));
  }

  template <class Symbol, class... Arguments>
  FmuResult call(const Symbol& symbol, Arguments... arguments) {
    if (worst_ == FmuStatus::Fatal) return {FmuStatus::Fatal, symbol.name()};  // no further call is allowed
    return noted(symbol, symbol(code_, handle_, arguments...));
  }
  /// What `symbol` returned, in our terms.
  template <class Symbol, class Status>
  FmuResult noted(const Symbol& symbol, Status status_of_version) {
    return noted(static_cast<int>(status_of_version), symbol.name());
  }

  /// A status that the standard does not know is an error; so is fmi2Pending: the engine asks for no asynchronous
  /// steps.
  FmuResult noted(int returned, const char* function) {
    const bool known = returned >= 0 && returned <= static_cast<int>(FmuStatus::Fatal);
    const FmuStatus status = known ? static_cast<FmuStatus>(returned) : FmuStatus::Error;
    if (status > worst_) worst_ = status;
    return {status, function};
  }

  /// A discarded get or set is no discarded step: there is nothing to repeat.
  static FmuStepResult failed(FmuStepResult result) {
    result.result.status = std::max(result.result.status, FmuStatus::Error);
    return result;
  }

  /// The end of a step that was made, or discarded: the outputs.
  FmuStepResult with_outputs(FmuStepResult result, const FmuStepCall& arguments, double* outputs) {
    if (result.result.status > FmuStatus::Discard || outputs == nullptr || arguments.outputs.empty()) return result;
    return with_outcome_of_get(result, get_reals(arguments.outputs, outputs));
  }
  static FmuStepResult with_outcome_of_get(FmuStepResult result, const FmuResult& got) {
    if (!got.done()) return failed({got, result.reached, result.terminated});
    if (result.result.done()) result.result = graver(result.result, got);
    return result;
  }

  const Functions& functions_;
  base::ForeignCode& code_;
  FmuLog& log_;
  std::vector<double> numbers_;  ///< of get_numbered
  Handle handle_ = nullptr;
  FmuStatus worst_ = FmuStatus::Ok;
  bool stepping_ = false;  ///< beyond the initialization
};

/// Makes instances of one version; `Instance` takes (functions, description, log).
template <class Functions, class Instance>
class VersionedFunctions final : public FmuFunctions {
 public:
  template <class... More>
  VersionedFunctions(const FmuLibrary& library, const FmuDescription& description, More... more)
      : functions_(library, more...), description_(description) {}

  std::unique_ptr<FmuInstance> instantiate(const std::string& name, const std::filesystem::path& root,
                                           const FmuUse& use, FmuLog& log) const override {
    auto instance = std::make_unique<Instance>(functions_, description_, log);
    if (!instance->create(name, root, use)) return nullptr;
    return instance;
  }

 private:
  Functions functions_;
  const FmuDescription& description_;
};

}  // namespace entrain::subsystem
