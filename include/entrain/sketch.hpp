#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/inspection.hpp"
#include "entrain/sandbox.hpp"
#include "entrain/system_description.hpp"

namespace entrain {

/// What is known of the text of a system file, right or wrong: for editors.
struct SystemSketch {
  SystemDescription description;  ///< as far as it could be understood
  bool is_toml = true;            ///< false: nothing could be understood
  /// Of each subsystem of the description, in its order; nullopt where it cannot be made.
  std::vector<std::optional<SubsystemInspection>> subsystems;
  std::vector<std::vector<std::string>> loops;  ///< as in SystemInspection; of a system without errors
  std::vector<std::string> sequence;
  std::vector<MethodFitness> methods;
  std::vector<Problem> problems;  ///< all that `check` finds
};

/// FMUs are looked at in processes of their own. Never throws for what is wrong in the text.
ENTRAIN_API SystemSketch sketch(std::string_view text, const std::filesystem::path& file, const LoadOptions& options);
/// The same of a file in any format that `load` reads. Throws Error{FileFailed} when it cannot be read.
ENTRAIN_API SystemSketch sketch(const std::filesystem::path& file, const LoadOptions& options);

ENTRAIN_API std::string sketch_json(const SystemSketch& sketch);

}  // namespace entrain
