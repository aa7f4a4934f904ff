#pragma once

#include <filesystem>
#include <string_view>

#include "entrain/error.hpp"

namespace entrain::base {

/// "cannot write 'runs/a-1/results.csv': no space left on device. Free some space or choose ..." (FileFailed)
/// `action` is what failed, e.g. "write".
Error file_error(std::string_view action, const std::filesystem::path& path, int error_number);

}  // namespace entrain::base
