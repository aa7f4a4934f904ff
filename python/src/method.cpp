#include "method.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "entrain/fact_codes.hpp"

namespace entrain::python {
namespace {

/// The coupled system as a method in Python sees it: numbers are copied in and out, so that nothing refers to memory of
/// the engine, and after the run every call is refused.
class SystemView {
 public:
  SystemView(CoupledSystem* system, Duration step) : system_(system), step_(step) {}
  CoupledSystem& get() const {
    if (system_ == nullptr) throw nb::value_error("the run of this coupled system is over");
    return *system_;
  }
  void close() { system_ = nullptr; }
  /// Of a step: that of the run to the last bit unless it really is another one, as in all methods.
  Duration size_of(Time from, Time to) const {
    if (!(to > from)) throw nb::value_error("a step ends after its start");
    const double roundings = 16.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(from), std::abs(to));
    return std::abs(to - from - step_) <= roundings ? step_ : to - from;
  }

 private:
  CoupledSystem* system_;
  Duration step_;
};

SubsystemId subsystem_id(const CoupledSystem& system, std::size_t s) {
  if (s >= system.size()) throw nb::index_error("no such subsystem");
  return SubsystemId{s};
}

InputId input_id(const CoupledSystem& system, std::size_t input) {
  if (input >= system.graph().inputs()) throw nb::index_error("no such input");
  return InputId{input};
}

nb::list numbers_of(std::span<const double> numbers) {
  nb::list list;
  for (const double number : numbers) list.append(number);
  return list;
}

template <class Range>
nb::object range_of(const Range& range) {
  return nb::module_::import_("builtins").attr("range")(range.first, range.first + range.count);
}

/// Saved states of some subsystems, released with the object.
class Saved {
 public:
  explicit Saved(std::shared_ptr<SystemView> view) : view_(std::move(view)), saved_(view_->get().save()) {}
  ~Saved() {
    try {
      view_->get().release(saved_);
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the run is over, and its states with it
    }
  }
  Saved(const Saved&) = delete;
  Saved& operator=(const Saved&) = delete;
  void restore() const { view_->get().restore(saved_); }

 private:
  std::shared_ptr<SystemView> view_;
  CoupledSystem::Saved saved_;
};

MethodFamily family_named(const std::string& word) {
  for (const auto family : {MethodFamily::Explicit, MethodFamily::Implicit, MethodFamily::Asynchronous}) {
    if (to_string(family) == word) return family;
  }
  throw nb::value_error("family is 'explicit', 'implicit' or 'asynchronous'");
}

/// One option of a method in Python: an attribute, whose default names its type.
struct Option {
  std::string name;
  std::variant<bool, int, double> value;
};

class PythonMethod : public Method {
 public:
  PythonMethod(nb::object object, std::shared_ptr<Thrown> thrown) : object_(object), thrown_(std::move(thrown)) {
    traits_.name = nb::cast<std::string>(object.attr("name"));
    traits_.summary = nb::cast<std::string>(object.attr("summary"));
    traits_.order = nb::cast<int>(object.attr("order"));
    traits_.family = family_named(nb::cast<std::string>(object.attr("family")));
    traits_.calls_per_step = nb::cast<double>(object.attr("calls_per_step"));
    requirements_.trials = nb::cast<bool>(object.attr("needs_rollback"));
    requirements_.refresh_all = nb::cast<bool>(object.attr("needs_evaluate"));
    for (const nb::handle name : object.attr("options")) {
      options_.push_back({nb::cast<std::string>(name), option_value(object.attr(nb::str(name)))});
    }
  }
  ~PythonMethod() override {
    if (view_) view_->close();
  }
  PythonMethod(const PythonMethod&) = delete;
  PythonMethod& operator=(const PythonMethod&) = delete;

  const MethodTraits& traits() const override { return traits_; }
  Requirements requirements() const override { return requirements_; }

  void bind(OptionBinder& binder) override {
    for (auto& option : options_) {
      std::visit(
          [&](auto& field) {
            using Type = std::decay_t<decltype(field)>;
            if constexpr (std::is_same_v<Type, bool>) {
              binder.boolean(option.name, field, "");
            } else if constexpr (std::is_same_v<Type, int>) {
              binder.integer(option.name, field, "", {});
            } else {
              binder.number(option.name, field, "", {});
            }
          },
          option.value);
    }
  }

