#pragma once

#include "subsystem/fmi/versioned_instance.hpp"

namespace entrain::subsystem {

/// What instances of FMI 1 and FMI 2 do alike: every variable is a scalar, and what inputs do in a step is sent by
/// their derivatives. `Boolean`: the type of the version.
template <class Functions, class Handle, class Boolean>
class ScalarInstance : public VersionedInstance<Functions, Handle> {
  using Base = VersionedInstance<Functions, Handle>;

 public:
  FmuResult set_values(const FmuVariable& variable, std::span<const Value> values) override {
    const ValueReference* reference = &variable.reference;
    const Value& value = values.front();
    switch (variable.type) {
      case FmuType::Float64: return call(functions_.set_reals, reference, 1U, &std::get<double>(value));
      case FmuType::Boolean: {
        const Boolean boolean = std::get<bool>(value) ? 1 : 0;
        return call(functions_.set_boolean, reference, 1U, &boolean);
      }
      case FmuType::String: {
        const char* text = std::get<std::string>(value).c_str();
        return call(functions_.set_string, reference, 1U, &text);
      }
      default: {
        const auto integer = checked_integer<int>(variable, value);
        return call(functions_.set_integer, reference, 1U, &integer);
      }
    }
  }
  FmuResult get_values(const FmuVariable& variable, std::span<Value> values) override {
    if (variable.numbered > 0) return Base::get_numbered(variable, values);
    Value& value = values.front();
    switch (variable.type) {
      case FmuType::Float64: return get(functions_.get_reals, variable, 0.0, [&](double number) { value = number; });
      case FmuType::Boolean:
        return get(functions_.get_boolean, variable, Boolean{}, [&](Boolean flag) { value = flag != 0; });
      case FmuType::String:
        return get(functions_.get_string, variable, static_cast<const char*>(nullptr),
                   [&](const char* text) { value = std::string(text == nullptr ? "" : text); });
      default: return get(functions_.get_integer, variable, 0, [&](int number) { value = std::int64_t{number}; });
    }
  }
  FmuResult enter_configuration() override { return {FmuStatus::Error, "the configuration mode, which FMI 3 has"}; }
  FmuResult exit_configuration() override { return enter_configuration(); }

  FmuResult set_reals(const FmuReals& reals, const double* values) override {
    return call(functions_.set_reals, reals.doubles.data(), reals.doubles.size(), values);
  }
  FmuResult get_reals(const FmuReals& reals, double* values) override {
    return call(functions_.get_reals, reals.doubles.data(), reals.doubles.size(), values);
  }
  FmuResult set_input_derivatives(std::span<const ValueReference> references, const int* orders,
                                  const double* values) override {
    refused_order_ = 0;
    const std::size_t count = references.size();
    const bool one_order = count == 0 || orders[0] == orders[count - 1];
    if (!one_order && !order_by_order_) {
      const FmuResult all = call(functions_.set_input_derivatives, references.data(), count, orders, values);
      if (all.status == FmuStatus::Ok || !all.done()) return all;
      order_by_order_ = true;  // the standard allows several orders in a call; some FMUs warn, and hold their inputs
    }
    FmuResult result;
    for (std::size_t first = 0; first < count && result.done();) {
      std::size_t end = first;
      while (end < count && orders[end] == orders[first]) ++end;
      const FmuResult one = call(functions_.set_input_derivatives, references.data() + first, end - first,
                                 orders + first, values + first);
      if (one.status == FmuStatus::Warning && refused_order_ == 0) refused_order_ = orders[first];
      result = graver(result, one);
      first = end;
    }
    return result;
  }
  FmuResult get_output_derivatives(std::span<const ValueReference> references, const int* orders,
                                   double* values) override {
    return call(functions_.get_output_derivatives, references.data(), references.size(), orders, values);
  }
  FmuResult adjoint_product(std::span<const ValueReference>, std::span<const ValueReference>, std::span<const double>,
                            std::span<double>) override {
    return {FmuStatus::Error, "an adjoint derivative, which FMI 3 has"};
  }

  FmuStepResult step(const FmuStepCall& arguments, double* outputs) override {
    code_.set_time(arguments.from);
    FmuResult sent;
    if (!arguments.inputs.empty()) sent = set_reals(arguments.inputs, arguments.input_values);
    return made_with_inputs(sent, arguments, outputs);
  }

  FmuResult count_event_indicators(std::size_t&) override { return {}; }

 protected:
  using Base::Base;
  using Base::call;
  using Base::code_;
  using Base::functions_;

  /// The call of the step itself.
  virtual FmuResult make_step(const FmuStepCall& arguments) = 0;
  /// After a discarded step that began at `from`.
  virtual void ask_how_far(FmuStepResult& result, Time from) const = 0;

 private:
  template <class Symbol, class Plain, class Keep>
  FmuResult get(const Symbol& symbol, const FmuVariable& variable, Plain plain, Keep&& keep) {
    const FmuResult result = call(symbol, &variable.reference, 1U, &plain);
    if constexpr (std::is_pointer_v<Plain>) {
      // The FMU says where it lies: what happens when it is read there is of the same call.
      if (result.done()) code_.call(symbol.name(), keep, plain);
    } else {
      keep(plain);
    }
    return result;
  }
  FmuStepResult made_with_inputs(FmuResult sent, const FmuStepCall& arguments, double* outputs) override {
    const Time end = arguments.from + arguments.size;
    if (!sent.done()) return Base::failed({sent, end});
    if (!arguments.derivative_inputs.empty()) {
      sent = graver(sent, set_input_derivatives(arguments.derivative_inputs, arguments.derivative_orders,
                                                arguments.derivative_values));
      if (!sent.done()) return Base::failed({sent, end});
    }
    const int refused = arguments.derivative_inputs.empty() ? 0 : refused_order_;
    const FmuResult made = make_step(arguments);
    FmuStepResult result = ended(refused > 0 ? made : graver(sent, made), {}, arguments, outputs);
    result.refused_order = refused;
    return result;
  }
  FmuStepResult ended(const FmuResult& made, const FmuEnding&, const FmuStepCall& arguments, double* outputs) override {
    FmuStepResult result{made, arguments.from + arguments.size};
    if (made.status == FmuStatus::Discard) ask_how_far(result, arguments.from);
    return Base::with_outputs(result, arguments, outputs);
  }

  bool order_by_order_ = false;  ///< input derivatives are set in one call for each order
  int refused_order_ = 0;        ///< by the last call that set them
};

}  // namespace entrain::subsystem
