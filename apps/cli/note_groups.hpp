#pragma once

#include <string>
#include <vector>

namespace entrain::cli {

/// Notes to be read: where more than a few say the same of different subsystems, with other names and numbers, the
/// first of them speaks and names the others. Each kind stands where it first stood.
std::vector<std::string> grouped_notes(const std::vector<std::string>& notes);

}  // namespace entrain::cli
