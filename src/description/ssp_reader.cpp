// The XML of a SystemStructureDescription (SSD) to plain data.

#include <set>

#include "description/ssp_units.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::description {
namespace {

using Node = pugi::xml_node;

constexpr std::string_view kOspAnnotation = "com.opensimulationplatform";

SspFlow flow_of(std::string_view kind) {
  if (kind == "input" || kind == "parameter" || kind == "structuralParameter") return SspFlow::In;
  if (kind == "output" || kind == "calculatedParameter" || kind == "local" || kind == "constant") return SspFlow::Out;
  return SspFlow::Unknown;  // inout, unspecified, or missing
}

class SsdReader {
 public:
  SsdReader(std::string_view text, const std::string& file, std::vector<Problem>& problems)
      : xml_(text, file, problems) {}

  std::optional<SspDocument> read() {
    const Node root = xml_.root("SystemStructureDescription");
    if (!root) return std::nullopt;
    SspDocument document;
    read_experiment(base::child_named(root, "DefaultExperiment"), document);
    read_annotations(root, document);
    units_ = read_units(xml_, root);
    const Node system = base::child_named(root, "System");
    if (!system) {
      xml_.add(root, Fact{FactCode::NoSystemElement});
      return std::nullopt;
    }
    document.root = read_element(system);
    return document;
  }

 private:
  void read_experiment(const Node& node, SspDocument& document) {
    if (!node) return;
    if (const auto start = xml_.number(node, "startTime")) document.start = {*start, xml_.where(node)};
    if (const auto stop = xml_.number(node, "stopTime")) document.stop = {*stop, xml_.where(node)};
  }

  /// The type of Entrain is kept; every other type is reported once.
  void read_annotations(const Node& root, SspDocument& document) {
    std::set<std::string> ignored;
    for (Node node = root; node; node = next_in_document(node, root)) {
      if (base::local_name(node) != "Annotation") continue;
      const std::string type = node.attribute("type").value();
      if (type == kOspAnnotation) {
        read_osp_step(node, document);
      } else if (type == kSspSettings) {
        document.settings = node.first_child().child_value();
        document.settings_where = xml_.where(node);
      } else if (ignored.insert(type).second) {
        xml_.add(node, Fact{FactCode::AnnotationIgnored, {type}});
      }
    }
  }

  /// The step of the master of the Open Simulation Platform; steps of components are read with them.
  void read_osp_step(const Node& annotation, SspDocument& document) {
    for (Node node = annotation; node; node = next_in_document(node, annotation)) {
      if (const auto step = node.attribute("baseStepSize") ? xml_.number(node, "baseStepSize") : std::nullopt)
        document.step = {*step, xml_.where(node)};
    }
  }

  std::optional<Written<double>> osp_step_of(const Node& component) {
    for (const Node annotation : base::child_named(component, "Annotations")) {
      if (annotation.attribute("type").value() != kOspAnnotation) continue;
      for (const Node node : annotation) {
        if (base::local_name(node) != "StepSizeHint") continue;
        if (const auto step = xml_.number(node, "value")) return Written<double>{*step, xml_.where(node)};
      }
    }
    return std::nullopt;
  }

  static Node next_in_document(const Node& node, const Node& root) {
    if (node.first_child()) return node.first_child();
    for (Node up = node; up && up != root; up = up.parent()) {
      if (up.next_sibling()) return up.next_sibling();
    }
    return {};
  }

  SspElement read_element(const Node& node) {
    SspElement element;
    element.is_component = base::local_name(node) == "Component";
    element.name = xml_.required(node, "name");
    element.id = node.attribute("id").value();
    element.where = xml_.where(node);
    for (const Node connector : base::child_named(node, "Connectors")) {
      if (base::local_name(connector) != "Connector") continue;
      element.connectors.push_back(read_connector(connector));
    }
    for (const Node binding : base::child_named(node, "ParameterBindings")) {
      if (base::local_name(binding) == "ParameterBinding") element.bindings.push_back(read_binding(binding));
    }
    if (element.is_component) {
      element.type = node.attribute("type").value();
      if (const auto source = node.attribute("source")) element.source = source.value();
      element.implementation = node.attribute("implementation").value();
      element.step = osp_step_of(node);
    } else if (base::local_name(node) == "SignalDictionaryReference") {
      element.dictionary = xml_.required(node, "dictionary");
    } else {
      read_content(node, element);
    }
    return element;
  }

  SspConnector read_connector(const Node& node) {
    SspConnector connector{xml_.required(node, "name"), flow_of(node.attribute("kind").value())};
    for (const Node type : node) {
      if (const auto unit = type.attribute("unit")) connector.unit = plain_unit(unit.value());
    }
    if (const auto defined = units_.find(connector.unit); defined != units_.end()) connector.meaning = defined->second;
    return connector;
  }

  void read_content(const Node& node, SspElement& element) {
    for (const Node dictionary : base::child_named(node, "SignalDictionaries")) {
      if (base::local_name(dictionary) == "SignalDictionary")
        element.dictionaries.push_back(xml_.required(dictionary, "name"));
    }
    std::set<std::string> names;
    for (const Node child : base::child_named(node, "Elements")) {
      const std::string_view kind = base::local_name(child);
      if (kind != "Component" && kind != "System" && kind != "SignalDictionaryReference") continue;
      element.elements.push_back(read_element(child));
      if (!names.insert(element.elements.back().name).second)
        xml_.add(child, Fact{FactCode::ElementTwice, {element.elements.back().name}});
    }
    for (const Node child : base::child_named(node, "Connections")) {
      if (base::local_name(child) == "Connection") element.connections.push_back(read_connection(child));
    }
  }

  SspConnection read_connection(const Node& node) {
    SspConnection connection;
    connection.start_element = node.attribute("startElement").value();
    connection.start_connector = xml_.required(node, "startConnector");
    connection.end_element = node.attribute("endElement").value();
    connection.end_connector = xml_.required(node, "endConnector");
    connection.transformation = xml_.transformation(node);
    connection.convert_units = !xml_.flag(node, "suppressUnitConversion");
    connection.where = xml_.where(node);
    if (node.attribute("startIndices") || node.attribute("endIndices"))
      xml_.add(node, Fact{FactCode::ElementConnections}, "the standard does not define where their count starts");
    return connection;
  }

  SspBinding read_binding(const Node& node) {
    SspBinding binding;
    binding.prefix = node.attribute("prefix").value();
    binding.where = xml_.where(node);
    binding.values_in_component = in_component(node);
    if (const auto source = node.attribute("source")) binding.source = source.value();
    if (const Node values = base::child_named(node, "ParameterValues"); values && !binding.source)
      binding.parameters = read_parameter_set(xml_, base::child_named(values, "ParameterSet"), units_);
    const Node mapping = base::child_named(node, "ParameterMapping");
    if (!mapping) return binding;
    binding.has_mapping = true;
    binding.mapping_in_component = in_component(mapping);
    if (const auto source = mapping.attribute("source")) {
      binding.mapping_source = source.value();
    } else {
      const Node inner = base::child_named(mapping, "ParameterMapping");
      binding.mappings = read_parameter_mapping(xml_, inner ? inner : mapping);
    }
    return binding;
  }

  static bool in_component(const Node& node) {
    return std::string_view(node.attribute("sourceBase").value()) == "component";
  }

  SspXml xml_;
  SspUnits units_;  ///< of the document
};

}  // namespace

std::optional<SspDocument> parse_ssd(std::string_view text, const std::string& file, std::vector<Problem>& problems) {
  return SsdReader(text, file, problems).read();
}

}  // namespace entrain::description
