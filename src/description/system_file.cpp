#include "description/system_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <memory>
#include <system_error>

#include "base/suggest.hpp"
#include "description/toml_document.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFileSize = std::size_t{64} << 20U;  // bytes; a system of 100 000 subsystems has a tenth of it

[[noreturn]] void fail(const std::string& message, const std::string& remedy) {
  ErrorContext context;
  context.remedy = remedy;
  throw Error(ErrorCode::FileFailed, message, std::move(context));
}

[[noreturn]] void fail_to_read(const fs::path& path, const std::error_code& reason) {
  fail(fmt::format("cannot read '{}': {}", path.string(), reason.message()), "Check the path and its permissions");
}

fs::path system_file_in(const fs::path& folder) {
  std::error_code error;
  if (auto file = folder / "system.toml"; fs::is_regular_file(file, error)) return file;
  std::vector<fs::path> files;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    if (entry->path().extension() == ".toml") files.push_back(entry->path());
  if (error) fail_to_read(folder, error);
  if (files.size() == 1) return files.front();
  if (files.empty())
    fail(fmt::format("no system file in the folder '{}': looked for system.toml, then for a single .toml",
                     folder.string()),
         "Name a system file, or a folder that holds one");
  std::vector<std::string> names;
  names.reserve(files.size());
  for (const auto& file : files) names.push_back(file.filename().string());
  std::sort(names.begin(), names.end());
  fail(fmt::format("several .toml files in the folder '{}' and none is system.toml: {}", folder.string(),
                   fmt::join(names, ", ")),
       "Name the one that is meant");
}

std::string read_text(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) fail(fmt::format("no such file: '{}'", path.string()), "");
  if (error) fail_to_read(path, error);
  // A folder cannot be read; a pipe or device may never end.
  if (!fs::is_regular_file(status))
    fail(fmt::format("'{}' is not a regular file", path.string()), "Name a system file (.toml)");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) fail_to_read(path, {errno, std::generic_category()});
  const auto size = fs::file_size(path, error);
  if (error) fail_to_read(path, error);
  if (size > kMaxFileSize)
    fail(fmt::format("'{}' has {} MiB, more than the {} MiB a system file may have", path.string(), size >> 20U,
                     kMaxFileSize >> 20U),
         "Name a system file (.toml)");
  std::string text(size, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) fail_to_read(path, {errno, std::generic_category()});
  return text;
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
  TomlNode value;

  /// `form` shows the user what was expected, e.g. "sub.var=value".
  Assignment(std::string_view option, std::string_view text, std::string_view form)
      : where{fmt::format("{} {}", option, text)} {
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) name = trimmed(text.substr(0, equals));
    const auto value_text = equals == std::string_view::npos ? "" : trimmed(text.substr(equals + 1));
    if (name.empty() || value_text.empty()) reject("not an assignment", fmt::format("write {} {}", option, form));
    value = parsed(value_text);
  }

  [[noreturn]] void reject(std::string message, std::string remedy) const {
    throw Error(std::vector<Problem>{{std::move(message), std::move(remedy), where}});
  }

 private:
  /// What is no TOML value is a string: a shell has eaten the quotes.
  static TomlNode parsed(std::string_view text) {
    std::vector<Problem> not_toml;
    const auto document = parse_toml(fmt::format("value = {}", text), "", not_toml);
    const bool one_value = document && document->entries.size() == 1;
    return one_value ? document->entries.front().node : TomlNode{std::string(text), {}};
  }
};

}  // namespace

fs::path find_system_file(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    fail(fmt::format("no such file or folder: '{}'", path.string()),
         "Name a system file (.toml), or a folder that holds one");
  if (error) fail_to_read(path, error);
  if (fs::is_directory(status)) return system_file_in(path);
  if (path.extension() == ".toml") return path;
  fail(fmt::format("'{}' is not a system file", path.string()),
       "A system is a .toml file, or a folder that holds system.toml");
}

SystemDescription read_system(const fs::path& file, std::vector<Problem>& problems) {
  return parse_system(read_text(file), file, problems);
}

void apply_set(SystemDescription& description, std::string_view assignment) {
  const Assignment set("--set", assignment, "sub.var=value");
  const auto dot = set.name.find('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == set.name.size())
    set.reject(fmt::format("'{}' is not the name of a variable", set.name), "write --set sub.var=value");
  const auto name = set.name.substr(0, dot);
  const auto subsystem = std::find_if(description.subsystems.begin(), description.subsystems.end(),
                                      [&](const auto& candidate) { return candidate.name == name; });
  if (subsystem == description.subsystems.end()) {
    std::vector<std::string> names;
    for (const auto& candidate : description.subsystems) names.push_back(candidate.name);
    set.reject(fmt::format("unknown subsystem '{}'", name), suggestion(name, names));
  }
  auto value = scalar(set.value);
  if (!value)
    set.reject(fmt::format("{} must be a number, a boolean or a string, not {}", set.name, found(set.value)), "");
  if (const auto* number = std::get_if<double>(&*value); number != nullptr && !std::isfinite(*number))
    set.reject(fmt::format("{} must be finite, not {}", set.name, *number), "");
  subsystem->start[set.name.substr(dot + 1)] = {std::move(*value), set.where};
}

void apply_option(SystemDescription& description, std::string_view assignment) {
  const Assignment option("--option", assignment, "name=value");
  auto value = option_value(option.value);
  if (!value)
    option.reject(fmt::format("{} cannot have this value", option.name),
                  "give a boolean, a number, a string, a list of numbers or of strings, or a table of numbers");
  description.method_options[description.method.value][option.name] = {std::move(*value), option.where};
}

}  // namespace entrain
