#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "common.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::python {
namespace {

nb::object bytes_of(const Binary& binary) {
  return nb::bytes(reinterpret_cast<const char*>(binary.bytes.data()), binary.bytes.size());
}

nb::object object_of(const std::variant<double, std::string>& value) {
  return std::visit([](const auto& of) -> nb::object { return nb::cast(of); }, value);
}

std::string_view name_of_kind(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidSystem: return "invalid-system";
    case ErrorCode::FileFailed: return "file-failed";
    case ErrorCode::MissingCapability: return "missing-capability";
    case ErrorCode::SubsystemFailed: return "subsystem-failed";
    case ErrorCode::LoopNotSolved: return "loop-not-solved";
    case ErrorCode::SolverFailed: return "solver-failed";
  }
  return "";
}

nb::dict dict_of(const Problem& problem) {
  nb::dict dict = python::dict_of(fact_of(problem));
  dict["text"] = nb::cast(to_string(problem));
  dict["kind"] = problem.severity == Problem::Severity::Error ? "error" : "warning";
  return dict;
}

void translate(const std::exception_ptr& exception, void*) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    const nb::object object = error_object(error);
    PyErr_SetObject(object.type().ptr(), object.ptr());
  }
}

constexpr std::int64_t kReportEvery = 100;  // ms

std::int64_t now_in_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

// Of the call that the main thread is in. Read by the handler of a signal.
std::atomic<std::atomic<bool>*> interrupted_flag = nullptr;
int handlers = 0;  // that live; changed by the main thread alone
struct sigaction before_us;

/// Besides that of Python, which makes a KeyboardInterrupt where Python code runs. The system may choose any thread for
/// a signal, but code in the main thread, `time.sleep` too, notices only what arrives there.
void on_interrupt(int number) {
  if (gettid() != getpid()) {
    ::tgkill(getpid(), getpid(), number);
    return;
  }
  if (auto* flag = interrupted_flag.load()) flag->store(true);
  if (before_us.sa_handler != SIG_DFL && before_us.sa_handler != SIG_IGN) before_us.sa_handler(number);
}

/// Programs that handle SIGINT themselves decide what it means.
bool python_would_raise() {
  const auto signals = nb::module_::import_("signal");
  const auto threading = nb::module_::import_("threading");
  if (!threading.attr("current_thread")().is(threading.attr("main_thread")())) return false;
  return signals.attr("getsignal")(signals.attr("SIGINT")).is(signals.attr("default_int_handler"));
}

}  // namespace

nb::object error_object(const Error& error) {
  nb::dict facts = python::dict_of(error.fact());
  const ErrorContext& context = error.context();
  facts["text"] = nb::cast(std::string(error.what()));
  facts["message"] = nb::cast(error.message());
  facts["family"] = nb::cast(name_of_kind(error.code()));
  facts["subsystem"] = nb::cast(context.subsystem);
  facts["variable"] = nb::cast(context.variable);
  facts["time"] = context.time ? nb::cast(*context.time) : nb::none();
  if (!context.remedy.empty()) facts["remedy"] = nb::cast(context.remedy);
  nb::list problems;
  for (const auto& problem : error.problems()) problems.append(dict_of(problem));
  facts["problems"] = problems;
  return nb::module_::import_("entrain._error").attr("Error")(facts);
}

void Thrown::keep(const nb::python_error& error) {
  const std::scoped_lock lock(mutex_);
  if (!first_) first_ = Held(nb::borrow(error.value()));
}

nb::object Thrown::take() {
  const std::scoped_lock lock(mutex_);
  if (!first_) return nb::none();
  nb::object object = nb::borrow(first_.get());
  first_ = {};
  return object;
}

void throw_as_error(const nb::python_error& error, const std::string& subsystem, const char* function,
                    std::optional<Time> time, Thrown& thrown) {
  thrown.keep(error);
  const ErrorContext context{subsystem, "", time, ""};
  if (error.matches(PyExc_KeyboardInterrupt)) {
    throw Error(ErrorCode::SubsystemFailed, Fact{FactCode::CallInterrupted, {subsystem}, {{"function", function}}},
                context);
  }
  const auto text = nb::module_::import_("entrain._error").attr("one_line")(error.value());
  throw_raised(nb::cast<std::string>(text), subsystem, function, time);
}

void throw_raised(const std::string& what, const std::string& subsystem, const char* function,
                  std::optional<Time> time) {
  Fact fact{FactCode::PythonRaised, {}, {{"function", function}, {"what", what}}};
  if (!subsystem.empty()) fact.subjects = {subsystem};
  throw Error(ErrorCode::SubsystemFailed, std::move(fact),
              {subsystem, "", time, "Correct the code in Python; __cause__ of the error has the traceback"});
}

