#pragma once

#include <string>

#include "entrain/learning.hpp"

namespace entrain {

/// How the repeated runs went, as HTML in one file: error per run, horizon, and every learned input in the first run,
/// in the best one, and as it should have been. Throws Error{FileFailed} when reports are not included.
std::string learning_page(const LearnResult& result, const LearnOptions& options);

}  // namespace entrain
