#include <map>

#include "common.hpp"
#include "entrain/fact_codes.hpp"
#include "method.hpp"

namespace entrain::python {
namespace {

/// Of entrain._subsystem.Port.
Variable variable_of(nb::handle port) {
  Variable variable;
  variable.name = nb::cast<std::string>(port.attr("name"));
  variable.unit = nb::cast<std::string>(port.attr("unit"));
  variable.description = nb::cast<std::string>(port.attr("description"));
  variable.start = value_of(port.attr("start"));
  variable.type = static_cast<ValueType>(variable.start->index());
  return variable;
}

/// A subsystem written in Python. What it is, and the object that steps, is behind entrain._subsystem.Adapter; here are
/// the calls. Every one of them holds the GIL, and returns what Python throws as an Error.
class PythonSubsystem : public Subsystem, Rollback, Reset, Tuning, DiscreteValues {
 public:
  PythonSubsystem(std::string_view name, nb::object adapter, std::shared_ptr<Thrown> thrown)
      : name_(name), adapter_(adapter), thrown_(std::move(thrown)) {
    read_ports(adapter.attr("inputs"), variables_.inputs, variables_.discrete_inputs, input_keys_, discrete_in_);
    read_ports(adapter.attr("outputs"), variables_.outputs, variables_.discrete_outputs, output_keys_, discrete_out_);
    for (const nb::handle port : adapter.attr("parameters")) variables_.parameters.push_back(variable_of(port));
    for (const auto& input : variables_.inputs) start_inputs_.push_back(std::get<double>(*input.start));
    can_save_ = nb::cast<bool>(adapter.attr("can_save"));
    can_evaluate_ = nb::cast<bool>(adapter.attr("can_evaluate"));
    capabilities_.rollback = can_save_;
    capabilities_.reset = true;
    capabilities_.calling_thread = true;  // Ctrl-C interrupts Python code in the main thread alone
    capabilities_.output_refresh = can_evaluate_;
    capabilities_.feedthrough = Feedthrough(variables_.outputs.size(), variables_.inputs.size(), can_evaluate_);
    if (const nb::object step = adapter.attr("step_size"); !step.is_none()) {
      capabilities_.imposed_step = nb::cast<double>(step);
    }
    take_starts();
  }

