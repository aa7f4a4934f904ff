#pragma once

#include <filesystem>

namespace entrain::cli {

/// The example systems that came with the program: $ENTRAIN_EXAMPLES, else beside the program (build folder or
/// installation). Throws Error{FileFailed}.
std::filesystem::path find_examples();

/// The FMUs of the built-in models, in folders '2' and '3' for the versions of FMI: $ENTRAIN_FMUS, else beside the
/// program (build folder or installation). Throws Error{FileFailed}.
std::filesystem::path find_fmus();

}  // namespace entrain::cli
