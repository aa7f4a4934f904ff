#include "common.hpp"

namespace entrain::python {
namespace {

template <class Choice>
Choice choice_of(const std::string& word, const char* what) {
  if (const auto choice = from_word<Choice>(word)) return *choice;
  std::string known;
  for (const auto other : words_of<Choice>()) known += (known.empty() ? "'" : ", '") + std::string(other) + "'";
  throw nb::value_error((std::string(what) + " is one of " + known).c_str());
}

RigOptions rig_options_of(nb::dict given, Control& control) {
  RigOptions options;
  options.delay = nb::cast<double>(given["delay"]);
  options.jitter = nb::cast<double>(given["jitter"]);
  options.loss = nb::cast<double>(given["loss"]);
  options.doubled = nb::cast<double>(given["doubled"]);
  options.actuator_delay = nb::cast<double>(given["actuator_delay"]);
  options.actuator_lag = nb::cast<double>(given["actuator_lag"]);
  options.answer = choice_of<RigAnswer>(nb::cast<std::string>(given["answer"]), "answer");
  options.seed = nb::cast<std::uint64_t>(given["seed"]);
  options.runs = nb::cast<std::uint64_t>(given["runs"]);
  options.patience = nb::cast<std::optional<double>>(given["patience"]);
  options.keeps_arrivals = true;
  options.interrupt = &control.interrupt();
  if (const nb::object listening = given["listening"]; !listening.is_none()) {
    options.listening = [call = Held(listening), &control](const std::string& address) {
      const nb::gil_scoped_acquire gil;
      try {
        call.get()(address);
      } catch (nb::python_error& error) {  // the caller gets it when the rig has ended
        control.raised().keep(error);
        control.interrupt() = true;
      }
    };
  }
  return options;
}

nb::dict dict_of(const RigReport& report) {
  nb::dict dict;
  dict["runs"] = nb::cast(report.runs);
  dict["received"] = nb::cast(report.received);
  dict["invalid"] = nb::cast(report.invalid);
  dict["old"] = nb::cast(report.old);
  dict["gaps"] = nb::cast(report.gaps);
  dict["sent"] = nb::cast(report.sent);
  dict["withheld"] = nb::cast(report.withheld);
  dict["arrivals"] = nb::cast(report.arrivals);
  return dict;
}

nb::dict dict_of(const ControlledState& state) {
  nb::dict dict;
  dict["state"] = nb::cast(state.state);
  dict["time"] = nb::cast(state.time);
  dict["stop"] = nb::cast(state.stop);
  dict["macro_steps"] = nb::cast(state.macro_steps);
  return dict;
}

/// A connection to a run that goes on. One thread at a time.
class Connection {
 public:
  explicit Connection(const std::filesystem::path& folder) {
    call([&] { control_ = std::make_unique<RunControl>(folder); });
  }
  nb::dict status() {
    return state([&] { return control_->status(); });
  }
  nb::dict pause() {
    return state([&] { return control_->pause(); });
  }
  nb::dict resume() {
    return state([&] { return control_->resume(); });
  }
  nb::dict step(std::uint64_t steps) {
    return state([&] { return control_->step(steps); });
  }
  nb::dict set(const std::string& variable, nb::handle object) {
    const Value value = value_of(object);
    return state([&] { return control_->set(variable, value); });
  }
  void stop() {
    call([&] { control_->stop(); });
  }
  /// (time, values), or None when the run has ended.
  nb::object sample(const std::vector<std::string>& signals, double every) {
    std::optional<ControlledSample> sample;
    Thrown raised;
    call([&] {
      const auto take = [&](const ControlledSample& found) {
        sample = found;
        return false;
      };
      control_->subscribe(signals, every, take, [&] { return goes_on(raised); });
    });
    if (const nb::object error = raised.take(); !error.is_none()) {
      PyErr_SetObject(error.type().ptr(), error.ptr());
      throw nb::python_error();
    }
    if (!sample) return nb::none();
    return nb::make_tuple(sample->time, sample->values);
  }

 private:
  /// Whether no handler of a signal threw.
  static bool goes_on(Thrown& raised) {
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() == 0) return true;
    raised.keep(nb::python_error());
    return false;
  }
  template <class Function>
  void call(const Function& function) {
    if (busy_.exchange(true)) throw nb::value_error("another thread uses this connection");
    struct Leaving {
      std::atomic<bool>& busy;
      ~Leaving() { busy = false; }
    };
    const Leaving leaving{busy_};
    const nb::gil_scoped_release released;
    function();
  }
  template <class Function>
  nb::dict state(const Function& function) {
    ControlledState state;
    call([&] { state = function(); });
    return dict_of(state);
  }

  std::atomic<bool> busy_ = false;
  std::unique_ptr<RunControl> control_;
};

}  // namespace

std::optional<RealTimeOptions> pace_of(const SystemDescription& description, bool priority) {
  if (!description.real_time) return std::nullopt;
  RealTimeOptions options;
  options.factor = description.real_time->value;
  if (description.overrun) options.overrun = description.overrun->value;
  options.priority = priority;
  return options;
}

OverrunRule overrun_of(const std::string& word) {
  return choice_of<OverrunRule>(word, "overrun");
}

void bind_real_time(nb::module_& module) {
  module.def("play_rig", [](const SystemDescription& description, nb::dict subsystems, nb::list methods,
                            Control& control, const std::string& subsystem, nb::dict given) {
    const RigOptions options = rig_options_of(given, control);
    return dict_of(extended(subsystems, methods, control, [&](const Extensions& extensions) {
      return play_rig(description, subsystem, options, extensions);
    }));
  });
  nb::class_<Connection>(module, "Connection")
      .def(nb::init<const std::filesystem::path&>())
      .def("status", &Connection::status)
      .def("pause", &Connection::pause)
      .def("resume", &Connection::resume)
      .def("step", &Connection::step)
      .def("set", &Connection::set)
      .def("stop", &Connection::stop)
      .def("sample", &Connection::sample);
}

}  // namespace entrain::python
