#include <pthread.h>

#include "common.hpp"

namespace entrain::python {
namespace {

namespace fs = std::filesystem;

/// While it lives, a fork of this thread is one that Python knows of: what cases call of Python works in their
/// processes. The thread does not have the GIL.
class KnownForks {
 public:
  KnownForks() {
    static const bool kInstalled = ::pthread_atfork(before, in_parent, in_child) == 0;
    known_ = kInstalled;
  }
  ~KnownForks() { known_ = false; }
  KnownForks(const KnownForks&) = delete;
  KnownForks& operator=(const KnownForks&) = delete;

 private:
  static void before() {
    if (!known_) return;
    state_ = PyGILState_Ensure();
    PyOS_BeforeFork();
  }
  static void in_parent() {
    if (!known_) return;
    PyOS_AfterFork_Parent();
    PyGILState_Release(state_);
  }
  static void in_child() {
    if (!known_) return;
    PyOS_AfterFork_Child();
    PyGILState_Release(state_);
    known_ = false;  // what a case forks itself calls no Python
  }

  static thread_local bool known_;
  static thread_local PyGILState_STATE state_;
};
thread_local bool KnownForks::known_ = false;
thread_local PyGILState_STATE KnownForks::state_ = PyGILState_UNLOCKED;

/// The [sweep] of the file, and what is given adds to it or is put in its place, as on the command line.
SweepDescription sweep_of(const SystemDescription& description, nb::dict given) {
  SweepDescription sweep = description.sweep;
  using Pair = std::pair<std::string, std::string>;
  for (const auto& pair : nb::cast<std::vector<Pair>>(given["vary"])) {
    const auto& [name, law] = pair;
    std::erase_if(sweep.vary, [&](const SweepVariation& each) { return each.name == pair.first; });
    sweep.vary.push_back({name, law, {"sweep", 0, 0}});
  }
  const auto take = [&](const char* name, auto& into) {
    using Value = decltype(into->value);
    if (!given[name].is_none()) into = {nb::cast<Value>(given[name]), {"sweep", 0, 0}};
  };
  take("sampling", sweep.sampling);
  take("list", sweep.list);
  take("cases", sweep.cases);
  take("seed", sweep.seed);
  auto quantities = nb::cast<std::vector<std::string>>(given["quantities"]);
  if (!quantities.empty()) sweep.quantities.clear();
  for (auto& quantity : quantities) {
    sweep.quantities.push_back({std::move(quantity), {"sweep", 0, 0}});
  }
  return sweep;
}

SweepOptions options_of(const SystemDescription& description, nb::dict given, Control& control) {
  SweepOptions options;
  options.sweep = sweep_of(description, given);
  options.folder = nb::cast<fs::path>(given["folder"]);
  options.jobs = nb::cast<int>(given["jobs"]);
  options.resume = nb::cast<bool>(given["resume"]);
  options.retry_failed = nb::cast<bool>(given["retry_failed"]);
  options.estimate = nb::cast<bool>(given["estimate"]);
  options.courses = nb::cast<bool>(given["courses"]);
  options.page = nb::cast<bool>(given["page"]);
  options.most_cases = nb::cast<std::size_t>(given["most_cases"]);
  options.shard = nb::cast<std::size_t>(given["shard"]);
  options.shards = nb::cast<std::size_t>(given["shards"]);
  if (!given["reference"].is_none()) options.reference = nb::cast<fs::path>(given["reference"]);
  options.interrupt = &control.interrupt();
  options.progress = [&control](std::size_t done, std::size_t all, double) {
    control.report("sweep", static_cast<double>(done) / static_cast<double>(all));
  };
  return options;
}

/// A value of every case.
template <class Function>
nb::list column(const SweepResult& result, const Function& function) {
  nb::list values;
  for (const SweepCase& row : result.cases) values.append(function(row));
  return values;
}

nb::list input_column(const SweepResult& result, std::size_t index) {
  const auto& words = result.inputs.at(index).words;
  return column(result, [&](const SweepCase& row) -> nb::object {
    const double value = row.inputs[index];
    return words.empty() ? nb::cast(value) : nb::cast(words[static_cast<std::size_t>(value)]);
  });
}

/// The columns of the table, in their order.
nb::dict table_of(const SweepResult& result) {
  nb::dict table;
  table["case"] = column(result, [](const SweepCase& row) { return row.number; });
  for (std::size_t i = 0; i < result.inputs.size(); ++i) {
    table[nb::cast(result.inputs[i].name)] = input_column(result, i);
  }
  for (std::size_t q = 0; q < result.quantities.size(); ++q) {
    table[nb::cast(result.quantities[q])] = column(result, [&](const SweepCase& row) { return row.quantities[q]; });
  }
  for (std::size_t q = 0; result.estimated && q < result.quantities.size(); ++q) {
    table[nb::cast("error of " + result.quantities[q])] =
        column(result, [&](const SweepCase& row) { return row.errors[q]; });
  }
  table["termination"] = column(result, [](const SweepCase& row) { return row.termination; });
  table["grade"] = column(result, [](const SweepCase& row) { return row.grade; });
  table["seconds"] = column(result, [](const SweepCase& row) { return row.seconds; });
  table["message"] = column(result, [](const SweepCase& row) { return row.message; });
  return table;
}

nb::dict bands_of(const SweepResult& result) {
  nb::dict bands;
  for (const SweepBand& band : result.bands) {
    nb::dict values;
    values["unit"] = band.unit;
    values["p5"] = band.p5;
    values["p25"] = band.p25;
    values["p50"] = band.p50;
    values["p75"] = band.p75;
    values["p95"] = band.p95;
    bands[nb::cast(band.signal)] = values;
  }
  return bands;
}

}  // namespace

void bind_sweep(nb::module_& module) {
  nb::class_<SweepResult>(module, "SweepResult")
      .def("json", &sweep_json)
      .def("table", &table_of)
      .def("bands", &bands_of)
      .def_ro("times", &SweepResult::times)
      .def_ro("folder", &SweepResult::folder)
      .def_ro("all", &SweepResult::all)
      .def_ro("interrupted", &SweepResult::interrupted)
      .def("input_names",
           [](const SweepResult& result) {
             std::vector<std::string> names;
             for (const SweepInput& input : result.inputs) names.push_back(input.name);
             return names;
           })
      .def_ro("quantities", &SweepResult::quantities)
      .def("page", [](const SweepResult& result, const fs::path& file) { write_sweep_page(result, file); });
  module.def("sweep", [](const SystemDescription& description, nb::dict subsystems, nb::list methods, Control& control,
                         nb::dict given) {
    const SweepOptions options = options_of(description, given, control);
    return extended(subsystems, methods, control, [&](const Extensions& extensions) {
      const KnownForks known;
      return sweep(description, options, extensions);
    });
  });
  module.def(
      "merge_sweeps",
      [](const std::vector<fs::path>& shards, const fs::path& folder, std::optional<fs::path> reference) {
        return merge_sweeps(shards, folder, reference);
      },
      nb::arg(), nb::arg(), nb::arg().none());
}

}  // namespace entrain::python
