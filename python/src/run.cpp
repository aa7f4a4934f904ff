#include <optional>

#include "common.hpp"

namespace entrain::python {
namespace {

/// Reports how far a run is.
class ProgressObserver : public Observer {
 public:
  explicit ProgressObserver(Control& control) : control_(control) {}
  void communicated(const Sample& sample, const RunSummary& summary) override {
    const double length = summary.stop - summary.start;
    control_.report("run", length > 0.0 ? (sample.t - summary.start) / length : 1.0);
  }

 private:
  Control& control_;
};

struct RunArguments {
  std::filesystem::path folder;
  bool overwrite = false;
  bool calls = false;
  bool writes_results = false;
  std::optional<int> threads;  // none = as many as pay
  bool estimate = true;
  bool priority = false;
  std::optional<double> budget;  ///< run until the result is trusted
  std::optional<Learned> learned;
  CheckpointOptions checkpoint;
  std::string system;
};

RunArguments arguments_of(nb::dict given) {
  RunArguments arguments;
  arguments.folder = nb::cast<std::filesystem::path>(given["folder"]);
  arguments.overwrite = nb::cast<bool>(given["overwrite"]);
  arguments.calls = nb::cast<bool>(given["calls"]);
  arguments.writes_results = nb::cast<bool>(given["writes_results"]);
  const auto threads = nb::cast<std::optional<int>>(given["threads"]);
  if (threads && *threads < 1) throw nb::value_error("threads must be \"auto\", 1 or more");
  arguments.threads = threads;
  arguments.estimate = nb::cast<bool>(given["estimate"]);
  arguments.priority = nb::cast<bool>(given["priority"]);
  arguments.budget = nb::cast<std::optional<double>>(given["budget"]);
  if (const nb::object learned = given["learned"]; !learned.is_none()) arguments.learned = nb::cast<Learned>(learned);
  using Path = std::optional<std::filesystem::path>;
  arguments.checkpoint = {nb::cast<Path>(given["checkpoint"]), nb::cast<std::optional<double>>(given["every"]),
                          nb::cast<Path>(given["resume"]), false};
  arguments.system = nb::cast<std::string>(given["system"]);
  return arguments;
}

struct Ran {
  RunResult result;
  Results results;
};

Ran run_it(SystemDescription description, const RunArguments& arguments, Control& control,
           const Extensions& extensions) {
  if (arguments.learned) description = with_learned(description, *arguments.learned);
  ResultsRecorder recorder(description.record);
  ProgressObserver progress(control);
  RunDirectoryOptions options;
  const bool in_python = extensions.models || extensions.subsystems;  // one at a time holds its lock
  options.run.threads = arguments.threads.value_or(in_python ? 1 : 0);
  options.run.tries_everything = false;  // as the program does, to the same bits
  options.run.interrupt = &control.interrupt();
  options.run.real_time = pace_of(description, arguments.priority);
  if (arguments.learned) options.run.learned = &*arguments.learned;
  options.folder = arguments.folder;
  options.overwrite = arguments.overwrite;
  options.calls = arguments.calls;
  options.estimate = arguments.estimate;
  options.results = arguments.writes_results;
  options.system = arguments.system;
  options.checkpoint = arguments.checkpoint;
  options.observers = {recorder};
  // Nothing of Python is waited for by the thread of a paced run.
  if (!options.run.real_time) options.observers.emplace_back(progress);
  options.progress.estimating = [&](double fraction) { control.report("estimate", fraction); };
  options.watchdog = false;  // it would end the interpreter
  Ran ran;
  ran.result = arguments.budget ? run_until_trusted(description, options, {*arguments.budget, {}}, extensions)
                                : run(description, options, extensions);
  ran.results = recorder.take();
  return ran;
}

nb::dict dict_of(Ran ran, Control& control) {
  const RunResult& result = ran.result;
  nb::dict dict;
  dict["json"] = nb::cast(summary_json(result.summary, result.recorded, &result.verdict, &result.estimate));
  dict["headline"] = nb::cast(result.verdict.headline());
  dict["termination"] = nb::cast(to_string(result.summary.termination));
  dict["system"] = nb::cast(result.system);
  dict["warnings"] = list_of(result.summary.warnings);
  const auto& failure = result.summary.failure;
  dict["failure"] = failure ? error_object(*failure) : nb::none();
  dict["failed_at_end"] = result.failed_at_end ? error_object(*result.failed_at_end) : nb::none();
  dict["interrupted"] = nb::cast(control.interrupt().load());
  dict["results"] = results_object(std::move(ran.results));
  return dict;
}

}  // namespace

void bind_run(nb::module_& module) {
  nb::class_<Learned>(module, "Learned")
      .def_ro("inputs", &Learned::inputs)
      .def_ro("error", &Learned::error)
      .def("save", [](const Learned& learned, const std::filesystem::path& file) { save_learned(learned, file); });
  module.def("read_learned", [](const std::filesystem::path& path) { return read_learned(path); });
  module.def("run", [](const SystemDescription& description, nb::dict subsystems, nb::list methods, Control& control,
                       nb::dict given) {
    const RunArguments arguments = arguments_of(given);
    Ran ran = extended(subsystems, methods, control, [&](const Extensions& extensions) {
      return run_it(description, arguments, control, extensions);
    });
    return dict_of(std::move(ran), control);
  });
}

}  // namespace entrain::python
