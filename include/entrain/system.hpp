#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/extensions.hpp"
#include "entrain/system_description.hpp"

namespace entrain {

/// Reads a system file, a folder holding one `system.toml` (or a single .toml), or an FMU by itself (then it is the
/// subsystem "fmu", run as in its default experiment).
/// Throws Error{InvalidSystem} with every problem, or Error{FileFailed}. `extensions` are for these problems alone.
ENTRAIN_API SystemDescription load(const std::filesystem::path& path, const Extensions& extensions = {});

/// Every problem of a system at once, without running it: file, names, connections, capabilities, options.
ENTRAIN_API std::vector<Problem> check(const std::filesystem::path& path, const Extensions& extensions = {});

/// The same for a description that a program made or changed.
ENTRAIN_API std::vector<Problem> check(const SystemDescription& description, const Extensions& extensions = {});

/// Reads the text of a system file (TOML). `file`: what relative paths and messages refer to; it need not exist.
/// Throws Error{InvalidSystem} with every problem of the text.
ENTRAIN_API SystemDescription parse(std::string_view text, const std::filesystem::path& file);

/// What is left open becomes what the FMUs propose, as `load` does: the smallest step, the latest stop, and with it
/// their start if they agree.
ENTRAIN_API void take_default_experiments(SystemDescription& description);

/// Whether one of them is more than a warning.
ENTRAIN_API bool has_errors(const std::vector<Problem>& problems);

/// The system as TOML that reads back to the same description.
ENTRAIN_API std::string system_text(const SystemDescription& description);

/// Writes that text, in place of what the file was. Throws Error{FileFailed}.
ENTRAIN_API void save(const SystemDescription& description, const std::filesystem::path& file);

/// The description with every default filled in (step, options of the method in force): what is really run.
ENTRAIN_API SystemDescription resolved(const SystemDescription& description, const Extensions& extensions = {});

/// Applies "subsystem.variable=value", as --set does. Throws Error{InvalidSystem} for nonsense.
ENTRAIN_API void apply_set(SystemDescription& description, std::string_view assignment);

/// Applies "name=value" to the options of the method in force, as --option does. The value is read as TOML, else taken
/// as a string. Throws Error{InvalidSystem} for nonsense.
ENTRAIN_API void apply_option(SystemDescription& description, std::string_view assignment);

/// Lays the [[scenario]] entries of a file over the system, behind its own, as --scenario does. Throws
/// Error{InvalidSystem} with every problem of the text, or Error{FileFailed}.
ENTRAIN_API void apply_scenario(SystemDescription& description, const std::filesystem::path& file);
/// The same for a text; `name` stands in messages in the place of the file.
ENTRAIN_API void apply_scenario_text(SystemDescription& description, std::string_view text, const std::string& name);

}  // namespace entrain
