#pragma once

#include <filesystem>
#include <string_view>

namespace entrain::base {

/// Replaces the file by `text` so that a reader sees the old content or the new, never a part. Throws Error{FileFailed}
/// and leaves the old content in place.
void replace_file(const std::filesystem::path& path, std::string_view text);

}  // namespace entrain::base
