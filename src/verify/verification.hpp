#pragma once

#include "entrain/verification.hpp"

namespace entrain::verifying {

/// As `verify`, of a system whose method is a real one.
Verification verify_chosen(const SystemDescription& description, const RunOptions& options,
                           const Extensions& extensions);

}  // namespace entrain::verifying
