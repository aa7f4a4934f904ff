#include <limits>
#include <unordered_map>

#include "common.hpp"

namespace entrain::python {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

/// The signals of a simulation by name; shared by its samples.
struct Names {
  explicit Names(const std::vector<Signal>& all) : signals(all) {
    for (std::size_t i = 0; i < signals.size(); ++i) {
      for (const auto& other : signals[i].other_names) index.emplace(other, i);
    }
    for (std::size_t i = 0; i < signals.size(); ++i) index.insert_or_assign(signals[i].name, i);
  }
  std::size_t find(std::string_view name) const {
    const auto found = index.find(name);
    if (found != index.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& signal : signals) known.push_back(signal.name);
    throw nb::key_error((std::string(name) + ": " + suggestion(name, known)).c_str());
  }

  std::vector<Signal> signals;
  std::unordered_map<std::string, std::size_t, TextHash, std::equal_to<>> index;
};

/// What was known at one communication time; a copy.
struct Snapshot {
  Time t = 0.0;
  std::vector<double> values;
  std::vector<Value> discrete;
  std::shared_ptr<const Names> names;
  std::shared_ptr<const std::vector<unsigned char>> available;

  nb::object at(std::size_t i) const {
    const Signal& signal = names->signals[i];
    if (signal.discrete && *signal.discrete < discrete.size()) return object_of(discrete[*signal.discrete]);
    return nb::float_(values[i]);
  }
  nb::object get(std::string_view name) const {
    const std::size_t i = names->find(name);
    if ((*available)[i] == 0) {
      throw nb::key_error((std::string(name) + ": not in the samples; pass signals=[\"" + std::string(name) +
                           "\"] to simulate, or ask the simulation itself")
                              .c_str());
    }
    return at(i);
  }
  nb::list keys() const {
    nb::list list;
    for (std::size_t i = 0; i < names->signals.size(); ++i) {
      if ((*available)[i] != 0) list.append(names->signals[i].name);
    }
    return list;
  }
};

bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// Keeps the latest sample: outputs and inputs, and of the others those that are asked for.
class SampleKeeper : public Observer {
 public:
  explicit SampleKeeper(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

  void begin(std::span<const Signal> signals, const RunSummary&) override {
    needs_ = {};
    auto available = std::make_shared<std::vector<unsigned char>>(signals.size(), 0);
    for (std::size_t i = 0; i < signals.size(); ++i) {
      const auto causality = signals[i].causality;
      const bool asked = std::any_of(patterns_.begin(), patterns_.end(),
                                     [&](const auto& pattern) { return matches(pattern, signals[i].name); });
      const bool free = causality == Causality::Input || causality == Causality::Output ||
                        causality == Causality::Method || signals[i].discrete.has_value();
      if (!asked && !free) continue;
      (*available)[i] = 1;
      needs_.add(signals[i], i);
    }
    available_ = std::move(available);
  }
  Needs needs() const override { return needs_; }
  void communicated(const Sample& sample, const RunSummary&) override {
    t_ = sample.t;
    values_.assign(sample.values.begin(), sample.values.end());
    discrete_.assign(sample.discrete.begin(), sample.discrete.end());
    known_ = true;
  }
  void resume(const Sample& sample, const RunSummary& summary, std::span<const std::byte>) override {
    communicated(sample, summary);
  }
  void forget() { known_ = false; }
  bool known() const { return known_; }
  Snapshot snapshot(std::shared_ptr<const Names> names) const {
    return {t_, values_, discrete_, std::move(names), available_};
  }

 private:
  std::vector<std::string> patterns_;
  Needs needs_;
  std::shared_ptr<const std::vector<unsigned char>> available_;
  Time t_ = 0.0;
  std::vector<double> values_;
  std::vector<Value> discrete_;
  bool known_ = false;
};

/// A simulation that Python drives. One thread at a time; what comes from another one, or from Python code that the
/// simulation itself has called, is refused.
class Driven {
 public:
  Driven(const SystemDescription& description, nb::dict subsystems, nb::list methods, nb::dict given)
      : keeper_(nb::cast<std::vector<std::string>>(given["signals"])) {
    RunOptions options;
    options.threads = nb::cast<int>(given["threads"]);
    if (options.threads < 1) throw nb::value_error("threads must be 1 or more");
    options.interrupt = &interrupt_;
    const Extensions extensions = make_extensions(subsystems, methods, thrown_);
    const bool records = nb::cast<bool>(given["records"]);
    engine(Reset::Flag, [&] {
      simulation_ = std::make_unique<Simulation>(description, options, extensions);
      simulation_->observe(keeper_);
      if (records) simulation_->observe(recorder_.emplace(description.record));
    });
    names_ = std::make_shared<const Names>(simulation_->signals());
  }
  ~Driven() { close(); }
  Driven(const Driven&) = delete;
  Driven& operator=(const Driven&) = delete;

