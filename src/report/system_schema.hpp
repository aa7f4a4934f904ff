#pragma once

#include <string>
#include <vector>

#include "entrain/inspection.hpp"

namespace entrain::reporting {

/// The JSON schema of system files, for editors: every key that the reader knows, from the lists that it reads by, and
/// the options of these methods.
std::string system_schema_json(const std::vector<MethodInfo>& methods);

}  // namespace entrain::reporting
