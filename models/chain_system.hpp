#pragma once

#include <cstddef>

#include "entrain/system_description.hpp"

namespace entrain::models {

/// `masses` subsystems m0, m1, ... of model chain.mass, each joined to the next; a ring joins the last to the first.
/// The first mass is displaced by 1 m. Runs to 10 s in steps of 0.01 s unless changed.
SystemDescription chain_system(std::size_t masses, bool ring = false);

}  // namespace entrain::models
