#pragma once

#include <string>

#include "entrain/ids.hpp"

namespace entrain::coupling {

/// Two outputs that are the same quantity. A force is added to one of the inputs and taken from the other.
struct Constraint {
  std::string name;
  OutputId one, other;
  InputId on_one, on_other;
};

}  // namespace entrain::coupling
