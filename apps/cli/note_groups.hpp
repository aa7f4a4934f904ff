#pragma once

#include <string>
#include <vector>

#include "entrain/fact.hpp"

namespace entrain::cli {

/// Notes as text: where more than a few have one code and differ in subject and numbers, the first of them is written
/// out and names the others. Each code stands where it first stood.
std::vector<std::string> grouped_notes(const std::vector<Fact>& notes);

}  // namespace entrain::cli