Value value_of(nb::handle object) {
  if (PyBool_Check(object.ptr())) return object.ptr() == Py_True;
  if (PyLong_Check(object.ptr())) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
    if (overflow == 0) return static_cast<std::int64_t>(number);
    const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(object.ptr()) : 0;
    if (overflow < 0 || PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw nb::value_error("an integer of more than 64 bits");
    }
    return static_cast<std::uint64_t>(large);
  }
  if (PyFloat_Check(object.ptr())) return PyFloat_AsDouble(object.ptr());
  if (PyUnicode_Check(object.ptr())) return nb::cast<std::string>(object);
  if (PyBytes_Check(object.ptr())) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(PyBytes_AsString(object.ptr()));
    return Binary{{begin, begin + PyBytes_Size(object.ptr())}};
  }
  // Numbers of NumPy: bool_ is none, to Python.
  if (nb::hasattr(object, "dtype") && nb::hasattr(object, "item")) {
    const nb::object item = object.attr("item")();
    if (!nb::hasattr(item, "dtype")) return value_of(item);
  }
  if (PyNumber_Check(object.ptr()) != 0) {
    const double number = PyFloat_AsDouble(object.ptr());
    if (PyErr_Occurred() == nullptr) return number;
    PyErr_Clear();
  }
  throw nb::type_error("a value is a number, a bool, a str or bytes");
}

nb::object object_of(const Value& value) {
  return std::visit(
      [](const auto& of) -> nb::object {
        if constexpr (std::is_same_v<std::decay_t<decltype(of)>, Binary>) {
          return bytes_of(of);
        } else {
          return nb::cast(of);
        }
      },
      value);
}

nb::object object_of(const OptionValue& value) {
  return std::visit([](const auto& of) -> nb::object { return nb::cast(of); }, value);
}

OptionValue option_of(nb::handle object) {
  if (nb::isinstance<nb::dict>(object)) return nb::cast<std::map<std::string, double>>(object);
  if (nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object)) {
    std::vector<double> numbers;
    if (nb::try_cast(object, numbers)) return numbers;
    return nb::cast<std::vector<std::string>>(object);
  }
  const Value value = value_of(object);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* truth = std::get_if<bool>(&value)) return *truth;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  throw nb::type_error("an option is a number, a bool, a str, a list or a dict of numbers");
}

nb::dict dict_of(const Fact& fact) {
  nb::dict dict;
  dict["code"] = nb::cast(name_of(fact.code));
  dict["kind"] = nb::cast(to_string(kind_of(fact.code)));
  dict["text"] = nb::cast(render(fact));
  dict["subjects"] = nb::cast(fact.subjects);
  nb::dict values;
  for (const auto& value : fact.values) values[nb::cast(value.name)] = object_of(value.value);
  dict["values"] = values;
  dict["remedy"] = nb::cast(fact.remedy);
  dict["file"] = nb::cast(fact.where.file);
  dict["line"] = nb::cast(fact.where.line);
  return dict;
}

nb::list list_of(const std::vector<Fact>& facts) {
  nb::list list;
  for (const auto& fact : facts) list.append(dict_of(fact));
  return list;
}

nb::list list_of(const std::vector<Problem>& problems) {
  nb::list list;
  for (const auto& problem : problems) list.append(dict_of(problem));
  return list;
}

bool Control::is_time() {
  const std::int64_t now = now_in_ms();
  std::int64_t last = last_.load(std::memory_order_relaxed);
  return now - last >= kReportEvery && last_.compare_exchange_strong(last, now);
}

void Control::report(const char* what, double fraction) {
  if (!is_time()) return;
  const nb::gil_scoped_acquire gil;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (progress_ && !progress_.get().is_none()) progress_.get()(what, fraction);
  } catch (nb::python_error& error) {  // the caller gets it when the engine has ended
    if (!error.matches(PyExc_KeyboardInterrupt)) raised_.keep(error);
    interrupt_ = true;
  }
}

InterruptHandler::InterruptHandler() {
  if (!python_would_raise()) return;
  installed_ = true;
  if (handlers++ > 0) return;
  struct sigaction ours = {};
  ours.sa_handler = on_interrupt;
  sigemptyset(&ours.sa_mask);
  sigaction(SIGINT, &ours, &before_us);
}

/// Another handler that was installed in the meantime stays.
InterruptHandler::~InterruptHandler() {
  if (!installed_ || --handlers > 0) return;
  struct sigaction now = {};
  sigaction(SIGINT, nullptr, &now);
  if (now.sa_handler == on_interrupt) sigaction(SIGINT, &before_us, nullptr);
}

Listening::Listening(const InterruptHandler& handler, std::atomic<bool>& flag)
    : listens_(handler.installed() && gettid() == getpid()) {
  if (listens_) before_ = interrupted_flag.exchange(&flag);
}

Listening::~Listening() {
  if (listens_) interrupted_flag = before_;
}

void take_interrupt(Thrown& raised) {
  const nb::error_scope kept;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_KeyboardInterrupt)) raised.keep(error);
  }
}

void bind_values(nb::module_& module) {
  nb::register_exception_translator(translate);
  nb::class_<Control>(module, "Control")
      .def(nb::init<nb::object>(), "progress"_a.none())
      .def("interrupt", [](Control& control) { control.interrupt() = true; })
      .def_prop_ro("interrupted", [](Control& control) { return control.interrupt().load(); })
      .def("thrown", [](Control& control) { return control.thrown().take(); })
      .def("raised", [](Control& control) { return control.raised().take(); });
  module.def("version", &version);
  module.def("set_worker_program", [](const std::filesystem::path& program) { set_worker_program(program); });
  module.def("suggestion", &suggestion);
  module.def("facts", [] {
    nb::list list;
    for (const auto& entry : fact_catalogue()) list.append(nb::make_tuple(entry.name, to_string(entry.kind)));
    return list;
  });
}

}  // namespace entrain::python
