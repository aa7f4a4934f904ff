#pragma once

#include <string>
#include <vector>

#include "entrain/advice.hpp"

namespace entrain::cli {

/// What the measures mean, a sentence each.
std::vector<std::string> robustness_sentences(const Advice& advice);
std::vector<std::string> parameter_sentences(const Advice& advice);

/// The front of a search as a table; empty without one.
std::string front_text(const Advice& advice);

}  // namespace entrain::cli
