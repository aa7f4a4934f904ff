#include "subsystem/fmi/model_description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <pugixml.hpp>
#include <set>
#include <string_view>

#include "base/xml.hpp"
#include "subsystem/fmi/fmi1_description.hpp"
#include "subsystem/fmi/fmi_text.hpp"
#include "subsystem/fmi/interface_flags.hpp"
#include "subsystem/fmi/variable_faults.hpp"

namespace entrain::subsystem {
namespace {

using Node = pugi::xml_node;

constexpr std::array<std::pair<std::string_view, FmuType>, 5> kTypesOfFmi2{{{"Real", FmuType::Float64},
                                                                            {"Integer", FmuType::Int32},
                                                                            {"Boolean", FmuType::Boolean},
                                                                            {"String", FmuType::String},
                                                                            {"Enumeration", FmuType::Enumeration}}};

class DescriptionReader : private DescriptionXml {
 public:
  explicit DescriptionReader(const std::string& fmu) : DescriptionXml(fmu) {}

  FmuDescription read(std::string_view xml) {
    pugi::xml_document document;
    if (const std::string fault = base::parse_xml(xml, document); !fault.empty())
      fail({FactCode::DescriptionNotXml, {}, {{"why", fault}}});
    const Node root = document.child("fmiModelDescription");
    if (!root) fail({FactCode::DescriptionRoot});
    read_version(root);
    if (result_.version == FmiVersion::One) {
      read_fmi1_description(*this, root, result_);
      find_aliases();
      return std::move(result_);
    }
    read_head(root);
    read_units(root);
    read_types(root);
    for (const Node variable : root.child("ModelVariables")) {
      if (variable.type() == pugi::node_element) read_variable(variable);
    }
    resolve_derivatives();
    resolve_dimensions();
    resolve_clocks();
    find_aliases();
    if (auto fault = fault_of_variables(result_.variables)) fail(std::move(*fault));
    read_structure(root.child("ModelStructure"));
    if (result_.model_exchange) find_unnamed_states(root.attribute("variableNamingConvention").value());
    return std::move(result_);
  }

 private:
  bool three() const { return result_.version == FmiVersion::Three; }

  void read_version(Node root) {
    result_.version_text = required(root, "fmiVersion", "fmiModelDescription");
    // Drafts ("3.0-beta.2") have functions of the same names and other arguments.
    const bool draft = result_.version_text.find_first_not_of("0123456789.") != std::string::npos;
    if (!draft && result_.version_text.starts_with("1.")) {
      result_.version = FmiVersion::One;
    } else if (!draft && result_.version_text.starts_with("2.")) {
      result_.version = FmiVersion::Two;
    } else if (!draft && result_.version_text.starts_with("3.")) {
      result_.version = FmiVersion::Three;
    } else {
      fail({FactCode::DescriptionVersion, {}, {{"version", result_.version_text}}},
           "Export it again for FMI 2.0 or 3.0");
    }
    result_.model_name = root.attribute("modelName").value();
    result_.about = root.attribute("description").value();
    result_.tool = root.attribute("generationTool").value();
  }

  void read_head(Node root) {
    result_.token = required(root, three() ? "instantiationToken" : "guid", "fmiModelDescription");
    if (const Node node = root.child("ModelExchange"))
      result_.model_exchange = read_model_exchange(*this, node, result_.version);
    if (const Node node = root.child("CoSimulation"))
      result_.co_simulation = read_co_simulation(*this, node, result_.version);
    if (const Node node = root.child("ScheduledExecution"); node && three())
      result_.scheduled_execution = read_scheduled_execution(*this, node);
    for (const Node category : root.child("LogCategories").children("Category")) {
      result_.log_categories.emplace_back(category.attribute("name").value());
    }
    const Node experiment = root.child("DefaultExperiment");
    const auto part = [&](const char* name) { return optional_number<double>(experiment, name, "DefaultExperiment"); };
    result_.experiment = {part("startTime"), part("stopTime"), optional_step(experiment, "stepSize"),
                          part("tolerance")};
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
        if (unit.factor == 0.0) fail({FactCode::DescriptionUnitFactor, {}, {{"element", element}}});
      }
      result_.units.push_back(std::move(unit));
    }
  }

  /// What variables take over from their declared type.
  void read_types(Node root) {
    for (const Node node : root.child("TypeDefinitions")) {
      const Node holder = three() ? node : node.child("Real");
      types_[node.attribute("name").value()] = {holder.attribute("unit").value(), flag(holder, "relativeQuantity"),
                                                read_items(three() ? node : node.child("Enumeration"))};
    }
  }

  std::shared_ptr<const EnumerationItems> read_items(Node type) const {
    EnumerationItems items;
    for (const Node item : type.children("Item"))
      items.push_back({required(item, "name", "Item"), required_number<std::int64_t>(item, "value", "Item")});
    return items.empty() ? nullptr : std::make_shared<const EnumerationItems>(std::move(items));
  }

