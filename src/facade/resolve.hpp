#pragma once

#include "entrain/extensions.hpp"
#include "entrain/system_description.hpp"

namespace entrain {

/// Macro steps of a run whose file does not say: enough for a first look at most systems.
inline constexpr double kDefaultSteps = 1000.0;

/// The description with every default filled in (step, options of the method in force): what is really run.
SystemDescription resolved(const SystemDescription& description, const Extensions& extensions = {});

}  // namespace entrain
