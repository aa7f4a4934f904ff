#pragma once

#include <map>
#include <string>

#include "description/ssp_xml.hpp"

namespace entrain::description {

/// The units that a file of SSP defines, by name.
using SspUnits = std::map<std::string, UnitMeaning>;

/// The Units element of a description or a parameter set, added to those around it.
SspUnits read_units(SspXml& xml, const pugi::xml_node& node, SspUnits around = {});

/// Some tools write "[m]" for m.
std::string plain_unit(std::string_view text);

/// A number in a unit that only this file knows, in SI base units instead, which every reader knows. One in a unit
/// that means the same everywhere stays as it is written.
void express_in_si(SspParameter& parameter, const SspUnits& units);

/// <ssc:Unit name="kN"><ssc:BaseUnit kg="1" m="1" s="-2" factor="1000"/></ssc:Unit>
std::string unit_element(const std::string& name, const UnitMeaning& meaning);

/// The parameters of a ParameterSet, inline or of a file. `around`: units defined by what holds it.
std::vector<SspParameter> read_parameter_set(SspXml& xml, const pugi::xml_node& set, const SspUnits& around);

}  // namespace entrain::description
