#include "subsystem/fmi/model_description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <pugixml.hpp>
#include <set>
#include <string_view>

#include "base/text_file.hpp"
#include "base/xml.hpp"
#include "entrain/error.hpp"

namespace entrain {
namespace {

using Node = pugi::xml_node;

constexpr std::array<std::string_view, 15> kTypeNames{"Float32", "Float64", "Int8",        "UInt8",  "Int16",
                                                      "UInt16",  "Int32",   "UInt32",      "Int64",  "UInt64",
                                                      "Boolean", "String",  "Enumeration", "Binary", "Clock"};

template <class Enum, std::size_t N>
std::optional<Enum> named(const std::array<std::pair<std::string_view, Enum>, N>& names, std::string_view name) {
  for (const auto& [text, value] : names) {
    if (text == name) return value;
  }
  return std::nullopt;
}

constexpr std::array<std::pair<std::string_view, FmuCausality>, 7> kCausalities{
    {{"parameter", FmuCausality::Parameter},
     {"calculatedParameter", FmuCausality::CalculatedParameter},
     {"structuralParameter", FmuCausality::StructuralParameter},
     {"input", FmuCausality::Input},
     {"output", FmuCausality::Output},
     {"local", FmuCausality::Local},
     {"independent", FmuCausality::Independent}}};
constexpr std::array<std::pair<std::string_view, FmuVariability>, 5> kVariabilities{
    {{"constant", FmuVariability::Constant},
     {"fixed", FmuVariability::Fixed},
     {"tunable", FmuVariability::Tunable},
     {"discrete", FmuVariability::Discrete},
     {"continuous", FmuVariability::Continuous}}};
constexpr std::array<std::pair<std::string_view, FmuInitial>, 3> kInitials{
    {{"exact", FmuInitial::Exact}, {"approx", FmuInitial::Approximate}, {"calculated", FmuInitial::Calculated}}};
constexpr std::array<std::pair<std::string_view, FmuType>, 5> kTypesOfFmi2{{{"Real", FmuType::Float64},
                                                                            {"Integer", FmuType::Int32},
                                                                            {"Boolean", FmuType::Boolean},
                                                                            {"String", FmuType::String},
                                                                            {"Enumeration", FmuType::Enumeration}}};

bool is_float(FmuType type) {
  return type == FmuType::Float64 || type == FmuType::Float32;
}

class Reader {
 public:
  explicit Reader(const std::string& fmu) : fmu_(fmu) {}

  FmuDescription read(std::string_view xml) {
    pugi::xml_document document;
    if (const std::string fault = parse_xml(xml, document); !fault.empty()) fail("modelDescription.xml: " + fault);
    const Node root = document.child("fmiModelDescription");
    if (!root) fail("modelDescription.xml has no element fmiModelDescription");
    read_head(root);
    read_units(root);
    read_types(root);
    for (const Node variable : root.child("ModelVariables")) {
      if (variable.type() == pugi::node_element) read_variable(variable);
    }
    resolve_derivatives();
    check_references();
    read_structure(root.child("ModelStructure"));
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::InvalidSystem, fmt::format("FMU '{}': {}", fmu_, what),
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "The FMU is broken: tell who made it"});
  }

  bool three() const { return result_.version == FmiVersion::Three; }

  std::string required(Node node, const char* attribute, const std::string& element) const {
    const auto found = node.attribute(attribute);
    if (!found) fail(fmt::format("{} has no attribute '{}'", element, attribute));
    return found.value();
  }

  template <class Number>
  Number required_number(Node node, const char* attribute, const std::string& element) const {
    const std::string text = required(node, attribute, element);
    if (const auto value = xml_number<Number>(text)) return *value;
    fail(fmt::format("{}: '{}' is no number for {}", element, text, attribute));
  }

  template <class Number>
  std::optional<Number> optional_number(Node node, const char* attribute, const std::string& element) const {
    if (!node.attribute(attribute)) return std::nullopt;
    return required_number<Number>(node, attribute, element);
  }

  /// Tools write 0 for "not known".
  static void drop_unless_positive(std::optional<Duration>& step) {
    if (step && !(*step > 0.0)) step.reset();
  }

  static bool flag(Node node, const char* attribute) { return node.attribute(attribute).as_bool(false); }

