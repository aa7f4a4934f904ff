#include "description/ssp_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/values.hpp"
#include "description/check_values.hpp"
#include "description/ssp_flat.hpp"
#include "description/system_file.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::description {
namespace {

namespace fs = std::filesystem;

class Flattener {
 public:
  Flattener(SystemDescription& description, std::vector<Problem>& problems)
      : description_(description), problems_(problems) {}

  void flatten(const SspScope& root) {
    add_subsystems(root);
    values_ = bound_values(root, problems_);
    for_each_feed(root, problems_, [this](const SspFeed& feed) {
      if (feed.from_component) {
        description_.connections.push_back({text_of(feed.source), text_of(feed.target), feed.where, feed.where,
                                            feed.transformation.factor, feed.transformation.offset, feed.convert_units,
                                            feed.transformation.table});
      } else {
        start_from_system(feed);
      }
    });
    for (auto& subsystem : description_.subsystems) {
      for (auto value = values_.lower_bound({subsystem.name, ""});
           value != values_.end() && value->first.first == subsystem.name; ++value)
        subsystem.optional_start[value->first.second] = value->second.start;
    }
  }

 private:
  /// Relative to the file where it lies below it, so that the folder can be moved.
  fs::path beside(const fs::path& path) const {
    const fs::path relative = path.lexically_relative(description_.file.parent_path());
    const bool below = !relative.empty() && *relative.begin() != "..";
    return below || (path.is_relative() && !relative.empty()) ? relative : path;
  }

  static std::string text_of(const SspPort& port) { return fmt::format("{}.{}", port.first, port.second); }

  void add_subsystems(const SspScope& scope) {
    if (!scope.fmu.empty()) {
      auto& subsystem = description_.subsystems.emplace_back();
      subsystem.name = scope.path;
      subsystem.where = subsystem.fmu_where = scope.element->where;
      subsystem.fmu = beside(scope.fmu).string();
      subsystem.step = scope.element->step;
      const std::string& implementation = scope.element->implementation;
      const SourcePosition& where = scope.element->where;
      if (implementation == "CoSimulation") subsystem.interface = {FmuInterface::CoSimulation, where};
      if (implementation == "ModelExchange") subsystem.interface = {FmuInterface::ModelExchange, where};
      if (implementation == "ScheduledExecution") subsystem.interface = {FmuInterface::ScheduledExecution, where};
    }
    for (const auto& child : scope.children) add_subsystems(child);
  }

  /// An input that no component feeds starts with the value of the connectors it hangs on; of several values that of
  /// the binding that stands highest.
  void start_from_system(const SspFeed& feed) {
    for (const auto& [port, transformation] : feed.between) {
      const auto given = values_.find(port);
      if (given == values_.end()) continue;
      SspValue value = given->second;
      if (!transform(value.start.value, transformation)) {
        problems_.push_back(problem_of(Fact{FactCode::TableIncomplete,
                                            {text_of(port), text_of(feed.target)},
                                            {{"value", value_text(value.start.value)}}},
                                       "add a MapEntry", feed.where));
        continue;
      }
      const auto [own, is_new] = values_.insert({feed.target, value});
      if (!is_new && value.level < own->second.level) own->second = value;
    }
  }

  SystemDescription& description_;
  std::vector<Problem>& problems_;
  std::map<SspPort, SspValue> values_;
};

/// The settings in the annotation of Entrain: everything but the structure.
SystemDescription noted_settings(const SspFile& file, std::vector<Problem>& problems) {
  const auto& document = file.document;
  if (document.settings.empty()) return {};
  std::vector<Problem> found;
  auto settings = parse_system(document.settings, file.path, found);
  for (auto& problem : found) {
    problem.where = document.settings_where;
    problem.message = "in the annotation " + std::string(kSspSettings) + ": " + problem.message;
    problems.push_back(std::move(problem));
  }
  return settings;
}

/// The structure from the SSD, the rest from the annotation.
void merge_settings(SystemDescription& description, SystemDescription settings) {
  settings.name = description.name;
  settings.file = description.file;
  settings.connections = std::move(description.connections);
  auto noted = std::exchange(settings.subsystems, {});
  for (auto& subsystem : description.subsystems) {
    const auto found = std::find_if(noted.begin(), noted.end(),
                                    [&](const SubsystemDescription& other) { return other.name == subsystem.name; });
    if (found == noted.end()) {
      settings.subsystems.push_back(std::move(subsystem));
      continue;
    }
    found->fmu = std::move(subsystem.fmu);
    found->where = subsystem.where;
    found->fmu_where = subsystem.fmu_where;
    if (subsystem.interface) found->interface = subsystem.interface;
    found->optional_start = std::move(subsystem.optional_start);
    settings.subsystems.push_back(std::move(*found));
  }
  description = std::move(settings);
}

}  // namespace

bool is_ssp(const fs::path& file) {
  return file.extension() == ".ssp" || file.extension() == ".ssd";
}

SystemDescription read_ssp(const fs::path& file, std::vector<Problem>& problems) {
  SystemDescription description;
  description.name = system_name(file);
  description.file = file;
  std::vector<Problem> found;
  SspLibrary library(found);
  if (const SspFile* top = library.open(file)) {
    const SspScope root = SspTreeBuilder(library, found).build(*top);
    Flattener(description, found).flatten(root);
    merge_settings(description, noted_settings(*top, found));
    if (top->document.start) description.start = *top->document.start;
    if (top->document.stop) description.stop = *top->document.stop;
    if (top->document.step && !description.step) description.step = *top->document.step;
    check_values(description, found);
  }
  for (auto& problem : found) {
    auto& list = problem.severity == Problem::Severity::Warning ? description.notes : problems;
    list.push_back(std::move(problem));
  }
  return description;
}

}  // namespace entrain::description
