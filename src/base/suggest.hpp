#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace entrain {

/// The candidate nearest to a mistyped word (edit distance, case ignored), if one is near enough to be meant.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

/// "did you mean 'x'?" or, with nothing near, "known: a, b, c" (shortened); empty without candidates.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace entrain
