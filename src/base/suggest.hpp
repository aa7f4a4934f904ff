#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/text.hpp"

namespace entrain::base {

/// The candidate nearest to a mistyped word (edit distance, case ignored), if one is near enough to be meant.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace entrain::base
