#pragma once

#include <string>
#include <string_view>

#include "subsystem/fmi/model_description.hpp"

namespace entrain::subsystem {

/// A log message of FMI 2 with names for the references to variables in it: "#r100#" (r, i, b, s: its type) becomes the
/// name of the variable, "##" is a '#' (section 2.1.5 of the standard).
std::string with_names(std::string_view message, const FmuDescription& description);

}  // namespace entrain::subsystem
