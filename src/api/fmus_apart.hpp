#pragma once

#include "entrain/system_description.hpp"

namespace entrain::api {

/// The same system with every FMU in a worker, for looking at it: no FMU can take this process along. Few processes for
/// many FMUs: those of one file share one, unless the FMU forbids it. A call takes a minute at most.
SystemDescription with_fmus_apart(SystemDescription description);

}  // namespace entrain::api
