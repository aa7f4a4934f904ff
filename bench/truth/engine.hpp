#pragma once

#include "entrain/extensions.hpp"
#include "entrain/system_description.hpp"
#include "truth/system.hpp"

namespace entrain::truth {

/// The system as the engine gets it, without method and step. The extensions make its parts and must not outlive it.
SystemDescription description_of(const System& system);
Extensions extensions_of(const System& system);

}  // namespace entrain::truth
