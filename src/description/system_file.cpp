#include "description/system_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "base/archive.hpp"
#include "base/suggest.hpp"
#include "base/text_file.hpp"
#include "description/osp_file.hpp"
#include "description/ssp_file.hpp"
#include "description/toml_document.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;

/// A system of 100 000 subsystems has a tenth of the size.
constexpr base::TextFileKind kSystemFile{"a system file", "Name a system file (.toml)", std::uintmax_t{64} << 20U};

[[noreturn]] void fail(Fact fact, const std::string& remedy) {
  ErrorContext context;
  context.remedy = remedy;
  throw Error(ErrorCode::FileFailed, std::move(fact), std::move(context));
}

[[noreturn]] void fail_to_read(const fs::path& path, const std::error_code& reason) {
  fail({FactCode::FileFailed, {path.string()}, {{"what", "read"}, {"why", reason.message()}}},
       "Check the path and its permissions");
}

bool is_system_file(const fs::path& file) {
  return file.extension() == ".toml" || description::is_ssp(file) || description::is_osp(file);
}

/// By its usual name, else the only one.
fs::path system_file_in(const fs::path& folder) {
  std::error_code error;
  for (const char* usual : {"system.toml", "SystemStructure.ssd", "OspSystemStructure.xml"}) {
    if (auto file = folder / usual; fs::is_regular_file(file, error)) return file;
  }
  std::vector<fs::path> files;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    if (is_system_file(entry->path())) files.push_back(entry->path());
  if (error) fail_to_read(folder, error);
  if (files.size() == 1) return files.front();
  if (files.empty())
    fail({FactCode::NoSystemFile, {folder.string()}}, "Name a system file, or a folder that holds one");
  std::vector<std::string> names;
  names.reserve(files.size());
  for (const auto& file : files) names.push_back(file.filename().string());
  std::sort(names.begin(), names.end());
  names.insert(names.begin(), folder.string());
  fail({FactCode::SeveralSystemFiles, std::move(names)}, "Name the one that is meant");
}

/// Of SSP alone: what a system file names lies beside it, on disk.
fs::path system_file_in_archive(const fs::path& path) {
  if (description::is_ssp(path)) return path;
  fail({FactCode::NotReadInArchive, {path.string(), base::outermost_file(path).string()}},
       "Name an .fmu, .ssp or .ssd in it, or unpack it");
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// "name=value" of a command line option, and how to complain about it.
struct Assignment {
  SourcePosition where;
  std::string name;
  description::TomlNode value;

  /// `form` shows the user what was expected, e.g. "sub.var=value".
  Assignment(std::string_view option, std::string_view text, std::string_view form)
      : where{fmt::format("{} {}", option, text)} {
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) name = trimmed(text.substr(0, equals));
    const auto value_text = equals == std::string_view::npos ? "" : trimmed(text.substr(equals + 1));
    if (name.empty() || value_text.empty()) reject({FactCode::NotAssignment}, fmt::format("write {} {}", option, form));
    value = parsed(value_text);
  }

  [[noreturn]] void reject(Fact fact, std::string remedy) const {
    throw Error(std::vector<Problem>{problem_of(std::move(fact), std::move(remedy), where)});
  }

 private:
  /// What is no TOML value is a string: a shell has eaten the quotes.
  static description::TomlNode parsed(std::string_view text) {
    std::vector<Problem> not_toml;
    const auto document = description::parse_toml(fmt::format("value = {}", text), "", not_toml);
    const bool one_value = document && document->entries.size() == 1;
    return one_value ? document->entries.front().node : description::TomlNode{std::string(text), {}};
  }
};

}  // namespace

}  // namespace entrain