  std::string_view name() const noexcept override { return name_; }
  const VariableTable& variables() const noexcept override { return variables_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  Facets facets() noexcept override {
    Facets facets;
    if (can_save_) facets.rollback = this;
    facets.reset = this;
    if (!variables_.parameters.empty()) facets.tuning = this;
    if (!discrete_in_.empty() || !discrete_out_.empty()) facets.discrete = this;
    return facets;
  }

  void set_start(VariableTable::Place place, const Value& value) override {
    if (place.causality == Causality::Parameter) return set_parameter(place.index, value);
    if (place.causality == Causality::DiscreteInput) discrete_in_[place.index] = value;
  }
  void initialize(Time start, Time stop) override {
    time_ = start;
    in_python("initialize", [&] { adapter_.get().attr("initialize")(start, stop); });
    take_starts();
    if (can_evaluate_) {  // discrete outputs are read before any real input is known
      std::vector<double> outputs(outputs_.size());
      evaluate(start_inputs_, outputs);
    }
  }
  void evaluate(std::span<const double> inputs, std::span<double> outputs) override {
    if (can_evaluate_) {
      in_python("evaluate",
                [&] { take(adapter_.get().attr("evaluate")(time_, inputs_from(inputs.data())), "evaluate"); });
    }
    std::copy(outputs_.begin(), outputs_.end(), outputs.begin());
  }
  StepReport step(const Step& step, std::span<double> outputs) override {
    time_ = step.from;
    in_python("step", [&] {
      if (!step_) step_ = Held(adapter_.get().attr("step"));
      take(step_.get()(step.from, step.size, inputs_from(step.inputs.order(0).data())), "step");
    });
    time_ = step.from + step.size;
    std::copy(outputs_.begin(), outputs_.end(), outputs.begin());
    return {time_};
  }

  // Rollback.
  StateId save() override {
    State state{{}, time_, outputs_, discrete_in_, discrete_out_};
    in_python("save", [&] { state.object = Held(nb::object(adapter_.get().attr("save")())); });
    states_[++last_state_] = std::move(state);
    return StateId{last_state_};
  }
  void restore(StateId id) override {
    const State& state = states_.at(static_cast<std::uint32_t>(id));
    in_python("restore", [&] { adapter_.get().attr("restore")(state.object.get()); });
    time_ = state.time;
    outputs_ = state.outputs;
    discrete_in_ = state.discrete_in;
    discrete_out_ = state.discrete_out;
  }
  void release(StateId id) override { states_.erase(static_cast<std::uint32_t>(id)); }
  bool can_serialize() const override { return true; }
  std::vector<std::byte> serialize(StateId id) override {
    const State& state = states_.at(static_cast<std::uint32_t>(id));
    std::vector<std::byte> bytes;
    in_python("save", [&] {
      const auto all = nb::make_tuple(state.object.get(), state.time, state.outputs, objects_of(state.discrete_in),
                                      objects_of(state.discrete_out));
      const nb::object text = adapter_.get().attr("dumps")(all);
      const auto* begin = reinterpret_cast<const std::byte*>(PyBytes_AsString(text.ptr()));
      bytes.assign(begin, begin + PyBytes_Size(text.ptr()));
    });
    return bytes;
  }
  StateId deserialize(std::span<const std::byte> bytes) override {
    State state;
    in_python("restore", [&] {
      const nb::bytes text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      const nb::object all = adapter_.get().attr("loads")(text);
      state.object = Held(nb::object(all[0]));
      state.time = nb::cast<double>(all[1]);
      state.outputs = nb::cast<std::vector<double>>(all[2]);
      for (const nb::handle value : nb::object(all[3])) state.discrete_in.push_back(value_of(value));
      for (const nb::handle value : nb::object(all[4])) state.discrete_out.push_back(value_of(value));
    });
    states_[++last_state_] = std::move(state);
    return StateId{last_state_};
  }

  void reset() override {
    in_python("reset", [&] { adapter_.get().attr("reset")(); });
    step_ = {};
    take_starts();
  }

  void set_parameter(std::size_t parameter, const Value& value) override {
    in_python("set_parameter",
              [&] { adapter_.get().attr("set_parameter")(variables_.parameters[parameter].name, object_of(value)); });
  }

  void read(std::span<const std::size_t> outputs, std::span<Value> values) override {
    for (std::size_t i = 0; i < outputs.size(); ++i) values[i] = discrete_out_[outputs[i]];
  }
  void write(std::span<const std::size_t> inputs, std::span<const Value> values) override {
    for (std::size_t i = 0; i < inputs.size(); ++i) discrete_in_[inputs[i]] = values[i];
  }

 private:
  struct State {
    Held object;
    Time time = 0.0;
    std::vector<double> outputs;
    std::vector<Value> discrete_in, discrete_out;
  };
  /// The name of a port as Python has it, and where its value is.
  struct Key {
    Held name;
    bool discrete = false;
    std::size_t index = 0;
  };

  static void read_ports(nb::handle ports, std::vector<Variable>& real, std::vector<Variable>& discrete,
                         std::vector<Key>& keys, std::vector<Value>& starts) {
    for (const nb::handle port : ports) {
      Variable variable = variable_of(port);
      const bool is_real = variable.type == ValueType::Real;
      auto& list = is_real ? real : discrete;
      keys.push_back({Held(nb::object(port.attr("name"))), !is_real, list.size()});
      if (!is_real) starts.push_back(*variable.start);
      list.push_back(std::move(variable));
    }
  }

  void take_starts() {
    outputs_.clear();
    for (const auto& output : variables_.outputs) outputs_.push_back(std::get<double>(*output.start));
    for (std::size_t i = 0; i < discrete_out_.size(); ++i) discrete_out_[i] = *variables_.discrete_outputs[i].start;
  }

  template <class Function>
  void in_python(const char* function, const Function& call) {
    const nb::gil_scoped_acquire gil;
    try {
      call();
    } catch (const nb::python_error& error) {
      throw_as_error(error, name_, function, time_, *thrown_);
    } catch (const nb::builtin_exception& error) {
      throw_raised(error.what(), name_, function, time_);
    }
  }

  nb::dict inputs_from(const double* values) const {
    nb::dict dict;
    for (const auto& key : input_keys_) {
      dict[key.name.get()] = key.discrete ? object_of(discrete_in_[key.index]) : nb::float_(values[key.index]);
    }
    return dict;
  }
  static nb::list objects_of(const std::vector<Value>& values) {
    nb::list list;
    for (const auto& value : values) list.append(object_of(value));
    return list;
  }

  [[noreturn]] void refuse(FactCode code, std::vector<FactValue> values, std::string remedy,
                           const std::string& variable = "") const {
    throw Error(ErrorCode::SubsystemFailed, Fact{code, {name_}, std::move(values)},
                {name_, variable, time_, std::move(remedy)});
  }
  [[noreturn]] void refuse_shape(const char* function, const std::string& returned) const {
    refuse(FactCode::PythonOutputShape,
           {{"function", function}, {"returned", returned}, {"outputs", output_keys_.size()}},
           "Return a dict by name, a sequence in the order of `outputs`, or a number where there is one output");
  }
  [[noreturn]] void refuse_type(const Key& key, nb::handle value, const std::string& expected) const {
    const std::string& name = name_of_output(key);
    refuse(FactCode::PythonOutputType, {{"output", name}, {"returned", type_name(value)}, {"expected", expected}},
           "Return " + expected + (key.discrete ? ", as its start value is, or give it another one" : ""), name);
  }
  const std::string& name_of_output(const Key& key) const {
    return (key.discrete ? variables_.discrete_outputs : variables_.outputs)[key.index].name;
  }

  /// What a function returned: a dict by name, a sequence in the order of the outputs, a number where there is one.
  void take(const nb::object& returned, const char* function) {
    if (nb::isinstance<nb::dict>(returned)) return take_dict(nb::borrow<nb::dict>(returned), function);
    if (returned.is_none() && output_keys_.empty()) return;
    if (output_keys_.size() == 1 && (PyFloat_Check(returned.ptr()) || PyLong_Check(returned.ptr()))) {
      return take_one(output_keys_.front(), returned);
    }
    const bool is_text = PyUnicode_Check(returned.ptr()) || PyBytes_Check(returned.ptr());
    if (is_text || PySequence_Check(returned.ptr()) == 0) {
      if (output_keys_.size() == 1 && !returned.is_none()) return take_one(output_keys_.front(), returned);
      refuse_shape(function, type_name(returned));
    }
    const auto size = nb::len(returned);
    if (size != output_keys_.size()) {
      refuse_shape(function, std::to_string(size) + (size == 1 ? " value" : " values"));
    }
    for (std::size_t i = 0; i < size; ++i) take_one(output_keys_[i], nb::object(returned[i]));
  }
  void take_dict(const nb::dict& returned, const char* function) {
    for (const auto& key : output_keys_) {
      PyObject* value = PyDict_GetItemWithError(returned.ptr(), key.name.get().ptr());
      if (value == nullptr) {
        const std::string& name = name_of_output(key);
        refuse(FactCode::PythonOutputMissing, {{"function", function}, {"output", name}}, "Return all of `outputs`",
               name);
      }
      take_one(key, nb::handle(value));
    }
    if (nb::len(returned) != output_keys_.size()) refuse_unknown(returned, function);
  }
  [[noreturn]] void refuse_unknown(const nb::dict& returned, const char* function) const {
    std::vector<std::string> known;
    for (const auto& key : output_keys_) known.push_back(name_of_output(key));
    for (const auto& [key, value] : returned) {
      const std::string name = nb::cast<std::string>(nb::str(key));
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      std::string remedy = "Return names of `outputs` alone; " + suggestion(name, known);
      refuse(FactCode::PythonOutputUnknown, {{"function", function}, {"output", name}}, std::move(remedy));
    }
    refuse_shape(function, std::to_string(nb::len(returned)) + " values");
  }
  void take_one(const Key& key, nb::handle value) {
    if (key.discrete) return take_discrete(key, value);
    double number = 0.0;
    if (PyFloat_Check(value.ptr())) {
      number = PyFloat_AsDouble(value.ptr());
    } else {
      const bool is_text = PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr());
      number = is_text ? -1.0 : PyFloat_AsDouble(value.ptr());
      if (is_text || PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        refuse_type(key, value, "a number");
      }
    }
    outputs_[key.index] = number;
  }
  void take_discrete(const Key& key, nb::handle value) {
    const ValueType type = variables_.discrete_outputs[key.index].type;
    std::optional<Value> taken;
    try {
      taken = value_of(value);
    } catch (const nb::builtin_exception&) {
      refuse_type(key, value, word_of(type));
    }
    if (static_cast<ValueType>(taken->index()) != type) refuse_type(key, value, word_of(type));
    discrete_out_[key.index] = *std::move(taken);
  }
  static std::string word_of(ValueType type) {
    switch (type) {
      case ValueType::Boolean: return "a bool";
      case ValueType::String: return "a str";
      case ValueType::Binary: return "bytes";
      default: return "an int";
    }
  }
  static std::string type_name(nb::handle value) {
    return "a " + nb::cast<std::string>(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(value.ptr()))).attr("__name__"));
  }

