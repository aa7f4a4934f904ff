#pragma once

#include <pugixml.hpp>

namespace entrain::description {

class SspXml;

/// Attributes that SSP does not have, and words that it does not know for those it has, as warnings with the line. What
/// is missing is found where it is needed.
void check_ssp_schema(SspXml& xml, const pugi::xml_node& root);

}  // namespace entrain::description
