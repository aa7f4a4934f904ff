#pragma once

#include "entrain/system_description.hpp"

namespace entrain::api {

/// The same system with every FMU in a worker, for looking at it: no FMU can take this process along. Few processes for
/// many FMUs: those of one file share one, unless the FMU forbids it. A call takes a minute at most.
SystemDescription with_fmus_apart(SystemDescription description);
/// The same system with FMUs in workers as they are in a run over ranks: unless it says otherwise, each in its own, or
/// many in a few.
SystemDescription with_fmus_as_on_ranks(SystemDescription description);

}  // namespace entrain::api