  void start(CoupledSystem& system, const RunSettings& settings) override {
    if (!settings.prescribed.empty()) {
      throw Error(ErrorCode::InvalidSystem, "the method '" + traits_.name + "' cannot meet prescribed times");
    }
    if (view_) view_->close();
    view_ = std::make_shared<SystemView>(&system, settings.step);
    time_ = settings.start;
    in_python("start", [&] {
      for (const auto& option : options_) {
        std::visit([&](auto value) { nb::setattr(object_.get(), option.name.c_str(), nb::cast(value)); }, option.value);
      }
      object_.get().attr("_start")(view_, settings.start, settings.stop, settings.step);
    });
  }
  MacroStepReport advance(CoupledSystem& system) override {
    MacroStepReport report;
    in_python("advance", [&] {
      const nb::object returned = object_.get().attr("advance")(view_);
      if (nb::isinstance<nb::tuple>(returned)) {
        report = {nb::cast<double>(returned[0]), nb::cast<std::uint64_t>(returned[1]),
                  nb::len(returned) > 2 ? nb::cast<std::uint64_t>(returned[2]) : 0};
      } else {
        report.reached = nb::cast<double>(returned);
      }
    });
    if (!(report.reached > time_)) {
      refuse("advance", "a time that is not later than that of the step before");
    }
    if (!system.all_at(report.reached)) refuse("advance", "a time that the subsystems have not reached");
    time_ = report.reached;
    return report;
  }
  void constants_changed(CoupledSystem&) override {
    in_python("inputs_changed", [&] { object_.get().attr("inputs_changed")(view_); });
  }

  MethodMemory memory() const override {
    MethodMemory memory;
    in_python("memory", [&] {
      const nb::object bytes = object_.get().attr("_memory")();
      const auto* begin = reinterpret_cast<const std::byte*>(PyBytes_AsString(bytes.ptr()));
      memory.bytes.assign(begin, begin + PyBytes_Size(bytes.ptr()));
    });
    memory.numbers = {time_};
    return memory;
  }
  void restore(const MethodMemory& memory) override {
    time_ = memory.numbers.at(0);
    in_python("restore", [&] {
      object_.get().attr("_restore")(
          nb::bytes(reinterpret_cast<const char*>(memory.bytes.data()), memory.bytes.size()));
    });
  }

 private:
  static std::variant<bool, int, double> option_value(nb::handle value) {
    if (PyBool_Check(value.ptr())) return value.ptr() == Py_True;
    if (PyLong_Check(value.ptr())) return nb::cast<int>(value);
    if (PyFloat_Check(value.ptr())) return nb::cast<double>(value);
    throw nb::type_error("an option of a method is a bool, an int or a float");
  }
  [[noreturn]] void refuse(const char* function, const std::string& returned) const {
    throw Error(ErrorCode::SolverFailed,
                Fact{FactCode::PythonMethodReturn, {traits_.name}, {{"function", function}, {"returned", returned}}},
                {"", "", time_, "Return the time that all subsystems have reached"});
  }

  template <class Function>
  void in_python(const char* function, const Function& call) const {
    const nb::gil_scoped_acquire gil;
    try {
      call();
    } catch (const nb::python_error& error) {
      throw_as_error(error, "", function, time_, *thrown_);
    } catch (const nb::cast_error&) {
      refuse(function, "what is no time");
    } catch (const nb::builtin_exception& error) {
      throw_raised(error.what(), "", function, time_);
    }
  }

  Held object_;
  std::shared_ptr<Thrown> thrown_;
  MethodTraits traits_;
  Requirements requirements_;
  std::vector<Option> options_;
  std::shared_ptr<SystemView> view_;
  Time time_ = 0.0;
};

void set_coefficients(const SystemView& view, std::size_t s, int degree, int p, const std::vector<double>& values) {
  auto& system = view.get();
  if (degree < 0 || degree > kMaxInputDegree || p < 0 || p > degree) throw nb::value_error("0 <= p <= degree <= 3");
  const auto to = system.coefficients(subsystem_id(system, s), degree, p);
  if (values.size() != to.size()) throw nb::value_error("a subsystem has one number per input");
  std::copy(values.begin(), values.end(), to.begin());
}

void commit(const SystemView& view, const std::vector<std::size_t>& subsystems, double from, double to, int degree) {
  auto& system = view.get();
  const Duration size = view.size_of(from, to);
  if (degree < 0 || degree > kMaxInputDegree) throw nb::value_error("0 <= degree <= 3");
  std::vector<StepTask> tasks;
  for (const auto s : subsystems) tasks.push_back({subsystem_id(system, s), from, size, degree, 1, to});
  const nb::gil_scoped_release released;
  system.commit_all(tasks);
}

nb::list connections_of(const SystemView& view) {
  nb::list list;
  for (const auto& c : view.get().graph().connections()) {
    list.append(nb::make_tuple(std::size_t{c.output}, std::size_t{c.input}, c.factor, c.offset));
  }
  return list;
}

}  // namespace