  void read_variable(Node node) {
    FmuVariable variable;
    variable.name = required(node, "name", fmt::format("variable number {}", result_.variables.size() + 1));
    const std::string element = fmt::format("variable '{}'", variable.name);
    note_name(variable.name);
    variable.reference = required_number<ValueReference>(node, "valueReference", element);
    variable.description = node.attribute("description").value();
    const Node type = read_type(node, variable, element);
    if (three()) note_reference(variable);
    read_role(node, variable, element);
    variable.intermediate_update = flag(node, "intermediateUpdate");

    variable.unit = type.attribute("unit").value();
    variable.relative_quantity = flag(type, "relativeQuantity");
    const auto declared = types_.find(type.attribute("declaredType").value());
    if (declared != types_.end()) {
      if (variable.unit.empty()) variable.unit = declared->second.unit;
      if (!type.attribute("relativeQuantity")) variable.relative_quantity = declared->second.relative_quantity;
      if (variable.type == FmuType::Enumeration) variable.items = declared->second.items;
    }
    if (variable.type == FmuType::Clock) variable.clock = read_clock(node, element);
    variable.mime_type = node.attribute("mimeType").value();
    clocks_.emplace_back(node.attribute("clocks").value());
    read_dimensions(node, element);
    read_start(node, type, variable, element);
    derivatives_.push_back(optional_number<std::uint32_t>(type, "derivative", element));
    result_.variables.push_back(std::move(variable));
    read_aliases(node);
  }

  void note_name(const std::string& name) {
    if (name.empty()) fail({FactCode::DescriptionNoName, {}, {{"number", result_.variables.size() + 1}}});
    if (!names_.insert(name).second) fail({FactCode::DescriptionNameTwice, {name}});
  }

  /// In FMI 3 no two variables share one; other names are elements of their variable.
  void note_reference(const FmuVariable& variable) {
    const auto [first, is_new] = by_reference_.insert({variable.reference, result_.variables.size()});
    if (is_new) return;
    const auto& other = result_.variables[first->second];
    fail({FactCode::DescriptionReferenceTwice,
          {other.name, variable.name},
          {{"type", to_string(other.type)},
           {"other_type", to_string(variable.type)},
           {"reference", variable.reference}}});
  }

  /// The element that carries the attributes of the type.
  Node read_type(Node node, FmuVariable& variable, const std::string& element) const {
    if (three()) {
      if (const auto known = type_named(node.name())) {
        variable.type = *known;
        return node;
      }
      fail({FactCode::DescriptionType, {}, {{"element", element}, {"type", node.name()}}});
    }
    for (const auto& [name, type] : kTypesOfFmi2) {
      variable.type = type;
      if (const Node child = node.child(std::string(name).c_str())) return child;
    }
    fail({FactCode::DescriptionType, {}, {{"element", element}}});
  }

  void read_role(Node node, FmuVariable& variable, const std::string& element) const {
    const auto read = [&](const char* attribute, const auto& named, auto& target) {
      const auto text = node.attribute(attribute);
      if (!text) return;
      const auto value = named(text.value());
      if (!value)
        fail(
            {FactCode::DescriptionWord, {}, {{"element", element}, {"value", text.value()}, {"attribute", attribute}}});
      target = *value;
    };
    read("causality", causality_named, variable.causality);
    const bool is_float = variable.type == FmuType::Float64 || variable.type == FmuType::Float32;
    variable.variability = is_float ? FmuVariability::Continuous : FmuVariability::Discrete;
    read("variability", variability_named, variable.variability);
    read("initial", initial_named, variable.initial);
  }

  /// Sizes that a structural parameter contains are resolved once all variables are known.
  void read_dimensions(Node node, const std::string& element) {
    auto& dimensions = dimensions_.emplace_back();
    for (const Node dimension : node.children("Dimension")) {
      const auto size = optional_number<std::uint64_t>(dimension, "start", element + ", Dimension");
      if (size && *size == 0) fail({FactCode::DescriptionDimensionZero, {}, {{"element", element}}});
      dimensions.push_back(
          {size, size ? 0 : required_number<ValueReference>(dimension, "valueReference", element + ", Dimension")});
    }
  }