  /// The start of the run, then one macro step each; false when it is over.
  bool advance() {
    require_open();
    if (is_over()) return false;
    engine(Reset::Flag, [&] { simulation_->advance(); });
    return keeper_.known();
  }
  void run_until(double t) {
    engine(Reset::Flag, [&] { simulation_->run_until(t); });
  }
  /// What ended the run, if it failed: entrain.Error, and what Python threw.
  nb::tuple failure() {
    require_open();
    const auto& failure = simulation_->summary().failure;
    return nb::make_tuple(failure ? error_object(*failure) : nb::none(), thrown_->take());
  }
  Snapshot sample() {
    require_open();
    if (!keeper_.known()) throw nb::value_error("the run has not begun");
    return keeper_.snapshot(names_);
  }
  nb::object value(std::string_view name) {
    require_open();
    const Signal& signal = names_->signals[names_->find(name)];
    if (signal.discrete && keeper_.known()) return keeper_.snapshot(names_).at(names_->find(name));
    if (keeper_.known() == false) throw nb::value_error("the run has not begun");
    double number = kUnknown;
    engine(Reset::Nothing, [&] { number = simulation_->value(name); });
    return nb::float_(number);
  }
  void set(std::string_view name, nb::handle object) {
    const Value value = value_of(object);
    engine(Reset::Nothing, [&] { simulation_->set(name, value); });
  }
  void reset() {
    engine(Reset::Nothing, [&] { simulation_->reset(); });
    keeper_.forget();
    thrown_->take();
  }
  std::shared_ptr<const Simulation::Checkpoint> checkpoint() {
    std::shared_ptr<const Simulation::Checkpoint> made;
    engine(Reset::Nothing, [&] { made = simulation_->checkpoint(); });
    return made;
  }
  void restore(const Simulation::Checkpoint& checkpoint, const Snapshot& sample) {
    engine(Reset::Nothing, [&] { simulation_->restore(checkpoint); });
    keeper_.communicated({sample.t, sample.values, {}, {}, {}, sample.discrete, {}}, simulation_->summary());
  }
  void save(const std::filesystem::path& file) {
    engine(Reset::Nothing, [&] { simulation_->save(file); });
  }
  void resume(const std::filesystem::path& file) {
    engine(Reset::Nothing, [&] { simulation_->resume(file); });
  }
  std::string_view termination() {
    require_open();
    return to_string(simulation_->summary().termination);
  }
  double time() {
    require_open();
    return simulation_->summary().reached;
  }
  bool is_over() const {
    const auto termination = simulation_->summary().termination;
    return termination != Termination::NotStarted && termination != Termination::Running;
  }
  std::string json() {
    require_open();
    return summary_json(simulation_->summary());
  }
  nb::list warnings() {
    require_open();
    return list_of(simulation_->summary().warnings);
  }
  nb::list signals() {
    nb::list list;
    for (const auto& signal : names_->signals) list.append(nb::make_tuple(signal.name, signal.unit));
    return list;
  }
  nb::object results() {
    require_open();
    if (!recorder_) throw nb::value_error("nothing was recorded: pass record=True to simulate");
    if (!is_over()) throw nb::value_error("the run has not ended");
    return results_object(recorder_->take());
  }
  void close() {
    if (!simulation_) return;
    engine(Reset::Nothing, [&] { simulation_.reset(); });
  }
  bool closed() const { return simulation_ == nullptr; }