  std::string name_;
  Held adapter_;
  Held step_;  ///< of the object that is stepped
  std::shared_ptr<Thrown> thrown_;
  VariableTable variables_;
  Capabilities capabilities_;
  std::vector<Key> input_keys_, output_keys_;
  std::vector<double> start_inputs_;
  std::vector<double> outputs_;
  std::vector<Value> discrete_in_, discrete_out_;
  bool can_save_ = false;
  bool can_evaluate_ = false;
  Time time_ = 0.0;
  std::map<std::uint32_t, State> states_;
  std::uint32_t last_state_ = 0;
};

}  // namespace

Extensions make_extensions(nb::dict subsystems, nb::list methods, const std::shared_ptr<Thrown>& thrown) {
  Extensions extensions;
  if (nb::len(subsystems) > 0) {
    extensions.subsystems = [makers = Held(subsystems), thrown](std::string_view kind,
                                                                std::string_view name) -> std::unique_ptr<Subsystem> {
      if (!kind.starts_with("python.")) return nullptr;
      const nb::gil_scoped_acquire gil;
      const auto all = nb::borrow<nb::dict>(makers.get());
      const nb::str key(name.data(), name.size());
      if (!all.contains(key)) return nullptr;
      try {
        return std::make_unique<PythonSubsystem>(name, nb::object(all[key]()), thrown);
      } catch (const nb::python_error& error) {
        throw_as_error(error, std::string(name), "__init__", std::nullopt, *thrown);
      }
    };
  }
  for (const nb::handle maker : methods) {
    extensions.methods.push_back([held = Held(nb::borrow(maker)), thrown] { return make_method(held, thrown); });
  }
  return extensions;
}

}  // namespace entrain::python
