#include "subsystem/fmi/fmi1_description.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <string_view>

#include "subsystem/fmi/fmi_text.hpp"
#include "subsystem/fmi/variable_faults.hpp"

namespace entrain::subsystem {
namespace {

using Node = pugi::xml_node;

constexpr std::array<std::pair<const char*, FmuType>, 5> kTypes{{{"Real", FmuType::Float64},
                                                                 {"Integer", FmuType::Int32},
                                                                 {"Boolean", FmuType::Boolean},
                                                                 {"String", FmuType::String},
                                                                 {"Enumeration", FmuType::Enumeration}}};

class Reader {
 public:
  Reader(const DescriptionXml& xml, Node root, FmuDescription& result) : xml_(xml), root_(root), result_(result) {}

  void read() {
    read_interface();
    const Node experiment = root_.child("DefaultExperiment");
    const auto part = [&](const char* name) {
      return xml_.optional_number<double>(experiment, name, "DefaultExperiment");
    };
    result_.experiment = {part("startTime"), part("stopTime"), {}, part("tolerance")};
    read_types();
    for (const Node node : root_.child("ModelVariables").children("ScalarVariable")) read_variable(node);
    if (auto fault = fault_of_variables(result_.variables)) xml_.fail(std::move(*fault));
    for (const auto& [variable, names] : dependencies_) add_dependencies(variable, names);
    if (result_.model_exchange) number_states();
  }

 private:
  /// One of the two: an FMU of FMI 1 with <Implementation> is for co-simulation.
  void read_interface() {
    result_.token = xml_.required(root_, "guid", "fmiModelDescription");
    const Node implementation = root_.child("Implementation");
    if (!implementation) {
      result_.model_exchange.emplace();
      result_.model_exchange->model_identifier = model_identifier(xml_, root_);
      result_.model_exchange->event_indicators = count("numberOfEventIndicators");
      return;
    }
    auto& flags = result_.co_simulation.emplace();
    flags.model_identifier = model_identifier(xml_, root_);
    flags.needs_execution_tool = !implementation.child("CoSimulation_Tool").empty();
    const Node can = (flags.needs_execution_tool ? implementation.child("CoSimulation_Tool")
                                                 : implementation.child("CoSimulation_StandAlone"))
                         .child("Capabilities");
    flags.variable_step = DescriptionXml::flag(can, "canHandleVariableCommunicationStepSize");
    flags.input_derivatives = DescriptionXml::flag(can, "canInterpolateInputs");
    flags.output_derivative_order = can.attribute("maxOutputDerivativeOrder").as_int(0);
    flags.once_per_process = DescriptionXml::flag(can, "canBeInstantiatedOnlyOncePerProcess");
  }

  std::uint32_t count(const char* attribute) const {
    return xml_.optional_number<std::uint32_t>(root_, attribute, "fmiModelDescription").value_or(0);
  }

  void read_types() {
    for (const Node node : root_.child("TypeDefinitions").children("Type")) {
      const Node real = node.child("RealType");
      EnumerationItems items;  // FMI 1 counts them from 1
      for (const Node item : node.child("EnumerationType").children("Item"))
        items.push_back({xml_.required(item, "name", "Item"), static_cast<std::int64_t>(items.size()) + 1});
      types_[node.attribute("name").value()] = {
          real.attribute("unit").value(), DescriptionXml::flag(real, "relativeQuantity"),
          items.empty() ? nullptr : std::make_shared<const EnumerationItems>(std::move(items))};
    }
  }

  void read_variable(Node node) {
    FmuVariable variable;
    const std::size_t index = result_.variables.size();
    variable.name = xml_.required(node, "name", fmt::format("variable number {}", index + 1));
    if (variable.name.empty()) xml_.fail({FactCode::DescriptionNoName, {}, {{"number", index + 1}}});
    if (!by_name_.insert({variable.name, index}).second) xml_.fail({FactCode::DescriptionNameTwice, {variable.name}});
    const std::string element = fmt::format("variable '{}'", variable.name);
    variable.reference = xml_.required_number<ValueReference>(node, "valueReference", element);
    variable.description = node.attribute("description").value();
    const Node type = read_type(node, variable, element);
    read_start(type, variable, element);
    read_role(node, type, variable, element);
    if (const Node names = node.child("DirectDependency")) dependencies_.push_back({index, names});
    result_.variables.push_back(std::move(variable));
  }