std::unique_ptr<Method> make_method(const Held& maker, const std::shared_ptr<Thrown>& thrown) {
  const nb::gil_scoped_acquire gil;
  try {
    return std::make_unique<PythonMethod>(nb::object(maker.get()()), thrown);
  } catch (const nb::python_error& error) {
    throw_as_error(error, "", "__init__", std::nullopt, *thrown);
  }
}

void bind_method(nb::module_& module) {
  nb::class_<Saved>(module, "Saved").def("restore", &Saved::restore);
  nb::class_<SystemView>(module, "CoupledSystem",
                         "The subsystems, their connections and the signals between them, for a method.")
      .def("__len__", [](const SystemView& v) { return v.get().size(); })
      .def_prop_ro(
          "subsystems",
          [](const SystemView& v) {
            std::vector<std::string> names;
            for (std::size_t s = 0; s < v.get().size(); ++s) names.push_back(v.get().graph().name(SubsystemId{s}));
            return names;
          },
          "Names of the subsystems; everything below counts them from 0.")
      .def(
          "inputs_of",
          [](const SystemView& v, std::size_t s) {
            return range_of(v.get().graph().inputs_of(subsystem_id(v.get(), s)));
          },
          "The numbers of the inputs of a subsystem, over all subsystems.")
      .def(
          "outputs_of",
          [](const SystemView& v, std::size_t s) {
            return range_of(v.get().graph().outputs_of(subsystem_id(v.get(), s)));
          },
          "The numbers of the outputs of a subsystem, over all subsystems.")
      .def_prop_ro("connections", &connections_of, "(output, input, factor, offset) of each connection.")
      .def_prop_ro(
          "outputs", [](const SystemView& v) { return numbers_of(v.get().outputs()); },
          "All outputs at the latest communication times.")
      .def_prop_ro(
          "inputs", [](const SystemView& v) { return numbers_of(v.get().inputs()); },
          "All inputs as they ended the last steps.")
      .def(
          "incoming", [](const SystemView& v, std::size_t input) { return v.get().incoming(input_id(v.get(), input)); },
          "What the connection of an input delivers now; its start value where it has none.")
      .def("time_of", [](const SystemView& v, std::size_t s) { return v.get().time_of(subsystem_id(v.get(), s)); })
      .def(
          "next_event",
          [](const SystemView& v, std::size_t s, double t) { return v.get().next_event(subsystem_id(v.get(), s), t); },
          "The next discontinuity that a subsystem announces after t; inf if none.")
      .def(
          "hold_all_inputs", [](const SystemView& v) { v.get().hold_all_inputs(); },
          "Inputs of the next step: what the connections deliver now.")
      .def(
          "set_inputs",
          [](const SystemView& v, std::size_t s, const std::vector<double>& values) {
            set_coefficients(v, s, 0, 0, values);
          },
          "Inputs of the next step of a subsystem, held over it.")
      .def("set_coefficients", &set_coefficients, "s"_a, "degree"_a, "p"_a, "values"_a,
           "Coefficient p of the input polynomials of the next step, in the time since its start.")
      .def(
          "step_all",
          [](const SystemView& v, double from, double to) {
            const Duration size = v.size_of(from, to);
            const nb::gil_scoped_release released;
            v.get().commit_everyone({from, size, to});
          },
          "start"_a, "end"_a, "All subsystems step together, with held inputs.")
      .def("step", &commit, "subsystems"_a, "start"_a, "end"_a, "degree"_a = 0,
           "Some subsystems step together, with input polynomials of this degree.")
      .def(
          "save", [](std::shared_ptr<SystemView> view) { return std::make_unique<Saved>(std::move(view)); },
          "The state of all subsystems and signals, to be restored; needs rollback in each.")
      .def("refresh_signals", [](const SystemView& v, double t) { v.get().refresh_signals(t); });
}

}  // namespace entrain::python
