#pragma once

#include <filesystem>

#include "entrain/export.hpp"

namespace entrain {

/// Where results of what was tried on FMUs are kept between processes (docs/fmu_failures.md); for the whole process,
/// and the workers that it starts. Empty, as it is without this call: nowhere. A folder that cannot be written is no
/// error.
ENTRAIN_API void set_cache_folder(std::filesystem::path folder);

}  // namespace entrain
