#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "entrain/entrain.hpp"
#include "entrain/text.hpp"

namespace entrain::python {

namespace nb = nanobind;
using namespace nb::literals;

/// A Python object that the engine may copy and drop in any thread, whether the GIL is held or not.
class Held {
 public:
  Held() = default;
  explicit Held(nb::object object) : object_(new nb::object(std::move(object)), drop) {}
  /// With the GIL.
  nb::handle get() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  static void drop(nb::object* object) {
    if (Py_IsInitialized() == 0) return;  // the interpreter has ended, and all objects with it
    const nb::gil_scoped_acquire gil;
    delete object;
  }
  std::shared_ptr<nb::object> object_;
};

/// What Python code threw inside a call of the engine: kept, so that it reaches the caller with its traceback.
class Thrown {
 public:
  /// Only the first is kept. With the GIL.
  void keep(const nb::python_error& error);
  /// None when nothing was thrown; forgets it. With the GIL.
  nb::object take();

 private:
  std::mutex mutex_;
  Held first_;
};

/// The error of the run that a Python exception ends; keeps the exception. A KeyboardInterrupt is an interruption.
/// `function`: "step". With the GIL.
[[noreturn]] void throw_as_error(const nb::python_error& error, const std::string& subsystem, const char* function,
                                 std::optional<Time> time, Thrown& thrown);

/// The same of what is known as a text: "TypeError: ...".
[[noreturn]] void throw_raised(const std::string& what, const std::string& subsystem, const char* function,
                               std::optional<Time> time);

/// A number, bool, text or bytes. Throws nb::type_error.
Value value_of(nb::handle object);
nb::object object_of(const Value& value);
nb::object object_of(const OptionValue& value);
OptionValue option_of(nb::handle object);
nb::dict dict_of(const Fact& fact);
nb::list list_of(const std::vector<Fact>& facts);
nb::list list_of(const std::vector<Problem>& problems);
/// entrain.Error with all that is known.
nb::object error_object(const Error& error);
/// For Python to look at without a copy.
nb::object results_object(Results results);

/// What a call of the engine is given by Python: how it is interrupted, what is called as it goes on.
class Control {
 public:
  /// `progress`: called with a text and a part of 1, some times a second; None = not at all.
  explicit Control(nb::object progress) : progress_(std::move(progress)) {}

  std::atomic<bool>& interrupt() { return interrupt_; }
  Thrown& thrown() { return *thrown_; }
  const std::shared_ptr<Thrown>& shared_thrown() { return thrown_; }
  /// By the handler of a signal, or by `progress`: not of the run, but of its caller.
  Thrown& raised() { return raised_; }
  /// From the engine, any number of times a second, without the GIL. Runs the handlers of signals, too.
  void report(const char* what, double fraction);

 private:
  bool is_time();

  Held progress_;
  std::atomic<bool> interrupt_ = false;
  std::shared_ptr<Thrown> thrown_ = std::make_shared<Thrown>();
  Thrown raised_;
  std::atomic<std::int64_t> last_ = 0;  ///< when it was reported last, in ms
};

/// While it lives, Ctrl-C sets the flag of the Listening below, besides what it does in Python code. In the main
/// thread, and where Python would raise a KeyboardInterrupt, alone: a program that handles SIGINT itself decides what
/// it means.
class InterruptHandler {
 public:
  InterruptHandler();
  ~InterruptHandler();
  InterruptHandler(const InterruptHandler&) = delete;
  InterruptHandler& operator=(const InterruptHandler&) = delete;
  bool installed() const { return installed_; }

 private:
  bool installed_ = false;
};

/// The call of the engine that the main thread is in from here on. Cheap.
class Listening {
 public:
  Listening(const InterruptHandler& handler, std::atomic<bool>& flag);
  ~Listening();
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  bool listens_;
  std::atomic<bool>* before_ = nullptr;
};

/// After a call that was interrupted: the KeyboardInterrupt that waits for Python code has done its work, for what is
/// there is kept and returned. Anything else that a handler of a signal throws goes to `raised`.
void take_interrupt(Thrown& raised);

/// Calls the engine without the GIL, with Ctrl-C.
template <class Function>
auto outside(Control& control, const Function& function) {
  struct Taking {
    Control& control;
    ~Taking() {
      if (control.interrupt()) take_interrupt(control.raised());
    }
  };
  control.interrupt() = false;
  const InterruptHandler handler;
  const Taking taking{control};
  const Listening listening(handler, control.interrupt());
  const nb::gil_scoped_release released;
  return function();
}

/// Subsystems and methods written in Python, for one call of the engine.
Extensions make_extensions(nb::dict subsystems, nb::list methods, const std::shared_ptr<Thrown>& thrown);

/// Calls the engine with the subsystems and methods that are written in Python, without the GIL.
template <class Function>
auto extended(nb::dict subsystems, nb::list methods, Control& control, const Function& function) {
  const Extensions extensions = make_extensions(std::move(subsystems), std::move(methods), control.shared_thrown());
  return outside(control, [&] { return function(extensions); });
}

/// The pace of a run or of learning, as it is written; none = as fast as it can.
std::optional<RealTimeOptions> pace_of(const SystemDescription& description, bool priority);
/// Throws nb::value_error.
OverrunRule overrun_of(const std::string& word);

void bind_values(nb::module_& module);
void bind_description(nb::module_& module);
void bind_method(nb::module_& module);
void bind_real_time(nb::module_& module);
void bind_results(nb::module_& module);
void bind_run(nb::module_& module);
void bind_simulation(nb::module_& module);
void bind_sweep(nb::module_& module);
void bind_verbs(nb::module_& module);

}  // namespace entrain::python
