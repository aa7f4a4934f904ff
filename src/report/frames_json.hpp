#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace entrain::reporting {

/// The frames of a run for its page: {"count": all, "frames": [[time, from, to, operation, id, length, data], ...]}, of
/// which the first few thousand are shown. Null where the run has none, or the file is something else.
nlohmann::ordered_json frames_json(const std::filesystem::path& file);

}  // namespace entrain::reporting
