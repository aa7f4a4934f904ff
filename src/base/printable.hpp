#pragma once

#include <string>
#include <string_view>

namespace entrain::base {

bool is_utf8(std::string_view text);

/// Foreign text (names in files, messages of an FMU) for messages: what could garble a terminal becomes \xNN.
std::string printable(std::string_view text);

}  // namespace entrain::base