 private:
  enum class Reset { Nothing, Flag };

  void require_open() const {
    if (!simulation_) throw nb::value_error("the simulation is closed");
    if (busy_.load()) throw nb::value_error("the simulation is in a step, called from another thread or from itself");
  }
  /// Without the GIL. An interruption before this call has been raised where it arrived.
  template <class Function>
  void engine(Reset reset, const Function& function) {
    if (names_) require_open();
    if (reset == Reset::Flag) interrupt_ = false;
    busy_ = true;
    struct Leaving {
      std::atomic<bool>& busy;
      ~Leaving() { busy = false; }
    };
    const Leaving leaving{busy_};
    const Listening listening(handler_, interrupt_);
    const nb::gil_scoped_release released;
    function();
  }

  InterruptHandler handler_;
  std::atomic<bool> interrupt_ = false;
  std::atomic<bool> busy_ = false;
  std::shared_ptr<Thrown> thrown_ = std::make_shared<Thrown>();
  SampleKeeper keeper_;
  std::optional<ResultsRecorder> recorder_;
  std::shared_ptr<const Names> names_;
  std::unique_ptr<Simulation> simulation_;
};

/// A place to go back to; keeps its simulation alive.
struct DrivenCheckpoint {
  std::shared_ptr<const Simulation::Checkpoint> of;
  Snapshot sample;
};

}  // namespace

void bind_simulation(nb::module_& module) {
  nb::class_<Snapshot>(module, "Sample",
                       "The signals at one communication time: sample[\"subsystem.variable\"], sample.t.")
      .def_ro("t", &Snapshot::t, "Simulated time in s.")
      .def("__getitem__", &Snapshot::get)
      .def("__contains__",
           [](const Snapshot& sample, std::string_view name) {
             const auto found = sample.names->index.find(name);
             return found != sample.names->index.end() && (*sample.available)[found->second] != 0;
           })
      .def("keys", &Snapshot::keys, "Names of the signals.")
      .def("__iter__", [](const Snapshot& sample) { return nb::iter(sample.keys()); })
      .def("__len__", [](const Snapshot& sample) { return nb::len(sample.keys()); })
      .def("__repr__", [](const Snapshot& sample) {
        return "<entrain.Sample t=" + short_number(sample.t) + ", " + std::to_string(nb::len(sample.keys())) +
               " signals>";
      });
  nb::class_<DrivenCheckpoint>(module, "Checkpoint", "A place to go back to, in memory: Simulation.restore.")
      .def_prop_ro("t", [](const DrivenCheckpoint& c) { return c.sample.t; });
  nb::class_<Driven>(module, "Driven")
      .def(nb::init<const SystemDescription&, nb::dict, nb::list, nb::dict>())
      .def("advance", &Driven::advance)
      .def("run_until", &Driven::run_until)
      .def("failure", &Driven::failure)
      .def("sample", &Driven::sample)
      .def("value", &Driven::value)
      .def("set", &Driven::set, nb::arg(), nb::arg().none())
      .def("reset", &Driven::reset)
      .def(
          "checkpoint",
          [](Driven& driven) {
            return DrivenCheckpoint{driven.checkpoint(), driven.sample()};
          },
          nb::keep_alive<0, 1>())
      .def("restore", [](Driven& driven, const DrivenCheckpoint& c) { driven.restore(*c.of, c.sample); })
      .def("save", &Driven::save)
      .def("resume", &Driven::resume)
      .def_prop_ro("termination", &Driven::termination)
      .def_prop_ro("time", &Driven::time)
      .def_prop_ro("over", [](Driven& driven) { return driven.closed() || driven.is_over(); })
      .def("json", &Driven::json)
      .def("warnings", &Driven::warnings)
      .def("signals", &Driven::signals)
      .def("results", &Driven::results)
      .def("close", &Driven::close)
      .def_prop_ro("closed", &Driven::closed);
}

}  // namespace entrain::python