  void read_head(Node root) {
    result_.version_text = required(root, "fmiVersion", "fmiModelDescription");
    // Drafts ("3.0-beta.2") have functions of the same names and other arguments.
    const bool draft = result_.version_text.find_first_not_of("0123456789.") != std::string::npos;
    if (!draft && result_.version_text.starts_with("2.")) {
      result_.version = FmiVersion::Two;
    } else if (!draft && result_.version_text.starts_with("3.")) {
      result_.version = FmiVersion::Three;
    } else {
      fail(fmt::format("it is made for FMI {}; FMI 2.0 and 3.0 can be used", result_.version_text));
    }
    result_.model_name = root.attribute("modelName").value();
    result_.token = required(root, three() ? "instantiationToken" : "guid", "fmiModelDescription");
    if (const Node node = root.child("ModelExchange")) read_model_exchange(node, root);
    if (const Node node = root.child("CoSimulation")) read_co_simulation(node);
    for (const Node category : root.child("LogCategories").children("Category")) {
      result_.log_categories.emplace_back(category.attribute("name").value());
    }
    const Node experiment = root.child("DefaultExperiment");
    const auto part = [&](const char* name) { return optional_number<double>(experiment, name, "DefaultExperiment"); };
    result_.experiment = {part("startTime"), part("stopTime"), part("stepSize"), part("tolerance")};
    drop_unless_positive(result_.experiment.step);
  }

  std::string model_identifier(Node node) const {
    std::string identifier = required(node, "modelIdentifier", node.name());
    // It becomes a file name: the standard wants a C identifier.
    if (identifier.empty() || identifier.find('/') != std::string::npos) {
      fail(fmt::format("{}: '{}' is no model identifier", node.name(), identifier));
    }
    return identifier;
  }

  void read_model_exchange(Node node, Node root) {
    ModelExchangeFlags flags;
    flags.model_identifier = model_identifier(node);
    flags.rollback = flag(node, three() ? "canGetAndSetFMUState" : "canGetAndSetFMUstate");
    flags.directional_derivatives =
        flag(node, three() ? "providesDirectionalDerivatives" : "providesDirectionalDerivative");
    flags.needs_completed_step =
        three() ? flag(node, "needsCompletedIntegratorStep") : !flag(node, "completedIntegratorStepNotNeeded");
    flags.needs_execution_tool = flag(node, "needsExecutionTool");
    flags.once_per_process = flag(node, "canBeInstantiatedOnlyOncePerProcess");
    flags.event_indicators =
        optional_number<std::uint32_t>(root, "numberOfEventIndicators", "fmiModelDescription").value_or(0);
    result_.model_exchange = std::move(flags);
  }

  void read_co_simulation(Node node) {
    CoSimulationFlags flags;
    flags.model_identifier = model_identifier(node);
    flags.variable_step = flag(node, "canHandleVariableCommunicationStepSize");
    flags.rollback = flag(node, three() ? "canGetAndSetFMUState" : "canGetAndSetFMUstate");
    flags.input_derivatives = flag(node, "canInterpolateInputs");
    flags.output_derivative_order = node.attribute("maxOutputDerivativeOrder").as_int(0);
    flags.directional_derivatives =
        flag(node, three() ? "providesDirectionalDerivatives" : "providesDirectionalDerivative");
    flags.adjoint_derivatives = three() && flag(node, "providesAdjointDerivatives");
    flags.intermediate_update = flag(node, "providesIntermediateUpdate");
    flags.event_mode = three() && flag(node, "hasEventMode");
    flags.once_per_process = flag(node, "canBeInstantiatedOnlyOncePerProcess");
    flags.needs_execution_tool = flag(node, "needsExecutionTool");
    flags.fixed_internal_step = optional_number<double>(node, "fixedInternalStepSize", "CoSimulation");
    drop_unless_positive(flags.fixed_internal_step);
    result_.co_simulation = std::move(flags);
  }

  void read_units(Node root) {
    constexpr std::array<const char*, 8> kBases{"kg", "m", "s", "A", "K", "mol", "cd", "rad"};
    for (const Node node : root.child("UnitDefinitions").children("Unit")) {
      FmuUnit unit;
      unit.name = required(node, "name", "Unit");
      if (const Node base = node.child("BaseUnit")) {
        unit.has_base = true;
        for (std::size_t i = 0; i < kBases.size(); ++i) unit.exponents[i] = base.attribute(kBases[i]).as_int(0);
        const std::string element = fmt::format("unit '{}'", unit.name);
        unit.factor = optional_number<double>(base, "factor", element).value_or(1.0);
        unit.offset = optional_number<double>(base, "offset", element).value_or(0.0);
      }
      result_.units.push_back(std::move(unit));
    }
  }

  /// Units that variables take over from their declared type.
  void read_types(Node root) {
    for (const Node node : root.child("TypeDefinitions")) {
      const Node holder = three() ? node : node.child("Real");
      unit_of_type_[node.attribute("name").value()] = holder.attribute("unit").value();
    }
  }

