#include "description/osp_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/suggest.hpp"
#include "description/check_values.hpp"
#include "description/ssp_file.hpp"
#include "description/ssp_library.hpp"
#include "description/ssp_xml.hpp"
#include "description/system_file.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::description {
namespace {

namespace fs = std::filesystem;
using Node = pugi::xml_node;

/// One end of a connection: a variable of a simulator, or a signal of a function.
struct OspEnd {
  std::string owner;
  std::string name;
  SourcePosition where;

  std::string text() const { return fmt::format("{}.{}", owner, name); }
};

/// y = factor u + offset, and what is connected to it.
struct OspFunction {
  double factor = 1.0;
  double offset = 0.0;
  std::optional<OspEnd> source;
  std::vector<OspEnd> targets;
  SourcePosition where;
};

/// What is known of an FMU or a sum: the causality of its variables, and its variable groups.
struct OspSimulator {
  std::map<std::string, std::string> causalities;
  std::map<std::string, std::vector<std::string>> groups;
};

class OspReader {
 public:
  OspReader(const fs::path& file, std::vector<Problem>& problems)
      : file_(file), problems_(problems), xml_(SspLibrary::text(file), file.string(), problems) {}

  SystemDescription read() {
    result_.name = system_name(file_);
    result_.file = file_;
    const Node root = xml_.root("OspSystemStructure");
    if (!root) return std::move(result_);
    read_times(root);
    for (const Node node : base::child_named(root, "Simulators")) {
      if (base::local_name(node) == "Simulator") read_simulator(node);
    }
    for (const Node node : base::child_named(root, "Functions")) {
      if (node.type() == pugi::node_element) read_function(node);
    }
    for (const Node node : base::child_named(root, "Connections")) read_connection(node);
    for (const auto& [name, function] : functions_) connect_through(name, function);
    check_values(result_, problems_);
    return std::move(result_);
  }

 private:
  std::optional<double> number_in(const Node& root, const char* element) {
    const Node node = base::child_named(root, element);
    if (!node) return std::nullopt;
    const auto number = base::xml_number<double>(node.child_value());
    if (!number)
      xml_.add(node, Fact{FactCode::AttributeNoNumber, {element, "the system"}, {{"value", node.child_value()}}});
    return number;
  }

  void read_times(const Node& root) {
    const auto where = [&](const char* element) { return xml_.where(base::child_named(root, element)); };
    if (const auto start = number_in(root, "StartTime")) result_.start = {*start, where("StartTime")};
    if (const auto stop = number_in(root, "EndTime")) result_.stop = {*stop, where("EndTime")};
    if (const auto step = number_in(root, "BaseStepSize")) result_.step = {*step, where("BaseStepSize")};
  }

  void read_simulator(const Node& node) {
    auto& subsystem = result_.subsystems.emplace_back();
    subsystem.name = xml_.required(node, "name");
    subsystem.where = subsystem.fmu_where = xml_.where(node);
    if (simulators_.contains(subsystem.name)) xml_.add(node, Fact{FactCode::ElementTwice, {subsystem.name}});
    auto& simulator = simulators_[subsystem.name];
    try {
      std::string fragment;
      const fs::path fmu = path_of_uri(xml_.required(node, "source"), fragment);
      subsystem.fmu = fmu.string();
      read_fmu(file_.parent_path() / fmu, simulator);
    } catch (const Error& error) {
      problems_.push_back(problem_of(error.fact(), error.context().remedy, subsystem.where));
    }
    const auto step = node.attribute("stepSize") ? xml_.number(node, "stepSize") : std::nullopt;
    if (step && (!result_.step || *step != result_.step->value)) subsystem.step = {*step, subsystem.where};
    for (const Node value : base::child_named(node, "InitialValues")) read_start(value, subsystem);
  }

  void read_start(const Node& node, SubsystemDescription& subsystem) {
    if (base::local_name(node) != "InitialValue") return;
    const std::string variable = xml_.required(node, "variable");
    const Node typed = node.find_child([](const Node& child) { return child.type() == pugi::node_element; });
    const std::string type(base::local_name(typed));
    const std::string text = xml_.required(typed, "value");
    if (const auto value = ssp_value(type, text)) {
      subsystem.start[variable] = {*value, xml_.where(node)};
    } else {
      xml_.add(node, Fact{FactCode::NoValueOfType, {variable}, {{"value", text}, {"type", type}}});
    }
  }

  /// In model exchange and in FMI 1 alike: the name and the causality are attributes of each variable.
  void read_fmu(const fs::path& fmu, OspSimulator& simulator) {
    const fs::path description = fmu / "modelDescription.xml";
    SspXml xml(SspLibrary::text(description), description.string(), problems_);
    const Node root = xml.root("fmiModelDescription");
    for (const Node variable : base::child_named(root, "ModelVariables"))
      simulator.causalities[variable.attribute("name").value()] = variable.attribute("causality").value();
    // By the name of the model, as the platform does; some name it as the file.
    const std::string model = fs::path(root.attribute("modelName").value()).filename().string();
    for (const std::string& name : {model, fmu.stem().string()}) {
      for (const fs::path& folder : {fmu.parent_path(), file_.parent_path()}) {
        const fs::path groups = folder / (name + "_OspModelDescription.xml");
        std::error_code error;
        if (fs::is_regular_file(groups, error)) return read_groups(groups, simulator);
      }
    }
  }

