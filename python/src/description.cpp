#include <algorithm>

#include "common.hpp"

namespace entrain::python {
namespace {

SubsystemDescription* find(SystemDescription& description, std::string_view name) {
  auto& all = description.subsystems;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.name == name; });
  return found == all.end() ? nullptr : &*found;
}

/// Takes the place of one with the same name; connections stay.
void put(SystemDescription& description, SubsystemDescription subsystem) {
  if (auto* there = find(description, subsystem.name)) {
    *there = std::move(subsystem);
  } else {
    description.subsystems.push_back(std::move(subsystem));
  }
}

void remove(SystemDescription& description, const std::string& name) {
  std::erase_if(description.subsystems, [&](const auto& s) { return s.name == name; });
  const auto is_its = [&](const std::string& variable) { return variable.substr(0, variable.find('.')) == name; };
  std::erase_if(description.connections, [&](const auto& c) { return is_its(c.output) || is_its(c.input); });
}

void set_start(SystemDescription& description, const std::string& variable, nb::handle object) {
  const Value value = value_of(object);
  const auto dot = variable.find('.');
  auto* subsystem = find(description, variable.substr(0, dot));
  const bool is_text = std::holds_alternative<std::string>(value) || std::holds_alternative<Binary>(value);
  if (subsystem == nullptr || dot == std::string::npos || !is_text) {
    // In words that --set has, with their checks. Floats keep their type and every bit.
    std::string text = value_text(value);
    if (std::holds_alternative<double>(value) && text.find_first_of(".en") == std::string::npos) text += ".0";
    return apply_set(description, variable + "=" + text);
  }
  subsystem->start[variable.substr(dot + 1)] = {value, {}};
}

template <class T>
std::optional<Written<T>> written(std::optional<T> value) {
  if (!value) return std::nullopt;
  return Written<T>{std::move(*value), {}};
}

template <class T>
std::optional<T> value_in(const std::optional<Written<T>>& written) {
  return written ? std::optional<T>(written->value) : std::nullopt;
}

std::optional<std::vector<Written<std::string>>> written_list(std::optional<std::vector<std::string>> words) {
  if (!words) return std::nullopt;
  std::vector<Written<std::string>> list;
  for (auto& word : *words) list.push_back({std::move(word), {}});
  return list;
}

nb::object words_of(const std::optional<std::vector<Written<std::string>>>& written) {
  if (!written) return nb::none();
  nb::list list;
  for (const auto& word : *written) list.append(word.value);
  return list;
}

void connect(SystemDescription& description, ConnectionDescription connection) {
  // An input has one source: the last word counts.
  std::erase_if(description.connections, [&](const auto& c) { return c.input == connection.input; });
  description.connections.push_back(std::move(connection));
}

nb::list connections_of(const SystemDescription& description) {
  nb::list list;
  for (const auto& c : description.connections) list.append(nb::make_tuple(c.output, c.input, c.factor, c.offset));
  return list;
}

nb::list subsystems_of(const SystemDescription& description) {
  nb::list list;
  for (const auto& s : description.subsystems) {
    nb::dict start;
    for (const auto& [name, value] : s.optional_start) start[nb::cast(name)] = object_of(value.value);
    for (const auto& [name, value] : s.start) start[nb::cast(name)] = object_of(value.value);
    nb::dict entry;
    entry["name"] = nb::cast(s.name);
    entry["model"] = nb::cast(s.model);
    entry["fmu"] = nb::cast(s.fmu);
    entry["csv"] = nb::cast(s.csv);
    entry["start"] = start;
    list.append(entry);
  }
  return list;
}

/// Those that do not say otherwise: a fault of one does no harm to the interpreter.
void isolate_fmus(SystemDescription& description) {
  if (description.isolate) return;
  for (auto& subsystem : description.subsystems) {
    const bool sandboxed = subsystem.sandbox && subsystem.sandbox->value;
    if (!subsystem.fmu.empty() && !subsystem.isolate && !sandboxed) subsystem.isolate = {Isolation(true), {}};
  }
}

void make_paths_absolute(SystemDescription& description) {
  const auto folder = description.file.empty() ? std::filesystem::current_path()
                                               : std::filesystem::absolute(description.file).parent_path();
  for (auto& subsystem : description.subsystems) {
    for (auto* path : {&subsystem.fmu, &subsystem.csv}) {
      if (!path->empty()) *path = (folder / *path).lexically_normal().string();
    }
  }
}

}  // namespace