  void read_start(Node node, Node type, FmuVariable& variable, const std::string& element) const {
    if (variable.type == FmuType::Clock) return;
    const bool is_array = !dimensions_.back().empty();
    std::vector<Value>& values = variable.array_start;
    const auto add = [&](std::string_view text) {
      auto value = value_in(text, variable.type);
      if (!value)
        fail({FactCode::DescriptionStart,
              {variable.name},
              {{"element", element}, {"value", text}, {"type", to_string(variable.type)}}});
      values.push_back(std::move(*value));
    };
    // FMI 3 writes the starts of strings and bytes as elements of their own.
    const bool as_elements = three() && (variable.type == FmuType::String || variable.type == FmuType::Binary);
    if (as_elements) {
      for (const Node start : node.children("Start")) add(start.attribute("value").value());
    } else if (const auto text = type.attribute("start"); text && is_array) {
      for (const auto word : words_in(text.value())) add(word);
    } else if (text) {
      add(text.value());
    }
    if (is_array || values.empty()) return;
    if (values.size() > 1)
      fail({FactCode::DescriptionScalarStarts, {}, {{"element", element}, {"starts", values.size()}}});
    variable.start = std::move(values.front());
    values.clear();
  }

  FmuClock read_clock(Node node, const std::string& element) const {
    constexpr std::array<std::pair<std::string_view, ClockKind>, 7> kKinds{{{"constant", ClockKind::Constant},
                                                                            {"fixed", ClockKind::Fixed},
                                                                            {"calculated", ClockKind::Calculated},
                                                                            {"tunable", ClockKind::Tunable},
                                                                            {"changing", ClockKind::Changing},
                                                                            {"countdown", ClockKind::Countdown},
                                                                            {"triggered", ClockKind::Triggered}}};
    FmuClock clock;
    const std::string word = required(node, "intervalVariability", element);
    const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& each) { return each.first == word; });
    if (kind == kKinds.end())
      fail({FactCode::DescriptionWord,
            {},
            {{"element", element}, {"value", word}, {"attribute", "intervalVariability"}}});
    clock.kind = kind->second;
    clock.fraction = flag(node, "supportsFraction");
    clock.priority = optional_number<std::uint32_t>(node, "priority", element).value_or(0);
    const auto resolution = optional_number<std::uint64_t>(node, "resolution", element);
    const auto time = [&](const char* decimal, const char* counter) -> std::optional<ClockInterval> {
      const auto ticks = optional_number<std::uint64_t>(node, counter, element);
      if (ticks && resolution && *resolution > 0) return ClockInterval{*ticks, *resolution};
      const auto seconds = optional_number<double>(node, decimal, element);
      return seconds && *seconds >= 0.0 ? std::optional(as_interval(*seconds)) : std::nullopt;
    };
    clock.interval = time("intervalDecimal", "intervalCounter");
    clock.shift = time("shiftDecimal", "shiftCounter").value_or(ClockInterval{});
    return clock;
  }

  void resolve_clocks() {
    for (std::size_t i = 0; i < clocks_.size(); ++i) {
      FmuVariable& variable = result_.variables[i];
      const std::string element = fmt::format("the clocks of '{}'", variable.name);
      for (const auto word : words_in(clocks_[i])) {
        const auto reference = base::xml_number<std::uint32_t>(word);
        if (!reference) fail({FactCode::DescriptionDependencies, {}, {{"element", element}, {"value", clocks_[i]}}});
        variable.clocks.push_back(variable_behind(*reference, element));
      }
    }
  }

  void resolve_dimensions() {
    for (std::size_t i = 0; i < dimensions_.size(); ++i) {
      for (const auto& [size, reference] : dimensions_[i]) {
        const std::string element = fmt::format("a dimension of '{}'", result_.variables[i].name);
        const std::size_t variable = size ? 0 : variable_behind(static_cast<std::uint32_t>(reference), element);
        if (!size && result_.variables[variable].causality != FmuCausality::StructuralParameter) {
          fail({FactCode::DescriptionDimension, {result_.variables[variable].name}, {{"element", element}}});
        }
        if (!size && result_.variables[variable].type != FmuType::UInt64) {
          fail({FactCode::DescriptionDimension,
                {result_.variables[variable].name},
                {{"element", element}, {"type", to_string(result_.variables[variable].type)}}});
        }
        result_.variables[i].dimensions.push_back({size, variable});
      }
    }
  }

  /// FMI 3: other names of the same variable.
  void read_aliases(Node node) {
    FmuVariable& variable = result_.variables.back();
    for (const Node alias : node.children("Alias")) {
      variable.other_names.push_back(required(alias, "name", fmt::format("an alias of '{}'", variable.name)));
      note_name(variable.other_names.back());
    }
  }

  /// FMI 1 and 2: what is always equal shares a reference. A local variable that is no state is then another name of an
  /// input, an output or a parameter.
  void find_aliases() {
    if (three()) return;
    auto& variables = result_.variables;
    std::set<std::size_t> states;
    for (const auto& variable : variables) {
      if (variable.derivative_of) states.insert(*variable.derivative_of);
    }
    std::map<std::pair<FmuType, ValueReference>, FmuVariable*> originals;
    for (auto& variable : variables) {
      if (variable.causality != FmuCausality::Local) originals.insert({{variable.type, variable.reference}, &variable});
    }
    for (std::size_t i = 0; i < variables.size(); ++i) {
      const auto original = originals.find({variables[i].type, variables[i].reference});
      const bool is_alias =
          variables[i].causality == FmuCausality::Local && !variables[i].negated && variables[i].numbered == 0;
      if (is_alias && original != originals.end() && !states.contains(i))
        original->second->other_names.push_back(variables[i].name);
    }
  }

  /// FMI 2 counts variables from 1, FMI 3 names them by value reference.
  std::size_t variable_behind(std::uint32_t number, const std::string& element) const {
    if (!three()) {
      if (number >= 1 && number <= result_.variables.size()) return number - 1;
      fail({FactCode::DescriptionPointer,
            {},
            {{"element", element}, {"number", number}, {"variables", result_.variables.size()}}});
    }
    const auto found = by_reference_.find(number);
    if (found == by_reference_.end())
      fail({FactCode::DescriptionPointer, {}, {{"element", element}, {"number", number}}});
    return found->second;
  }

  void resolve_derivatives() {
    auto& variables = result_.variables;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      if (!derivatives_[i]) continue;
      variables[i].derivative_of =
          variable_behind(*derivatives_[i], fmt::format("the derivative of variable '{}'", variables[i].name));
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

  /// Of derivatives that do not say what they are derivatives of: their names do, or the states are numbers in the
  /// order of the derivatives, as in FMI 1. Which dependencies are states is not known then.
  void find_unnamed_states(std::string_view naming) {
    auto& lines = result_.state_derivatives;
    bool all_named = true;
    for (const auto& line : lines) {
      auto& derivative = result_.variables[line.variable];
      if (!derivative.derivative_of && naming == "structured")
        derivative.derivative_of = state_in_name(derivative.name);
      all_named = all_named && derivative.derivative_of;
      if (!derivative.dimensions.empty()) return;
    }
    if (all_named) return;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      lines[i].dependencies.reset();
      if (result_.variables[lines[i].variable].derivative_of) continue;
      FmuVariable state;
      state.name = fmt::format("$state[{}]", i + 1);
      state.reference = kFirstNumberedState + static_cast<ValueReference>(i);
      state.numbered = static_cast<std::uint32_t>(lines.size());
      state.type = result_.variables[lines[i].variable].type;
      state.initial = FmuInitial::Calculated;
      result_.variables[lines[i].variable].derivative_of = result_.variables.size();
      result_.variables.push_back(std::move(state));
    }
  }

  /// "x" of "der(x)" (variableNamingConvention "structured").
  std::optional<std::size_t> state_in_name(std::string_view name) const {
    if (!name.starts_with("der(") || !name.ends_with(")")) return std::nullopt;
    const auto& all = result_.variables;
    const auto state = std::find_if(all.begin(), all.end(), [&](const FmuVariable& each) {
      return each.name == name.substr(4, name.size() - 5) && each.type == FmuType::Float64;
    });
    if (state == all.end()) return std::nullopt;
    return static_cast<std::size_t>(state - all.begin());
  }

  FmuUnknown unknown(Node node, const std::string& element) const {
    FmuUnknown result;
    const char* attribute = three() ? "valueReference" : "index";
    result.variable = variable_behind(required_number<std::uint32_t>(node, attribute, element), element);
    const auto dependencies = node.attribute("dependencies");
    if (!dependencies) return result;
    result.dependencies.emplace();
    for (const auto word : words_in(dependencies.value())) {
      const auto index = base::xml_number<std::uint32_t>(word);
      if (!index)
        fail({FactCode::DescriptionDependencies, {}, {{"element", element}, {"value", dependencies.value()}}});
      result.dependencies->push_back(variable_behind(*index, element));
    }
    return result;
  }

  FmuDescription result_;
  struct DeclaredType {
    std::string unit;
    bool relative_quantity;
    std::shared_ptr<const EnumerationItems> items;
  };
  std::map<std::string, DeclaredType> types_;
  std::set<std::string> names_;
  std::vector<std::optional<std::uint32_t>> derivatives_;  ///< as written, one per variable
  std::vector<std::vector<FmuDimension>> dimensions_;      ///< one per variable, with value references for variables
  std::map<ValueReference, std::size_t> by_reference_;     ///< of FMI 3
  std::vector<std::string> clocks_;                        ///< as written, one per variable
};

}  // namespace

std::string_view to_string(FmuInterface interface) {
  if (interface == FmuInterface::ScheduledExecution) return "scheduled execution";
  return interface == FmuInterface::CoSimulation ? "co-simulation" : "model exchange";
}

FmuDescription parse_model_description(std::string_view xml, const std::string& fmu) {
  return DescriptionReader(fmu).read(xml);
}

}  // namespace entrain::subsystem
