#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/variable.hpp"

namespace entrain {

struct LogMessage;

/// Six significant digits, as people read numbers.
ENTRAIN_API std::string short_number(double value);

/// Numbers as the shortest text that reads back to the same value, true or false, texts as they are, bytes as
/// hexadecimal digits.
ENTRAIN_API std::string value_text(const Value& value);

/// "0.25 motor [logStatusWarning] text": time, subsystem, category if there is one, and the message.
ENTRAIN_API std::string log_line(const LogMessage& message);

/// Of a mistyped word: "did you mean 'x'?" or, with nothing near, "known: a, b, c" (shortened); empty without
/// candidates.
ENTRAIN_API std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace entrain