void bind_description(nb::module_& module) {
  using D = SystemDescription;
  nb::class_<D>(module, "Description")
      .def(nb::init<>())
      .def("copy", [](const D& d) { return D(d); })
      .def_rw("name", &D::name)
      .def_rw("file", &D::file)
      .def("text", &system_text)
      .def("save", [](const D& d, const std::filesystem::path& file) { save(d, file); })
      .def_prop_rw(
          "start", [](const D& d) { return d.start.value; },
          [](D& d, double t) {
            d.start = {t, {}};
          })
      .def_prop_rw(
          "stop", [](const D& d) { return value_in(d.stop); },
          [](D& d, std::optional<double> t) { d.stop = written(t); }, nb::arg().none())
      .def_prop_rw(
          "step", [](const D& d) { return value_in(d.step); },
          [](D& d, std::optional<double> h) { d.step = written(h); }, nb::arg().none())
      .def_prop_rw(
          "method", [](const D& d) { return d.method.value; },
          [](D& d, std::string method) {
            d.method = {std::move(method), {}};
          })
      .def_prop_rw(
          "tolerance", [](const D& d) { return value_in(d.tolerance); },
          [](D& d, std::optional<double> tolerance) { d.tolerance = written(tolerance); }, nb::arg().none())
      .def_prop_rw(
          "isolate", [](const D& d) { return value_in(d.isolate); },
          [](D& d, std::optional<bool> isolate) { d.isolate = written(isolate); }, nb::arg().none())
      .def_prop_rw(
          "sandbox", [](const D& d) { return value_in(d.sandbox); },
          [](D& d, std::optional<bool> sandbox) { d.sandbox = written(sandbox); }, nb::arg().none())
      .def_prop_rw(
          "real_time", [](const D& d) { return value_in(d.real_time); },
          [](D& d, std::optional<double> factor) { d.real_time = written(factor); }, nb::arg().none())
      .def("set_overrun",
           [](D& d, const std::string& word) {
             d.overrun = {overrun_of(word), {}};
           })
      .def("put_stand_ins", [](D& d) { d = with_stand_ins(d); })
      .def_prop_rw(
          "open", [](const D& d) { return words_of(d.open); },
          [](D& d, std::optional<std::vector<std::string>> words) { d.open = written_list(std::move(words)); },
          nb::arg().none())
      .def_prop_rw(
          "exclude", [](const D& d) { return words_of(d.exclude); },
          [](D& d, std::optional<std::vector<std::string>> words) { d.exclude = written_list(std::move(words)); },
          nb::arg().none())
      .def_prop_rw(
          "record", [](const D& d) { return words_of(d.record.variables); },
          [](D& d, std::optional<std::vector<std::string>> words) {
            d.record.variables = written_list(std::move(words));
          },
          nb::arg().none())
      .def_prop_rw(
          "interval", [](const D& d) { return value_in(d.record.interval); },
          [](D& d, std::optional<double> interval) { d.record.interval = written(interval); }, nb::arg().none())
      .def_prop_rw(
          "format", [](const D& d) { return value_in(d.record.format); },
          [](D& d, std::optional<std::string> format) { d.record.format = written(std::move(format)); },
          nb::arg().none())
      .def("tolerances",
           [](const D& d) {
             nb::dict dict;
             for (const auto& [name, value] : d.tolerances) dict[nb::cast(name)] = nb::cast(value.value);
             return dict;
           })
      .def("set_tolerance",
           [](D& d, const std::string& output, double tolerance) {
             d.tolerances[output] = {tolerance, {}};
           })
      .def("options",
           [](const D& d) {
             nb::dict dict;
             const auto found = d.method_options.find(d.method.value);
             if (found == d.method_options.end()) return dict;
             for (const auto& [name, value] : found->second) dict[nb::cast(name)] = object_of(value.value);
             return dict;
           })
      .def("set_option",
           [](D& d, const std::string& name, nb::handle value) {
             d.method_options[d.method.value][name] = {option_of(value), {}};
           })
      .def("set_start", &set_start)
      .def("apply_scenario", [](D& d, const std::filesystem::path& file) { apply_scenario(d, file); })
      .def("apply_scenario_text",
           [](D& d, const std::string& text) { apply_scenario_text(d, text, "the argument 'scenario'"); })
      .def("subsystems", &subsystems_of)
      .def("connections", &connections_of)
      .def("put_all_of",
           [](D& d, const D& other) {
             for (const auto& subsystem : other.subsystems) put(d, subsystem);
           })
      .def("put_own",
           [](D& d, const std::string& name) {
             SubsystemDescription subsystem;
             subsystem.name = name;
             subsystem.model = "python." + name;
             put(d, std::move(subsystem));
           })
      .def("remove", &remove)
      .def("connect",
           [](D& d, std::string output, std::string input, double factor, double offset, bool convert_units) {
             ConnectionDescription connection{std::move(output), std::move(input), {}};
             connection.factor = factor;
             connection.offset = offset;
             connection.convert_units = convert_units;
             connect(d, std::move(connection));
           })
      .def("disconnect",
           [](D& d, const std::string& input) {
             return std::erase_if(d.connections, [&](const auto& c) { return c.input == input; });
           })
      .def("isolate_fmus", &isolate_fmus)
      .def("make_paths_absolute", &make_paths_absolute)
      .def("take_default_experiments", [](D& d) { take_default_experiments(d); });
  module.def("default_method", &default_method);
  module.def("parse", [](const std::string& text, const std::filesystem::path& file) { return parse(text, file); });
}

}  // namespace entrain::python