namespace entrain::description {

fs::path find_system_file(const fs::path& path) {
  if (base::outermost_file(path) != path) return system_file_in_archive(path);
  std::error_code error;
  const auto status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    fail({FactCode::NoSuchFile, {path.string()}, {{"folder", true}}},
         "Name a system file (.toml, .ssp), a folder that holds one, or an FMU (.fmu)");
  if (error) fail_to_read(path, error);
  if (fs::is_directory(status)) return system_file_in(path);
  if (is_system_file(path)) return path;
  fail({FactCode::NotSystemFile, {path.string()}},
       "A system is a .toml, .ssp or .ssd file, an OspSystemStructure.xml, or a folder that holds one");
}

std::string system_name(const fs::path& file) {
  const auto name = file.filename();
  if (name != "system.toml" && name != "SystemStructure.ssd" && name != "OspSystemStructure.xml")
    return file.stem().string();
  std::error_code ignored;  // a working directory that is gone leaves the name as it is in the path
  const auto absolute = fs::absolute(file, ignored);
  const auto folder = (absolute.empty() ? file : absolute).lexically_normal().parent_path().filename();
  return folder.empty() ? file.stem().string() : folder.string();
}

SystemDescription read_system(const fs::path& file, std::vector<Problem>& problems) {
  if (is_ssp(file)) return read_ssp(file, problems);
  if (is_osp(file)) return read_osp(file, problems);
  return parse_system(base::read_text_file(file, kSystemFile), file, problems);
}

}  // namespace entrain::description

namespace entrain {

void apply_set(SystemDescription& description, std::string_view assignment) {
  const Assignment set("--set", assignment, "sub.var=value");
  const auto dot = set.name.find('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == set.name.size())
    set.reject({FactCode::NotVariableName, {set.name}}, "write --set sub.var=value");
  const auto name = set.name.substr(0, dot);
  const auto subsystem = std::find_if(description.subsystems.begin(), description.subsystems.end(),
                                      [&](const auto& candidate) { return candidate.name == name; });
  if (subsystem == description.subsystems.end()) {
    std::vector<std::string> names;
    for (const auto& candidate : description.subsystems) names.push_back(candidate.name);
    set.reject({FactCode::SubsystemUnknown, {name}}, suggestion(name, names));
  }
  auto value = description::scalar(set.value);
  if (!value)
    set.reject({FactCode::WrongType,
                {set.name},
                {{"expected", "a number, a boolean or a string"}, {"found", description::found(set.value)}}},
               "");
  if (const auto* number = std::get_if<double>(&*value); number != nullptr && !std::isfinite(*number))
    set.reject({FactCode::NotFinite, {set.name}, {{"value", *number}}}, "");
  subsystem->start[set.name.substr(dot + 1)] = {std::move(*value), set.where};
}

void apply_scenario(SystemDescription& description, const fs::path& file) {
  constexpr base::TextFileKind kScenarioFile{"a scenario", "Name a file with [[scenario]] entries (.toml)",
                                             std::uintmax_t{64} << 20U};
  apply_scenario_text(description, base::read_text_file(file, kScenarioFile), file.string());
}

void apply_scenario_text(SystemDescription& description, std::string_view text, const std::string& name) {
  std::vector<Problem> problems;
  auto entries = description::parse_scenario(text, name, problems);
  if (entries.empty() && problems.empty())
    problems.push_back(
        problem_of(Fact{FactCode::EmptyValue, {"scenario"}}, "write [[scenario]] entries", {name, 0, 0}));
  if (!problems.empty()) throw Error(std::move(problems));
  std::move(entries.begin(), entries.end(), std::back_inserter(description.scenario));
}

void apply_option(SystemDescription& description, std::string_view assignment) {
  const Assignment option("--option", assignment, "name=value");
  auto value = description::option_value(option.value);
  if (!value)
    option.reject({FactCode::OptionValueType, {option.name}},
                  "give a boolean, a number, a string, a list of numbers or of strings, or a table of numbers");
  description.method_options[description.method.value][option.name] = {std::move(*value), option.where};
}

}  // namespace entrain
