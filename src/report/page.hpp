#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace entrain::reporting {

/// The page without data, built from web/; empty when the program was built without Node.
std::string_view page_template() noexcept;

/// The page with its data. Nothing in the data can end the script that holds it. Throws Error{FileFailed} when reports
/// are not included in this program.
std::string page_with(const nlohmann::ordered_json& data);

/// What is left of a page of less than 2 MB, in characters, when these data are in it; something always is.
std::size_t room_in_page(const nlohmann::ordered_json& data);

}  // namespace entrain::reporting
