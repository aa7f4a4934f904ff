#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "entrain/comparison.hpp"

namespace entrain::comparing {

/// All of it but the curves.
nlohmann::ordered_json comparison_data(const Comparison& comparison);

/// What its page shows.
nlohmann::ordered_json page_data(const Comparison& comparison);

/// The text of write_comparison_page.
std::string comparison_page(const Comparison& comparison);

}  // namespace entrain::comparing
