#pragma once

#include <atomic>

namespace entrain::cli {

/// From now on SIGINT and SIGTERM set the flag that is returned; a second one ends the program at once.
const std::atomic<bool>& catch_signals();

}  // namespace entrain::cli
