#pragma once

/// Everything that the program can do, a header for each verb (docs/embedding.md).

#include <string_view>

#include "entrain/advice.hpp"
#include "entrain/cache.hpp"
#include "entrain/comparison.hpp"
#include "entrain/control.hpp"
#include "entrain/convert.hpp"
#include "entrain/export.hpp"
#include "entrain/inspection.hpp"
#include "entrain/judged_run.hpp"
#include "entrain/learning.hpp"
#include "entrain/new_system.hpp"
#include "entrain/ranks.hpp"
#include "entrain/real_time.hpp"
#include "entrain/recording.hpp"
#include "entrain/report.hpp"
#include "entrain/reproduce.hpp"
#include "entrain/results.hpp"
#include "entrain/rig.hpp"
#include "entrain/run.hpp"
#include "entrain/sandbox.hpp"
#include "entrain/simulation.hpp"
#include "entrain/sweep.hpp"
#include "entrain/system.hpp"
#include "entrain/verdict.hpp"
#include "entrain/verification.hpp"
#include "entrain/watchdog.hpp"
#include "entrain/worker.hpp"

namespace entrain {

ENTRAIN_API std::string_view version() noexcept;

}  // namespace entrain
