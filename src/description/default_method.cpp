#include "entrain/system_description.hpp"

namespace entrain {

/// A fact of the system file, as the other defaults are; the registry of the methods has it first.
std::string_view default_method() noexcept {
  return "jacobi";
}

}  // namespace entrain
