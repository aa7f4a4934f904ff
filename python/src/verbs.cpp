#include "common.hpp"

namespace entrain::python {
namespace {

namespace fs = std::filesystem;

/// Also of a system, so that it outlives the call.
struct Learning {
  LearnResult result;
  LearnOptions options;
};

AdviceSettings settings_of(nb::dict given, Control& control) {
  AdviceSettings settings;
  settings.verify = nb::cast<bool>(given["verify"]);
  settings.search = nb::cast<bool>(given["search"]);
  settings.curves = nb::cast<bool>(given["curves"]);
  settings.threads = nb::cast<int>(given["threads"]);
  settings.gains = nb::cast<std::vector<std::string>>(given["gains"]);
  for (const auto& name : nb::cast<std::vector<std::string>>(given["parameters"])) {
    settings.parameters.push_back({name, {}, {}});
  }
  settings.interrupt = &control.interrupt();
  settings.progress = [&control](const AdviceProgress& progress) {
    const std::string what = progress.method.empty() ? progress.part : progress.part + ": " + progress.method;
    control.report(what.c_str(), -1.0);
  };
  return settings;
}

LearnOptions learn_options_of(nb::dict given, Control& control) {
  LearnOptions options;
  options.iterations = nb::cast<int>(given["iterations"]);
  options.tolerance = nb::cast<double>(given["tolerance"]);
  options.gain = nb::cast<double>(given["gain"]);
  options.cutoff = nb::cast<std::optional<double>>(given["cutoff"]);
  options.forgetting = nb::cast<std::optional<double>>(given["forgetting"]);
  options.fade = nb::cast<double>(given["fade"]);
  options.horizon = nb::cast<double>(given["horizon"]);
  options.state = nb::cast<fs::path>(given["state"]);
  options.resumes = nb::cast<bool>(given["resumes"]);
  options.memory = nb::cast<int>(given["memory"]);
  options.compares = nb::cast<bool>(given["compare"]);
  options.threads = nb::cast<int>(given["threads"]);
  const auto word = nb::cast<std::string>(given["progressive"]);
  const auto progressive = from_word<ProgressiveLearning>(word);
  if (!progressive) throw nb::value_error("progressive is 'auto', 'always' or 'never'");
  options.progressive = *progressive;
  if (const auto inputs = nb::cast<std::optional<std::string>>(given["inputs"])) {
    options.inputs = from_word<LearnInputs>(*inputs);
    if (!options.inputs) throw nb::value_error("inputs is 'held', 'linear' or 'hermite'");
  }
  options.interrupt = &control.interrupt();
  return options;
}

nb::dict dict_of(const MethodInfo& info) {
  const MethodTraits& traits = info.traits;
  nb::dict dict;
  dict["name"] = nb::cast(traits.name);
  dict["summary"] = nb::cast(traits.summary);
  dict["family"] = nb::cast(to_string(traits.family));
  dict["order"] = nb::cast(traits.order);
  dict["calls_per_step"] = nb::cast(traits.calls_per_step);
  dict["iterates"] = nb::cast(traits.iterates);
  dict["patent_declared"] = nb::cast(traits.patent_declared);
  nb::list options;
  for (const auto& option : info.options) {
    nb::dict entry;
    entry["name"] = nb::cast(option.name);
    entry["type"] = nb::cast(option.type);
    entry["default"] = nb::cast(option.default_value);
    entry["help"] = nb::cast(option.help);
    options.append(entry);
  }
  dict["options"] = options;
  return dict;
}

nb::list answer(const std::vector<Problem>& problems) {
  return list_of(problems);
}

template <class Answer>
Answer answer(Answer value) {
  return value;
}

/// A verb that asks for nothing besides the system.
template <class Verb>
void bind_verb(nb::module_& module, const char* name, Verb verb) {
  module.def(name,
             [verb](const SystemDescription& description, nb::dict subsystems, nb::list methods, Control& control) {
               return answer(extended(std::move(subsystems), std::move(methods), control,
                                      [&](const Extensions& extensions) { return verb(description, extensions); }));
             });
}

void bind_objects(nb::module_& module) {
  nb::class_<Advice>(module, "Advice")
      .def("json", &advice_json)
      .def("reason", &Advice::reason)
      .def("title", [](const Advice& advice) { return advice.choice ? advice.candidates[*advice.choice].title() : ""; })
      .def("has_choice", [](const Advice& advice) { return advice.choice.has_value(); })
      .def("step", [](const Advice& advice) { return advice.recommended_step; })
      .def("page", [](const Advice& advice, const fs::path& file) { write_advice_page(advice, file); })
      .def("applied", [](const Advice& advice, const SystemDescription& description, nb::dict subsystems,
                         nb::list methods, Control& control) {
        return applied(description, advice, make_extensions(subsystems, methods, control.shared_thrown()));
      });
  nb::class_<Comparison>(module, "Comparison")
      .def("json", &comparison_json)
      .def("page", [](const Comparison& c, const fs::path& file) { write_comparison_page(c, file); });
  nb::class_<Learning>(module, "Learning")
      .def("json", [](const Learning& learning) { return learning_json(learning.result); })
      .def_prop_ro("learned", [](const Learning& learning) { return learning.result.learned; })
      .def("page", [](const Learning& learning, const fs::path& file) {
        write_learning_page(learning.result, learning.options, file);
      });
}

}  // namespace

void bind_verbs(nb::module_& module) {
  using D = SystemDescription;
  bind_objects(module);
  module.def("load", [](const fs::path& path, bool sandbox, Control& control) {
    return outside(control, [&] { return load(path, {}, {sandbox}); });
  });
  module.def("check_file", [](const fs::path& path, bool sandbox, Control& control) {
    return list_of(outside(control, [&] { return check(path, {}, {sandbox}); }));
  });
  bind_verb(module, "check", [](const D& description, const Extensions& given) { return check(description, given); });
  bind_verb(module, "resolved",
            [](const D& description, const Extensions& given) { return resolved(description, given); });
  bind_verb(module, "inspect",
            [](const D& description, const Extensions& given) { return inspection_json(inspect(description, given)); });
  bind_verb(module, "inspect_initial", [](const D& description, const Extensions& given) {
    return initial_json(inspect_initial(description, given));
  });
  module.def("inspect_placement",
             [](const D& description, nb::dict subsystems, nb::list methods, Control& control, std::size_t ranks) {
               return extended(subsystems, methods, control, [&](const Extensions& given) {
                 return placement_json(inspect_placement(description, ranks, given));
               });
             });
  module.def("methods", [](nb::list methods) {
    nb::list list;
    const auto thrown = std::make_shared<Thrown>();
    for (const auto& info : entrain::methods(make_extensions({}, methods, thrown))) list.append(dict_of(info));
    return list;
  });
  module.def("advise",
             [](const D& description, nb::dict subsystems, nb::list methods, Control& control, nb::dict given) {
               const AdviceSettings settings = settings_of(given, control);
               return extended(subsystems, methods, control,
                               [&](const Extensions& extensions) { return advise(description, settings, extensions); });
             });
  module.def("verify", [](const D& description, nb::dict subsystems, nb::list methods, Control& control, int threads) {
    RunOptions options;
    options.threads = threads;
    options.interrupt = &control.interrupt();
    return extended(subsystems, methods, control, [&](const Extensions& extensions) {
      const auto verification = verify(description, options, extensions);
      return verification_json(verification, verification.grade(tolerances_of(description)));
    });
  });
  module.def("learn",
             [](const D& description, nb::dict subsystems, nb::list methods, Control& control, nb::dict given) {
               LearnOptions options = learn_options_of(given, control);
               options.real_time = pace_of(description, nb::cast<bool>(given["priority"]));
               const auto recorded = nb::cast<std::vector<fs::path>>(given["runs"]);
               const LearnProgress observers{{}, [&](const LearnIteration&) { control.report("learn", -1.0); }, {}};
               auto result = extended(subsystems, methods, control, [&](const Extensions& extensions) {
                 if (recorded.empty()) return learn(description, options, observers, extensions);
                 std::vector<RecordedRun> runs;
                 for (const auto& run : recorded) runs.push_back(read_recorded_run(run));
                 return learn_from(description, runs, options, observers, extensions);
               });
               options.interrupt = nullptr;
               return Learning{std::move(result), options};
             });
  module.def(
      "compare",
      [](const std::vector<fs::path>& runs, std::optional<fs::path> reference, Control& control) {
        return outside(control, [&] { return compare(runs, reference); });
      },
      nb::arg(), nb::arg().none(), nb::arg());
  module.def("convert", [](const fs::path& from, const fs::path& to, bool sandbox) {
    return list_of(convert(from, to, LoadOptions{sandbox}));
  });
  module.def("new_system", [](const fs::path& folder, const std::vector<fs::path>& fmus, bool sandbox) {
    return new_system(folder, fmus, LoadOptions{sandbox});
  });
  module.def("report", [](const fs::path& folder, const fs::path& file) {
    const nb::gil_scoped_release released;
    report(folder, file);
  });
  module.def("require_pages", &require_pages);
  module.def("system_schema", &system_schema);
  module.def("reproduce_entries", &reproduce_entries);
  module.def(
      "reproduce",
      [](const std::vector<std::string>& ids, const fs::path& examples, std::optional<fs::path> fmus,
         std::optional<fs::path> page, Control& control) {
        const std::string models = fmus ? "fmu " + fmus->filename().string() : "native";
        return outside(control, [&] {
          std::vector<ReproduceResult> results;
          for (const auto& id : ids) {
            control.report(id.c_str(), -1.0);
            results.push_back(reproduce(id, {examples, {fmus.value_or(""), false}},
                                        {.measurements = !fmus, .figures = page.has_value()}));
          }
          if (page) write_reproduction_page(results, models, *page);
          return reproduce_json(results, models);
        });
      },
      nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg());
  module.def("checkpointed_system", [](const fs::path& file) { return checkpointed_system(file); });
}

}  // namespace entrain::python
