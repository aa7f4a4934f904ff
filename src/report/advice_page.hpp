#pragma once

#include <string>

#include "entrain/advice.hpp"

namespace entrain::reporting {

/// The text of write_advice_page.
std::string advice_page(const Advice& advice);

/// The data of that page, as text. Fields that do not apply are left out; a number that is not finite is null.
std::string advice_page_json(const Advice& advice);

}  // namespace entrain::reporting
