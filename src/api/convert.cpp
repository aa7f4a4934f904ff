#include "entrain/convert.hpp"

#include <fmt/format.h>

#include <list>
#include <map>
#include <set>
#include <utility>

#include "assembly/subsystem_factory.hpp"
#include "base/archive.hpp"
#include "base/replace_file.hpp"
#include "base/unique_name.hpp"
#include "base/values.hpp"
#include "description/array_connections.hpp"
#include "description/ssp_document.hpp"
#include "description/ssp_file.hpp"
#include "description/ssp_writer.hpp"
#include "description/subsystem_keys.hpp"
#include "description/system_file.hpp"
#include "entrain/entrain.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/sandbox.hpp"
#include "session/prepare.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;

fs::path absolute_file(const SystemDescription& description, const std::string& file) {
  return fs::absolute(description.file.parent_path() / file).lexically_normal();
}

/// Only FMUs have a place in SSP, and tables whose values are all of one type.
void check_expressible(const SystemDescription& description) {
  std::vector<Problem> problems;
  for (const auto& subsystem : description.subsystems) {
    if (!subsystem.fmu.empty()) continue;
    problems.push_back(
        problem_of(Fact{FactCode::NotForSsp, {subsystem.name}}, "use an FMU of it (fmu = \"...\")", subsystem.where));
  }
  for (const auto& connection : description.connections) {
    for (const auto& [output, input] : connection.table) {
      if (output.index() == connection.table.front().first.index() && input.index() == output.index()) continue;
      problems.push_back(problem_of(
          Fact{FactCode::NoSspTable, {}, {{"output", base::kind_of(output)}, {"input", base::kind_of(input)}}},
          "write all its values as numbers, or all by name", connection.where));
      break;
    }
  }
  if (!problems.empty()) throw Error(std::move(problems));
}

/// With the variables that each has as it is described: structural parameters decide on them.
std::vector<description::SsdComponent> components_of(const SystemDescription& description) {
  const Extensions none;
  const Logging no_log;
  const auto make = assembly::subsystem_maker(description, {.only_variables = true}, none, no_log);
  std::vector<description::SsdComponent> components;
  components.reserve(description.subsystems.size());
  std::vector<Problem> problems;
  for (auto subsystem : description.subsystems) {
    subsystem.fmu = absolute_file(description, subsystem.fmu).string();
    if (const auto made = make(subsystem, {}, problems)) components.push_back({{}, made->variables()});
  }
  if (has_errors(problems)) throw Error(std::move(problems));
  return components;
}

/// SSP 1.0 has no arrays: their elements are connectors.
SystemDescription with_element_connections(SystemDescription description,
                                           const std::vector<description::SsdComponent>& components) {
  std::map<std::string, const VariableTable*> tables;
  for (std::size_t i = 0; i < components.size(); ++i) tables[description.subsystems[i].name] = &components[i].variables;
  const auto table_of = [&](const std::string& port) {
    const auto found = tables.find(port.substr(0, port.find('.')));
    return found == tables.end() ? nullptr : found->second;
  };
  std::vector<Problem> problems;
  for (const auto& connection : std::exchange(description.connections, {})) {
    for (auto& single : description::element_connections(connection, table_of(connection.output),
                                                         table_of(connection.input), problems))
      description.connections.push_back(std::move(single));
  }
  if (!problems.empty()) throw Error(std::move(problems));
  return description;
}

void write_package(const SystemDescription& description, const fs::path& to) {
  auto components = components_of(description);
  std::vector<base::ArchiveSource> sources{{"SystemStructure.ssd", {}, {}}};
  std::list<base::LocatedFile> held;  // FMUs may lie in another package
  std::map<fs::path, std::string> known;
  std::set<std::string> names;
  for (std::size_t i = 0; i < components.size(); ++i) {
    const fs::path fmu = absolute_file(description, description.subsystems[i].fmu);
    const auto [place, is_new] = known.insert({fmu, ""});
    if (is_new) {
      place->second = fmt::format("resources/{}.fmu", base::unique_name(fmu.stem().string(), names));
      sources.push_back({place->second, {}, held.emplace_back(fmu).path()});
    }
    components[i].source = description::uri_of_path(place->second);
  }
  sources.front().text = description::write_ssd(with_element_connections(description, components), components);
  base::write_archive(to, sources);
}

void write_document(const SystemDescription& description, const fs::path& to) {
  auto components = components_of(description);
  const fs::path folder = fs::absolute(to).parent_path();
  for (std::size_t i = 0; i < components.size(); ++i) {
    const fs::path fmu = absolute_file(description, description.subsystems[i].fmu);
    if (base::outermost_file(fmu) != fmu)
      throw Error(ErrorCode::FileFailed, {FactCode::FmuInPackage, {fmu.string()}},
                  {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Convert to a package (.ssp)"});
    components[i].source = description::uri_of_path(fmu.lexically_relative(folder));
  }
  base::replace_file(to, description::write_ssd(with_element_connections(description, components), components));
}

void write_toml(SystemDescription description, const fs::path& to) {
  const fs::path folder = fs::absolute(to).parent_path();
  for (auto& subsystem : description.subsystems) {
    description::for_each_source_file(subsystem, [&](std::string& path) {
      path = absolute_file(description, path).lexically_relative(folder).string();
    });
  }
  base::replace_file(to, system_text(description));
}

}  // namespace

std::vector<Fact> convert(const fs::path& from, const fs::path& to) {
  return convert(from, to, {});
}

std::vector<Fact> convert(const fs::path& from, const fs::path& to, const LoadOptions& options) {
  const auto extension = to.extension();
  if (extension != ".toml" && !description::is_ssp(to))
    throw Error(ErrorCode::FileFailed, {FactCode::SystemFormatUnknown, {to.string()}},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Name a .toml, .ssp or .ssd file"});
  if (fs::exists(to))
    throw Error(ErrorCode::FileFailed, {FactCode::FileExists, {to.string()}},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Name a new file"});
  const auto description = load(from, {}, options);
  std::vector<Fact> notes;
  for (const auto& note : description.notes) notes.push_back(fact_of(note));
  if (extension == ".toml") {
    write_toml(description, to);
    return notes;
  }
  check_expressible(description);
  if (extension == ".ssp") write_package(description, to);
  if (extension == ".ssd") write_document(description, to);
  notes.push_back({FactCode::SettingsInAnnotation, {}, {{"annotation", description::kSspSettings}}});
  return notes;
}

}  // namespace entrain