  Node read_type(Node node, FmuVariable& variable, const std::string& element) const {
    for (const auto& [name, known] : kTypes) {
      const Node type = node.child(name);
      if (!type) continue;
      variable.type = known;
      variable.unit = type.attribute("unit").value();
      variable.relative_quantity = DescriptionXml::flag(type, "relativeQuantity");
      const auto declared = types_.find(type.attribute("declaredType").value());
      if (declared == types_.end()) return type;
      if (variable.unit.empty()) variable.unit = declared->second.unit;
      if (!type.attribute("relativeQuantity")) variable.relative_quantity = declared->second.relative_quantity;
      if (known == FmuType::Enumeration) variable.items = declared->second.items;
      return type;
    }
    xml_.fail({FactCode::DescriptionType, {}, {{"element", element}}});
  }

  void read_start(Node type, FmuVariable& variable, const std::string& element) const {
    const auto text = type.attribute("start");
    if (!text) return;
    variable.start = value_in(text.value(), variable.type);
    if (variable.start) return;
    xml_.fail({FactCode::DescriptionStart,
               {variable.name},
               {{"element", element}, {"value", text.value()}, {"type", to_string(variable.type)}}});
  }

  /// In the words of FMI 2: "internal" and "none" are local, and what has the variability "parameter" and a start is a
  /// parameter. What has no start is calculated; `fixed="false"` makes a start a guess.
  void read_role(Node node, Node type, FmuVariable& variable, const std::string& element) const {
    const auto word = [&](const char* attribute, std::string_view usual) {
      return std::string(node.attribute(attribute).as_string(std::string(usual).c_str()));
    };
    const std::string causality = word("causality", "internal");
    const std::string variability = word("variability", variable.type == FmuType::Float64 ? "continuous" : "discrete");
    const bool is_port = causality == "input" || causality == "output";
    if (!is_port && causality != "internal" && causality != "none") refuse(element, "causality", causality);
    if (variability == "parameter") {
      variable.variability = FmuVariability::Fixed;
    } else if (const auto known = variability_named(variability)) {
      variable.variability = *known;
    } else {
      refuse(element, "variability", variability);
    }
    if (causality == "input") variable.causality = FmuCausality::Input;
    if (causality == "output") variable.causality = FmuCausality::Output;
    if (!is_port && variability == "parameter" && variable.start) variable.causality = FmuCausality::Parameter;
    if (!variable.start && variable.causality != FmuCausality::Input) variable.initial = FmuInitial::Calculated;
    if (variable.start && variable.causality == FmuCausality::Local)
      variable.initial = type.attribute("fixed").as_bool(true) ? FmuInitial::Exact : FmuInitial::Approximate;
    variable.negated = std::string_view(node.attribute("alias").value()) == "negatedAlias";
    // A call for all ports together could not tell it from the one that it negates: it is read and set alone.
    if (variable.negated && is_port) variable.causality = FmuCausality::Local;
  }

  [[noreturn]] void refuse(const std::string& element, const char* attribute, const std::string& value) const {
    xml_.fail({FactCode::DescriptionWord, {}, {{"element", element}, {"value", value}, {"attribute", attribute}}});
  }

  void add_dependencies(std::size_t variable, Node names) {
    FmuUnknown unknown{variable, std::vector<std::size_t>{}};
    for (const Node name : names.children("Name")) {
      const auto found = by_name_.find(name.child_value());
      if (found != by_name_.end()) unknown.dependencies->push_back(found->second);
    }
    result_.outputs.push_back(std::move(unknown));
  }

  /// Only an instance could tell which variables are the states; they take part as numbers of their own.
  void number_states() {
    const std::uint32_t states = count("numberOfContinuousStates");
    constexpr std::uint32_t kMostStates = 100000;  // as elements of arrays
    if (states > kMostStates) refuse("fmiModelDescription", "numberOfContinuousStates", std::to_string(states));
    for (std::uint32_t i = 0; i < states; ++i) {
      FmuVariable state;
      state.name = fmt::format("$state[{}]", i + 1);
      state.reference = kFirstNumberedState + i;
      state.numbered = states;
      state.initial = FmuInitial::Calculated;
      FmuVariable derivative = state;
      derivative.name = fmt::format("der($state[{}])", i + 1);
      derivative.reference = kFirstNumberedState + states + i;
      derivative.derivative_of = result_.variables.size();
      result_.variables.push_back(std::move(state));
      result_.state_derivatives.push_back({result_.variables.size(), std::nullopt});
      result_.variables.push_back(std::move(derivative));
    }
  }

  const DescriptionXml& xml_;
  const Node root_;
  FmuDescription& result_;
  struct DeclaredType {
    std::string unit;
    bool relative_quantity;
    std::shared_ptr<const EnumerationItems> items;
  };
  std::map<std::string, DeclaredType> types_;
  std::map<std::string, std::size_t> by_name_;
  std::vector<std::pair<std::size_t, Node>> dependencies_;
};

}  // namespace

void read_fmi1_description(const DescriptionXml& xml, Node root, FmuDescription& description) {
  Reader(xml, root, description).read();
}

}  // namespace entrain::subsystem
