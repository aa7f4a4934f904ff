#include "entrain/system_description.hpp"

namespace entrain {

/// A fact of the system file, as the other defaults are: chosen for the system, with its step.
std::string_view default_method() noexcept {
  return "auto";
}

}  // namespace entrain
