#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "entrain/system_description.hpp"

namespace entrain::description {

/// The elements of SSP (System Structure and Parameterization, 1.0 and 2.0), as far as they decide what is run: plain
/// data, as written, not yet flattened.

/// target = factor * source + offset, or, if there is a table, what stands beside the source there: a Boolean-,
/// Integer- or EnumerationMappingTransformation.
struct SspTransformation {
  double factor = 1.0;
  double offset = 0.0;
  ValueTable table = {};

  bool is_scaling() const { return factor != 1.0 || offset != 0.0; }
};

/// The direction of the data through a connector, seen from outside its element.
enum class SspFlow { In, Out, Unknown };

struct SspConnector {
  std::string name;
  SspFlow flow = SspFlow::Unknown;
  std::string unit = {};                              ///< empty = of a component: that of its variable; else none
  std::optional<UnitMeaning> meaning = std::nullopt;  ///< of the unit, where the document defines it
};

struct SspConnection {
  std::string start_element, start_connector;  ///< an empty element is the system itself
  std::string end_element, end_connector;
  SspTransformation transformation;
  bool convert_units = true;
  SourcePosition where;
};

struct SspParameter {
  std::string name;
  Value value;
  std::string unit;
  SourcePosition where;
};

struct SspMapping {
  std::string source, target;
  SspTransformation transformation;
  bool convert_units = true;
  SourcePosition where;
};

/// A set of values for an element and the names they get there.
struct SspBinding {
  std::string prefix;
  std::optional<std::string> source;  ///< URI of an SSV file; else `parameters`
  bool values_in_component = false;   ///< the URI leads into the component
  std::vector<SspParameter> parameters;
  bool has_mapping = false;
  std::optional<std::string> mapping_source;  ///< URI of an SSM file; else `mappings`
  bool mapping_in_component = false;
  std::vector<SspMapping> mappings;
  SourcePosition where;
};

struct SspElement {
  bool is_component = false;
  std::string dictionary;                 ///< of a reference to a signal dictionary: its name
  std::vector<std::string> dictionaries;  ///< of a system: the signal dictionaries that it defines
  std::string name;
  std::string id;
  std::string type;                     ///< MIME type of a component
  std::optional<std::string> source;    ///< URI of a component
  std::string implementation;           ///< "CoSimulation", "ModelExchange", "any" or empty
  std::optional<Written<double>> step;  ///< of a component, as an annotation of OSP proposes
  std::vector<SspConnector> connectors;
  std::vector<SspBinding> bindings;
  std::vector<SspElement> elements;
  std::vector<SspConnection> connections;
  SourcePosition where;
};

struct SspDocument {
  std::optional<Written<double>> start;
  std::optional<Written<double>> stop;
  std::optional<Written<double>> step;  ///< of an annotation of OSP
  std::string settings;                 ///< what Entrain itself has noted in an annotation: TOML
  SourcePosition settings_where;
  SspElement root;
};

/// Type of the annotation for the settings that SSP does not have.
inline constexpr std::string_view kSspSettings = "entrain.settings";

/// Problems of all three are added with file and line; what is ignored, as warnings.
std::optional<SspDocument> parse_ssd(std::string_view text, const std::string& file, std::vector<Problem>& problems);
std::vector<SspParameter> parse_ssv(std::string_view text, const std::string& file, std::vector<Problem>& problems);
std::vector<SspMapping> parse_ssm(std::string_view text, const std::string& file, std::vector<Problem>& problems);

}  // namespace entrain::description
