#pragma once

#include <string>
#include <vector>

#include "entrain/system_description.hpp"

namespace entrain::description {

/// What an SSD contains for one subsystem beside its description.
struct SsdComponent {
  std::string source;  ///< URI of the FMU
  VariableTable variables;
};

/// The system as an SSD of SSP 1.0 that reads back to the same run: `components` in the order of the subsystems, all of
/// them FMUs. Settings that SSP does not have are written to an annotation.
std::string write_ssd(const SystemDescription& description, const std::vector<SsdComponent>& components);

}  // namespace entrain::description
