#pragma once

#include <string>

#include "analysis/advice.hpp"

namespace entrain {

/// Everything an advice knows.
std::string advice_json(const Advice& advice);

/// The advice as a page, HTML in one file: what is recommended and why, radius and consistency over the step, the front
/// and the heat map as far as they are known. Throws Error{FileFailed} when reports are not included in this program.
std::string advice_page(const Advice& advice);

/// The data of that page, as text. Fields that do not apply are left out; a number that is not finite is null.
std::string advice_page_json(const Advice& advice);

}  // namespace entrain