  void read_groups(const fs::path& file, OspSimulator& simulator) {
    SspXml xml(SspLibrary::text(file), file.string(), problems_);
    for (const Node group : base::child_named(xml.root("OspModelDescription"), "VariableGroups")) {
      if (group.type() == pugi::node_element) read_group(xml, group, simulator);
    }
  }

  /// The variables of a group, and of the groups in it, in the order of the document. Each group has a name.
  std::vector<std::string> read_group(SspXml& xml, const Node& group, OspSimulator& simulator) {
    std::vector<std::string> variables;
    for (const Node node : group) {
      if (node.type() != pugi::node_element) continue;
      if (base::local_name(node) == "Variable") {
        variables.push_back(xml.required(node, "ref"));
      } else {
        const auto inner = read_group(xml, node, simulator);
        variables.insert(variables.end(), inner.begin(), inner.end());
      }
    }
    simulator.groups[xml.required(group, "name")] = variables;
    return variables;
  }

  void read_function(const Node& node) {
    const auto kind = base::local_name(node);
    if (kind == "Sum" || kind == "VectorSum") return read_sum(node, kind == "VectorSum");
    if (kind != "LinearTransformation") {
      xml_.add(node, Fact{FactCode::WordUnknown,
                          {"a function"},
                          {{"words", "a LinearTransformation, a Sum or a VectorSum"}, {"value", kind}}});
      return;
    }
    const std::string name = xml_.required(node, "name");
    if (is_known(name)) xml_.add(node, Fact{FactCode::ElementTwice, {name}});
    auto& function = functions_[name];
    function.where = xml_.where(node);
    function.factor = xml_.number(node, "factor").value_or(1.0);
    function.offset = xml_.number(node, "offset").value_or(0.0);
  }

  bool is_known(const std::string& name) const { return functions_.contains(name) || simulators_.contains(name); }

  /// A subsystem (docs/adr/0073), whose signals are connected as variables are.
  void read_sum(const Node& node, bool of_vectors) {
    const std::string name = xml_.required(node, "name");
    const auto terms = count_in(node, "inputCount");
    const auto length = of_vectors ? count_in(node, "dimension") : std::optional<std::uint32_t>(1);
    if (!terms || !length) return;
    if (is_known(name)) return xml_.add(node, Fact{FactCode::ElementTwice, {name}});
    auto& subsystem = result_.subsystems.emplace_back();
    subsystem.name = name;
    subsystem.where = subsystem.model_where = xml_.where(node);
    subsystem.model = of_vectors ? fmt::format("sum.{}x{}", *terms, *length) : fmt::format("sum.{}", *terms);
    auto& sum = simulators_[name];
    for (std::uint32_t j = 0; j < *length; ++j) {
      const std::string place = of_vectors ? fmt::format("[{}]", j) : std::string();
      const auto add = [&](const std::string& signal, const char* causality) {
        sum.causalities[signal + place] = causality;
        if (of_vectors) sum.groups[signal].push_back(signal + place);
      };
      for (std::uint32_t i = 0; i < *terms; ++i) add(fmt::format("in[{}]", i), "input");
      add("out", "output");
    }
  }

  std::optional<std::uint32_t> count_in(const Node& node, const char* attribute) {
    constexpr std::uint32_t kMost = 1000;
    const auto number = base::xml_number<std::uint32_t>(xml_.required(node, attribute));
    if (number && *number >= 1 && *number <= kMost) return number;
    xml_.add(node, Fact{FactCode::WordUnknown,
                        {attribute},
                        {{"words", fmt::format("a number from 1 to {}", kMost)},
                         {"value", node.attribute(attribute).value()}}});
    return std::nullopt;
  }

  void read_connection(const Node& node) {
    if (node.type() != pugi::node_element) return;
    std::vector<OspEnd> variables;
    std::vector<OspEnd> signals;
    std::vector<OspEnd> groups;
    for (const Node end : node) {
      const auto kind = base::local_name(end);
      if (kind == "Variable") variables.push_back(end_of(end, "simulator"));
      if (kind == "Signal") signals.push_back(end_of(end, "function"));
      if (kind == "VariableGroup") groups.push_back(end_of(end, "simulator"));
      if (kind == "SignalGroup") groups.push_back(end_of(end, "function"));
    }
    if (variables.size() == 2) {
      connect(variables[0], variables[1], 1.0, 0.0);
    } else if (groups.size() == 2) {
      connect_groups(groups[0], groups[1]);
    } else if (variables.size() == 1 && signals.size() == 1) {
      attach(variables[0], signals[0]);
    } else {
      xml_.add(node, Fact{FactCode::WordUnknown,
                          {"a connection"},
                          {{"words", "a connection of two variables, two groups, or a variable and a signal"},
                           {"value", base::local_name(node)}}});
    }
  }