  void read_variable(Node node) {
    FmuVariable variable;
    variable.name = required(node, "name", fmt::format("variable number {}", result_.variables.size() + 1));
    const std::string element = fmt::format("variable '{}'", variable.name);
    if (!names_.insert(variable.name).second) fail(fmt::format("{} is there twice", element));
    variable.reference = required_number<ValueReference>(node, "valueReference", element);
    variable.description = node.attribute("description").value();
    const Node type = read_type(node, variable, element);
    read_role(node, variable, element);
    variable.intermediate_update = flag(node, "intermediateUpdate");

    variable.unit = type.attribute("unit").value();
    if (const auto declared = type.attribute("declaredType"); variable.unit.empty() && declared) {
      if (const auto found = unit_of_type_.find(declared.value()); found != unit_of_type_.end()) {
        variable.unit = found->second;
      }
    }
    variable.is_array = !node.child("Dimension").empty();
    if (!variable.is_array) variable.start = read_start(node, type, variable.type, element);
    derivatives_.push_back(optional_number<std::uint32_t>(type, "derivative", element));
    result_.variables.push_back(std::move(variable));
    read_aliases(node);
  }

  /// The element that carries the attributes of the type.
  Node read_type(Node node, FmuVariable& variable, const std::string& element) const {
    if (three()) {
      for (std::size_t i = 0; i < kTypeNames.size(); ++i) {
        if (kTypeNames[i] != node.name()) continue;
        variable.type = static_cast<FmuType>(i);
        return node;
      }
      fail(fmt::format("{} has the unknown type '{}'", element, node.name()));
    }
    for (const auto& [name, type] : kTypesOfFmi2) {
      variable.type = type;
      if (const Node child = node.child(std::string(name).c_str())) return child;
    }
    fail(fmt::format("{} has no type", element));
  }

  void read_role(Node node, FmuVariable& variable, const std::string& element) const {
    const auto read = [&](const char* attribute, const auto& names, auto& target) {
      const auto text = node.attribute(attribute);
      if (!text) return;
      const auto value = named(names, text.value());
      if (!value) fail(fmt::format("{}: '{}' is no {}", element, text.value(), attribute));
      target = *value;
    };
    read("causality", kCausalities, variable.causality);
    variable.variability = is_float(variable.type) ? FmuVariability::Continuous : FmuVariability::Discrete;
    read("variability", kVariabilities, variable.variability);
    read("initial", kInitials, variable.initial);
  }

  std::optional<Value> read_start(Node node, Node type, FmuType kind, const std::string& element) const {
    // FMI 3 writes the start of a string as an element of its own.
    const Node holder = three() && kind == FmuType::String ? node.child("Start") : type;
    const auto text = holder.attribute(holder == node.child("Start") ? "value" : "start");
    if (!text) return std::nullopt;
    switch (kind) {
      case FmuType::String: return text.value();
      case FmuType::Boolean: return text.as_bool();
      case FmuType::Binary:
      case FmuType::Clock: return std::nullopt;
      case FmuType::Float32:
      case FmuType::Float64:
        if (const auto value = xml_number<double>(text.value())) return *value;
        break;
      case FmuType::UInt64:  // held bit by bit, as it is passed on
        if (const auto value = xml_number<std::uint64_t>(text.value())) return static_cast<std::int64_t>(*value);
        break;
      default:
        if (const auto value = xml_number<std::int64_t>(text.value())) return *value;
    }
    fail(fmt::format("{}: '{}' is no start value for {}", element, text.value(), to_string(kind)));
  }

  /// FMI 3: other names of the same variable, usable like it.
  void read_aliases(Node node) {
    const std::size_t original = result_.variables.size() - 1;
    for (const Node alias : node.children("Alias")) {
      FmuVariable variable = result_.variables[original];
      variable.name = required(alias, "name", fmt::format("an alias of '{}'", variable.name));
      if (!names_.insert(variable.name).second) fail(fmt::format("variable '{}' is there twice", variable.name));
      variable.causality = FmuCausality::Local;  // one port is enough
      if (const auto text = alias.attribute("description")) variable.description = text.value();
      derivatives_.emplace_back();
      result_.variables.push_back(std::move(variable));
    }
  }

  /// FMI 2 counts variables from 1, FMI 3 names them by value reference.
  std::size_t variable_behind(std::uint32_t number, const std::string& element) const {
    if (!three()) {
      if (number >= 1 && number <= result_.variables.size()) return number - 1;
      fail(fmt::format("{} points to variable number {}; there are {}", element, number, result_.variables.size()));
    }
    const auto found = by_reference_.find(number);
    if (found == by_reference_.end())
      fail(fmt::format("{} points to value reference {}: no variable has it", element, number));
    return found->second;
  }

