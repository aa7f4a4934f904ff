#pragma once

#include <filesystem>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/extensions.hpp"
#include "entrain/fact.hpp"
#include "entrain/system_description.hpp"

namespace entrain {

// FMUs that are not trusted (docs/workers.md): the verbs that look at FMUs before there is a description to change.

/// Each FMU in a sandbox, whatever is written.
ENTRAIN_API void put_in_sandbox(SystemDescription& description);

struct LoadOptions {
  bool sandbox = false;  ///< put_in_sandbox, before any code of an FMU runs
};

/// As in system.hpp. To report every problem of a wrong file FMUs are looked at, too, in processes of their own.
ENTRAIN_API SystemDescription load(const std::filesystem::path& path, const Extensions& extensions,
                                   const LoadOptions& options);
ENTRAIN_API std::vector<Problem> check(const std::filesystem::path& path, const Extensions& extensions,
                                       const LoadOptions& options);

/// As in new_system.hpp; the system file puts the FMUs into sandboxes.
ENTRAIN_API std::filesystem::path new_system(const std::filesystem::path& folder,
                                             const std::vector<std::filesystem::path>& fmus,
                                             const LoadOptions& options);

/// As in convert.hpp; what is written puts the FMUs into sandboxes.
ENTRAIN_API std::vector<Fact> convert(const std::filesystem::path& from, const std::filesystem::path& to,
                                      const LoadOptions& options);

}  // namespace entrain