  OspEnd end_of(const Node& node, const char* owner) {
    return {xml_.required(node, owner), xml_.required(node, "name"), xml_.where(node)};
  }

  /// "input" or "output" of a variable that exists; a problem otherwise.
  std::optional<std::string> causality_of(const OspEnd& end) {
    const auto simulator = simulators_.find(end.owner);
    if (simulator == simulators_.end()) {
      unknown(FactCode::UnknownElement, end.owner, simulators_, end.where);
      return std::nullopt;
    }
    const auto& known = simulator->second.causalities;
    const auto found = known.find(end.name);
    if (found != known.end()) return found->second == "input" ? "input" : "output";
    if (!known.empty()) unknown(FactCode::UnknownVariable, end.text(), known, end.where);
    return std::nullopt;
  }

  template <class Map>
  void unknown(FactCode code, const std::string& name, const Map& known, const SourcePosition& where) {
    std::vector<std::string> names;
    names.reserve(known.size());
    for (const auto& [each, value] : known) names.push_back(each);
    const auto dot = name.find('.');
    const std::string last = code == FactCode::UnknownVariable ? name.substr(dot + 1) : name;
    problems_.push_back(problem_of(Fact{code, {name}}, suggestion(last, names), where));
  }

  /// The order of the two does not matter: the outputs feed the inputs.
  void connect(const OspEnd& one, const OspEnd& two, double factor, double offset) {
    const auto first = causality_of(one);
    const auto second = causality_of(two);
    if (!first || !second) return;
    if (*first == *second) {
      problems_.push_back(problem_of(Fact{FactCode::SameDirection,
                                          {one.text(), two.text()},
                                          {{"both", *first == "input" ? "are inputs" : "are outputs"}}},
                                     "connect an output with an input", one.where));
      return;
    }
    const bool forward = *second == "input";
    const OspEnd& output = forward ? one : two;
    const OspEnd& input = forward ? two : one;
    const bool plain = factor == 1.0 && offset == 0.0;  // a function is applied to the numbers as they are
    result_.connections.push_back({output.text(), input.text(), input.where, output.where, factor, offset, plain});
  }

  void connect_groups(const OspEnd& one, const OspEnd& two) {
    const auto* first = group_of(one);
    const auto* second = group_of(two);
    if (first == nullptr || second == nullptr) return;
    if (first->size() != second->size()) {
      problems_.push_back(
          problem_of(Fact{FactCode::WordUnknown,
                          {fmt::format("the variable group '{}'", two.text())},
                          {{"words", fmt::format("a group of {} variables as '{}'", first->size(), one.text())},
                           {"value", std::to_string(second->size())}}},
                     "", two.where));
      return;
    }
    for (std::size_t i = 0; i < first->size(); ++i)
      connect({one.owner, (*first)[i], one.where}, {two.owner, (*second)[i], two.where}, 1.0, 0.0);
  }

  const std::vector<std::string>* group_of(const OspEnd& end) {
    const auto simulator = simulators_.find(end.owner);
    if (simulator == simulators_.end()) {
      unknown(FactCode::UnknownElement, end.owner, simulators_, end.where);
      return nullptr;
    }
    const auto found = simulator->second.groups.find(end.name);
    if (found != simulator->second.groups.end()) return &found->second;
    unknown(FactCode::UnknownElement, end.text(), simulator->second.groups, end.where);
    return nullptr;
  }

  void attach(const OspEnd& variable, const OspEnd& signal) {
    if (simulators_.contains(signal.owner)) return connect(variable, signal, 1.0, 0.0);  // a sum
    const auto function = functions_.find(signal.owner);
    if (function == functions_.end()) return unknown(FactCode::UnknownElement, signal.owner, functions_, signal.where);
    auto& source = function->second.source;
    if (signal.name == "out") {
      function->second.targets.push_back(variable);
    } else if (signal.name != "in") {
      problems_.push_back(problem_of(
          Fact{FactCode::WordUnknown, {"a signal of a function"}, {{"words", "in or out"}, {"value", signal.name}}}, "",
          signal.where));
    } else if (source) {
      problems_.push_back(problem_of(Fact{FactCode::ConnectorFedTwice, {signal.text()}}, "", signal.where));
    } else {
      source = variable;
    }
  }

  void connect_through(const std::string& name, const OspFunction& function) {
    if (!function.source && !function.targets.empty()) {
      problems_.push_back(
          problem_of(Fact{FactCode::WordUnknown, {name + ".in"}, {{"words", "connected"}, {"value", "open"}}}, "",
                     function.where));
      return;
    }
    for (const auto& target : function.targets) connect(*function.source, target, function.factor, function.offset);
  }

  const fs::path file_;
  std::vector<Problem>& problems_;
  SspXml xml_;
  SystemDescription result_;
  std::map<std::string, OspSimulator> simulators_;
  std::map<std::string, OspFunction> functions_;
};

}  // namespace

bool is_osp(const fs::path& file) {
  return file.filename().string().ends_with("OspSystemStructure.xml");
}

SystemDescription read_osp(const fs::path& file, std::vector<Problem>& problems) {
  return OspReader(file, problems).read();
}

}  // namespace entrain::description