  void resolve_derivatives() {
    auto& variables = result_.variables;
    for (std::size_t i = variables.size(); i-- > 0;) by_reference_[variables[i].reference] = i;  // the first one stays
    for (std::size_t i = 0; i < variables.size(); ++i) {
      if (!derivatives_[i]) continue;
      variables[i].derivative_of =
          variable_behind(*derivatives_[i], fmt::format("the derivative of variable '{}'", variables[i].name));
    }
  }

  /// In FMI 2 each type counts its own references, in FMI 3 they are unique; aliases share one, but no two inputs can.
  void check_references() const {
    std::map<std::pair<FmuType, ValueReference>, const FmuVariable*> inputs;
    for (const auto& variable : result_.variables) {
      const auto& first = result_.variables[by_reference_.at(variable.reference)];
      if (three() && first.type != variable.type) {
        fail(fmt::format("variables '{}' ({}) and '{}' ({}) have the same value reference {}", first.name,
                         to_string(first.type), variable.name, to_string(variable.type), variable.reference));
      }
      if (variable.causality != FmuCausality::Input) continue;
      const auto [other, is_new] = inputs.insert({{variable.type, variable.reference}, &variable});
      if (is_new) continue;
      fail(fmt::format("inputs '{}' and '{}' have the same value reference {}", other->second->name, variable.name,
                       variable.reference));
    }
  }

  void read_structure(Node structure) {
    if (three()) {
      for (const Node node : structure.children("Output")) result_.outputs.push_back(unknown(node, "Output"));
      for (const Node node : structure.children("ContinuousStateDerivative")) {
        result_.state_derivatives.push_back(unknown(node, "ContinuousStateDerivative"));
      }
      return;
    }
    for (const Node node : structure.child("Outputs").children("Unknown")) {
      result_.outputs.push_back(unknown(node, "ModelStructure, Outputs"));
    }
    for (const Node node : structure.child("Derivatives").children("Unknown")) {
      result_.state_derivatives.push_back(unknown(node, "ModelStructure, Derivatives"));
    }
  }

  FmuUnknown unknown(Node node, const std::string& element) const {
    FmuUnknown result;
    const char* attribute = three() ? "valueReference" : "index";
    result.variable = variable_behind(required_number<std::uint32_t>(node, attribute, element), element);
    const auto dependencies = node.attribute("dependencies");
    if (!dependencies) return result;
    result.dependencies.emplace();
    const std::string_view text = dependencies.value();
    for (std::size_t begin = text.find_first_not_of(" \t\n"); begin < text.size();) {
      const std::size_t end = std::min(text.find_first_of(" \t\n", begin), text.size());
      const auto index = xml_number<std::uint32_t>(text.substr(begin, end - begin));
      if (!index) fail(fmt::format("{}: dependencies=\"{}\" is no list of numbers", element, text));
      result.dependencies->push_back(variable_behind(*index, element));
      begin = text.find_first_not_of(" \t\n", end);
    }
    return result;
  }

  const std::string& fmu_;
  FmuDescription result_;
  std::map<std::string, std::string> unit_of_type_;
  std::set<std::string> names_;
  std::vector<std::optional<std::uint32_t>> derivatives_;  ///< as written, one per variable
  std::map<ValueReference, std::size_t> by_reference_;
};

}  // namespace

std::string_view to_string(FmuType type) {
  return kTypeNames[static_cast<std::size_t>(type)];
}

std::string_view to_string(FmuInterface interface) {
  return interface == FmuInterface::CoSimulation ? "co-simulation" : "model exchange";
}

FmuDescription parse_model_description(std::string_view xml, const std::string& fmu) {
  return Reader(fmu).read(xml);
}

FmuDescription read_model_description(const std::filesystem::path& file, const std::string& fmu) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  if (error) {
    throw Error(ErrorCode::InvalidSystem, fmt::format("FMU '{}': it has no modelDescription.xml", fmu),
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Check that the file is an FMU"});
  }
  constexpr std::uintmax_t kMostBytes = 256U << 20U;  // parsing takes many times the size of the text
  if (size > kMostBytes) {
    throw Error(ErrorCode::InvalidSystem,
                fmt::format("FMU '{}': its modelDescription.xml has {} bytes, more than {}", fmu, size, kMostBytes));
  }
  const std::string text =
      read_text_file(file, {"a modelDescription.xml", "Check that the file is an FMU", kMostBytes});
  return parse_model_description(text, fmu);
}

}  // namespace entrain
