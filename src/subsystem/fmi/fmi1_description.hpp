#pragma once

#include <pugixml.hpp>

#include "subsystem/fmi/interface_flags.hpp"

namespace entrain::subsystem {

/// FMI 1 does not name the states of model exchange. These numbers stand for references of them and, behind, of their
/// derivatives; a file may use them, too.
inline constexpr ValueReference kFirstNumberedState = 0xf0000000U;

/// Everything behind the version of a modelDescription.xml of FMI 1.0. `description`: to be filled.
void read_fmi1_description(const DescriptionXml& xml, pugi::xml_node root, FmuDescription& description);

}  // namespace entrain::subsystem
