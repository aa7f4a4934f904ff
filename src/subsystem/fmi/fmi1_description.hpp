#pragma once

#include <pugixml.hpp>

#include "subsystem/fmi/interface_flags.hpp"

namespace entrain::subsystem {

/// Everything behind the version of a modelDescription.xml of FMI 1.0. `description`: to be filled.
void read_fmi1_description(const DescriptionXml& xml, pugi::xml_node root, FmuDescription& description);

}  // namespace entrain::subsystem
