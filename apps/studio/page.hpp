#pragma once

#include <string>
#include <string_view>

namespace entrain::studio {

/// The page, built from web/; empty when the program was built without Node.
std::string_view page_template() noexcept;

/// With `nonce` at its scripts and styles, which the policy of the answer lets run alone.
std::string page_with_nonce(std::string_view nonce);

}  // namespace entrain::studio
