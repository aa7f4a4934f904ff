#include "facade/convert.hpp"

#include <fmt/format.h>

#include <list>
#include <map>
#include <set>

#include "base/archive.hpp"
#include "base/unique_name.hpp"
#include "description/ssp_document.hpp"
#include "description/ssp_file.hpp"
#include "description/ssp_writer.hpp"
#include "description/system_file.hpp"
#include "entrain/entrain.hpp"
#include "results/replace_file.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;

fs::path absolute_fmu(const SystemDescription& description, const SubsystemDescription& subsystem) {
  return fs::absolute(description.file.parent_path() / subsystem.fmu).lexically_normal();
}

/// Only FMUs have a place in SSP.
void check_all_fmus(const SystemDescription& description) {
  std::vector<Problem> problems;
  for (const auto& subsystem : description.subsystems) {
    if (!subsystem.fmu.empty()) continue;
    problems.push_back({fmt::format("'{}' is no FMU: SSP cannot hold it", subsystem.name),
                        "use an FMU of it (fmu = \"...\")", subsystem.where});
  }
  if (!problems.empty()) throw Error(std::move(problems));
}

std::vector<SsdComponent> components_of(const SystemDescription& description) {
  std::vector<SsdComponent> components;
  components.reserve(description.subsystems.size());
  for (const auto& subsystem : description.subsystems)
    components.push_back({{}, make_fmu_subsystem(subsystem.name, absolute_fmu(description, subsystem))->variables()});
  return components;
}

void write_package(const SystemDescription& description, const fs::path& to) {
  auto components = components_of(description);
  std::vector<ArchiveSource> sources{{"SystemStructure.ssd", {}, {}}};
  std::list<LocatedFile> held;  // FMUs may lie in another package
  std::map<fs::path, std::string> known;
  std::set<std::string> names;
  for (std::size_t i = 0; i < components.size(); ++i) {
    const fs::path fmu = absolute_fmu(description, description.subsystems[i]);
    const auto [place, is_new] = known.insert({fmu, ""});
    if (is_new) {
      place->second = fmt::format("resources/{}.fmu", unique_name(fmu.stem().string(), names));
      sources.push_back({place->second, {}, held.emplace_back(fmu).path()});
    }
    components[i].source = uri_of_path(place->second);
  }
  sources.front().text = write_ssd(description, components);
  write_archive(to, sources);
}

void write_document(const SystemDescription& description, const fs::path& to) {
  auto components = components_of(description);
  const fs::path folder = fs::absolute(to).parent_path();
  for (std::size_t i = 0; i < components.size(); ++i) {
    const fs::path fmu = absolute_fmu(description, description.subsystems[i]);
    if (outermost_file(fmu) != fmu)
      throw Error(ErrorCode::FileFailed, fmt::format("'{}' lies in a package, which an SSD cannot say", fmu.string()),
                  {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Convert to a package (.ssp)"});
    components[i].source = uri_of_path(fmu.lexically_relative(folder));
  }
  replace_file(to, write_ssd(description, components));
}

void write_toml(SystemDescription description, const fs::path& to) {
  const fs::path folder = fs::absolute(to).parent_path();
  for (auto& subsystem : description.subsystems) {
    if (!subsystem.fmu.empty())
      subsystem.fmu = absolute_fmu(description, subsystem).lexically_relative(folder).string();
  }
  replace_file(to, write_system(description));
}

}  // namespace

std::vector<std::string> convert(const fs::path& from, const fs::path& to) {
  const auto extension = to.extension();
  if (extension != ".toml" && !is_ssp(to))
    throw Error(ErrorCode::FileFailed, fmt::format("'{}' has no format that systems are written in", to.string()),
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Name a .toml, .ssp or .ssd file"});
  if (fs::exists(to))
    throw Error(ErrorCode::FileFailed, fmt::format("'{}' exists", to.string()),
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Name a new file"});
  const auto description = load(from);
  std::vector<std::string> notes;
  for (const auto& note : description.notes) notes.push_back(to_string(note));
  if (extension == ".toml") {
    write_toml(description, to);
    return notes;
  }
  check_all_fmus(description);
  if (extension == ".ssp") write_package(description, to);
  if (extension == ".ssd") write_document(description, to);
  notes.push_back(
      fmt::format("method, steps, options and what is recorded are in an annotation ({}), which other tools "
                  "ignore",
                  kSspSettings));
  return notes;
}

}  // namespace entrain
