#pragma once

#include <filesystem>

namespace entrain::cli {

/// The example systems that came with the program: $ENTRAIN_EXAMPLES, else beside the program (build folder or
/// installation). Throws Error{FileFailed}.
std::filesystem::path find_examples();

}  // namespace entrain::cli
