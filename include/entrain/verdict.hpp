#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/fact.hpp"

namespace entrain {

/// May the result be trusted? Decided by what the run measured of itself (docs/report.md).
struct Verdict {
  enum class Level { Good, Caution, Bad };
  Level level = Level::Good;
  std::string headline;
  std::vector<Fact> reasons;  ///< what decided comes first
};

/// Of the run whose files are in the folder, as in its report. Throws Error{FileFailed}.
ENTRAIN_API Verdict verdict(const std::filesystem::path& run_directory);

}  // namespace entrain
