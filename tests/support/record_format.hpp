#pragma once

#include <string>
#include <string_view>

#include "entrain/system_description.hpp"

namespace entrain::test {

/// All outputs at every communication time, in this format.
inline RecordDescription in_format(std::string_view format) {
  RecordDescription record;
  record.format = {std::string(format), {}};
  return record;
}

}  // namespace entrain::test
