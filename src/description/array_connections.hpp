#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/system_description.hpp"

namespace entrain::description {

/// The ports that are the elements of one array: "x[1,1]" to "x[2,3]".
struct PortArray {
  std::string shape;                  ///< "[2,3]"
  std::vector<std::string> elements;  ///< "[1,1]", ..., in the order of the ports
};

/// nullopt when `name` is a port itself, or not all elements of an array have one.
std::optional<PortArray> output_array(const VariableTable& variables, std::string_view name);
std::optional<PortArray> input_array(const VariableTable& variables, std::string_view name);

/// One connection for each element where both ends are whole arrays, else the connection itself. Shapes that differ are
/// a problem, and nothing is connected. `from` and `to` are the variables of both ends, nullptr where not known.
std::vector<ConnectionDescription> element_connections(const ConnectionDescription& connection,
                                                       const VariableTable* from, const VariableTable* to,
                                                       std::vector<Problem>& problems);

}  // namespace entrain::description
