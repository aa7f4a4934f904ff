#include "fmukit/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "entrain/error.hpp"
#include "fmukit/listed_variables.hpp"

namespace entrain::fmukit {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\n': result += "&#10;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string attribute(const char* name, std::string_view value) {
  return value.empty() ? std::string() : fmt::format(" {}=\"{}\"", name, escaped(value));
}

const char* text_of(bool value) {
  return value ? "true" : "false";
}

std::string text_of(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return text_of(*flag);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
  return fmt::format("{}", std::get<double>(value));
}

/// The versions name numbers differently.
const char* type_name(ValueType type, const char* real, const char* integer) {
  switch (type) {
    case ValueType::Real: return real;
    case ValueType::Integer: return integer;
    case ValueType::Boolean: return "Boolean";
    case ValueType::Unsigned:  // no model has parameters of these two types
    case ValueType::Binary:
    case ValueType::String: break;
  }
  return "String";
}

const char* causality_of(Group group) {
  switch (group) {
    case Group::Input: return "input";
    case Group::Output: return "output";
    case Group::Parameter: return "parameter";
    default: return "local";
  }
}

const char* variability_of(const ListedVariable& variable) {
  if (variable.group == Group::Parameter) return variable.tunable ? "tunable" : "fixed";
  return variable.group == Group::Counter ? "discrete" : "continuous";
}

/// "exact" for what has a start; not written for inputs, where FMI forbids it.
std::string initial_of(const ListedVariable& variable) {
  if (variable.group == Group::Input) return {};
  return variable.start ? "exact" : "calculated";
}

std::string units(const Listing& listing) {
  std::set<std::string> names;
  for (const auto& variable : listing.variables) names.insert(variable.unit);
  names.erase("");
  if (names.empty()) return {};
  std::string text = "  <UnitDefinitions>\n";
  for (const auto& name : names) text += fmt::format("    <Unit name=\"{}\"/>\n", escaped(name));
  return text + "  </UnitDefinitions>\n";
}

/// A description without its token is the text that the token is a hash of.
class Writer {
 public:
  Writer(const FmuDefinition& definition, std::string token)
      : definition_(definition),
        options_(definition.options),
        listing_(list_variables(definition)),
        token_(std::move(token)),
        offers_model_exchange_(offers_model_exchange(definition)) {}
  virtual ~Writer() = default;

  virtual std::string text() const {
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + opening() + model_exchange() + co_simulation() +
           units(listing_) +
           "  <LogCategories>\n    <Category name=\"logStatusError\" description=\"why a call failed\"/>\n"
           "  </LogCategories>\n  <ModelVariables>\n" +
           variables() + "  </ModelVariables>\n  <ModelStructure>\n" + structure() +
           "  </ModelStructure>\n</fmiModelDescription>\n";
  }

 protected:
  virtual std::string opening() const = 0;
  // Attributes: of both kinds, and those that only one of them has.
  virtual std::string for_both_kinds() const = 0;
  virtual std::string for_model_exchange() const { return {}; }
  virtual std::string for_co_simulation() const = 0;
  virtual std::string variables() const = 0;
  virtual std::string structure() const = 0;

  /// The words are those that the versions spell differently.
  std::string attributes_for_both_kinds(const char* state, const char* derivative) const {
    return fmt::format(
        " modelIdentifier=\"{0}\" canGetAndSetFMU{1}=\"{2}\" canSerializeFMU{1}=\"{2}\" providesDirectional{3}=\"{4}\"",
        definition_.identifier, state, text_of(options_.rollback), derivative,
        text_of(options_.directional_derivatives));
  }

  const FmuDefinition& definition_;
  const FmuOptions& options_;
  const Listing listing_;
  const std::string token_;
  const bool offers_model_exchange_;

 private:
  std::string model_exchange() const {
    if (!offers_model_exchange_) return {};
    return "  <ModelExchange" + for_both_kinds() + for_model_exchange() + "/>\n";
  }
  std::string co_simulation() const {
    if (!options_.co_simulation) return {};
    return fmt::format(
        "  <CoSimulation{} canHandleVariableCommunicationStepSize=\"true\" maxOutputDerivativeOrder=\"{}\"{}/>\n",
        for_both_kinds(), options_.output_derivative_order, for_co_simulation());
  }
};

class Writer2 final : public Writer {
 public:
  using Writer::Writer;

 private:
  std::string opening() const override {
    return fmt::format(
        "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"{}\" guid=\"{}\"{} generationTool=\"Entrain fmukit\" "
        "variableNamingConvention=\"structured\" numberOfEventIndicators=\"{}\">\n",
        escaped(definition_.model), token_, attribute("description", definition_.description),
        listing_.structure.event_indicators.size());
  }

  std::string for_both_kinds() const override { return attributes_for_both_kinds("state", "Derivative"); }
  std::string for_co_simulation() const override {
    return fmt::format(" canInterpolateInputs=\"{}\"", text_of(options_.input_degree > 0));
  }

  std::string variables() const override {
    std::string text;
    for (const auto& variable : listing_.variables) {
      std::string content = type_name(variable.type, "Real", "Integer") + attribute("unit", variable.unit);
      if (variable.derivative_of) content += fmt::format(" derivative=\"{}\"", *variable.derivative_of + 1);
      if (variable.start) content += fmt::format(" start=\"{}\"", escaped(text_of(*variable.start)));
      text += fmt::format(
          "    <ScalarVariable name=\"{}\" valueReference=\"{}\" causality=\"{}\" variability=\"{}\"{}{}><{}/>"
          "</ScalarVariable>\n",
          escaped(variable.name), variable.reference, causality_of(variable.group), variability_of(variable),
          attribute("initial", initial_of(variable)), attribute("description", variable.description), content);
    }
    return text;
  }

  static std::string unknowns(const char* element, std::vector<ListedUnknown> list) {
    if (list.empty()) return {};
    // The order of the variables, as the standard asks for InitialUnknowns.
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.variable < b.variable; });
    std::string text = fmt::format("    <{}>\n", element);
    for (auto& unknown : list) {
      for (auto& dependency : unknown.dependencies) ++dependency;  // FMI 2 counts variables from 1
      text += fmt::format("      <Unknown index=\"{}\" dependencies=\"{}\"/>\n", unknown.variable + 1,
                          fmt::join(unknown.dependencies, " "));
    }
    return text + fmt::format("    </{}>\n", element);
  }

  std::string structure() const override {
    const auto& structure = listing_.structure;
    return unknowns("Outputs", structure.outputs) + unknowns("Derivatives", structure.derivatives) +
           unknowns("InitialUnknowns", structure.initial_unknowns);
  }
};

/// FMI 1 has no lists of states, and an FMU is for one of the two kinds.
class Writer1 final : public Writer {
 public:
  using Writer::Writer;

  std::string text() const override {
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + opening() + "  <ModelVariables>\n" + variables() +
           "  </ModelVariables>\n" + implementation() + "</fmiModelDescription>\n";
  }

 private:
  std::string opening() const override {
    return fmt::format(
        "<fmiModelDescription fmiVersion=\"1.0\" modelName=\"{}\" modelIdentifier=\"{}\" guid=\"{}\"{} "
        "generationTool=\"Entrain fmukit\" numberOfContinuousStates=\"{}\" numberOfEventIndicators=\"{}\">\n",
        escaped(definition_.model), definition_.identifier, token_, attribute("description", definition_.description),
        listing_.structure.derivatives.size(), listing_.structure.event_indicators.size());
  }

  std::string implementation() const {
    if (!options_.co_simulation) return {};
    return fmt::format(
        "  <Implementation><CoSimulation_StandAlone><Capabilities canHandleVariableCommunicationStepSize=\"true\" "
        "canInterpolateInputs=\"{}\" maxOutputDerivativeOrder=\"{}\"/></CoSimulation_StandAlone></Implementation>\n",
        text_of(options_.input_degree > 0), options_.output_derivative_order);
  }

  std::string variables() const override {
    std::string text;
    for (std::size_t i = 0; i < listing_.variables.size(); ++i) {
      const auto& variable = listing_.variables[i];
      const bool is_parameter = variable.group == Group::Parameter;
      const bool is_port = variable.group == Group::Input || variable.group == Group::Output;
      std::string content = type_name(variable.type, "Real", "Integer") + attribute("unit", variable.unit);
      if (variable.start) content += fmt::format(" start=\"{}\"", escaped(text_of(*variable.start)));
      text += fmt::format(
          "    <ScalarVariable name=\"{}\" valueReference=\"{}\" causality=\"{}\" variability=\"{}\"{}><{}/>{}"
          "</ScalarVariable>\n",
          escaped(variable.name), variable.reference, is_port ? causality_of(variable.group) : "internal",
          is_parameter ? "parameter" : variability_of(variable), attribute("description", variable.description),
          content, variable.group == Group::Output ? dependencies_of(i) : "");
    }
    return text;
  }

  std::string dependencies_of(std::size_t output) const {
    std::string names;
    for (const auto& unknown : listing_.structure.outputs) {
      if (unknown.variable != output) continue;
      for (const auto place : unknown.dependencies) {
        if (listing_.variables[place].group == Group::Input)
          names += fmt::format("<Name>{}</Name>", escaped(listing_.variables[place].name));
      }
    }
    return fmt::format("<DirectDependency>{}</DirectDependency>", names);
  }

  std::string for_both_kinds() const override { return {}; }
  std::string for_co_simulation() const override { return {}; }
  std::string structure() const override { return {}; }
};

class Writer3 final : public Writer {
 public:
  using Writer::Writer;

 private:
  std::string opening() const override {
    return fmt::format(
        "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"{}\" instantiationToken=\"{}\"{} "
        "generationTool=\"Entrain fmukit\" variableNamingConvention=\"structured\">\n",
        escaped(definition_.model), token_, attribute("description", definition_.description));
  }

  std::string for_both_kinds() const override { return attributes_for_both_kinds("State", "Derivatives"); }
  std::string for_model_exchange() const override { return " needsCompletedIntegratorStep=\"true\""; }
  std::string for_co_simulation() const override {
    return fmt::format(" providesAdjointDerivatives=\"{}\" providesIntermediateUpdate=\"{}\" hasEventMode=\"{}\"{}",
                       text_of(options_.adjoint_derivatives), text_of(options_.input_degree > 0),
                       text_of(listing_.announces_events), early_returns());
  }

  std::string early_returns() const {
    std::string text = listing_.announces_events ? " mightReturnEarlyFromDoStep=\"true\"" : "";
    if (!(options_.internal_step > 0.0)) return text;
    return text + fmt::format(" canReturnEarlyAfterIntermediateUpdate=\"true\" fixedInternalStepSize=\"{}\"",
                              options_.internal_step);
  }

  std::string variables() const override {
    std::string text =
        "    <Float64 name=\"time\" valueReference=\"1\" causality=\"independent\" variability=\"continuous\"/>\n";
    for (const auto& variable : listing_.variables) {
      const char* type = type_name(variable.type, "Float64", variable.group == Group::Counter ? "Int32" : "Int64");
      std::string attributes = attribute("unit", variable.unit);
      if (variable.derivative_of) {
        attributes += fmt::format(" derivative=\"{}\"", listing_.variables[*variable.derivative_of].reference);
      }
      if (variable.group == Group::Input && options_.input_degree > 0) attributes += " intermediateUpdate=\"true\"";
      std::string end = "/>";
      if (variable.start && variable.type == ValueType::String) {
        end = fmt::format("><Start value=\"{}\"/></String>", escaped(text_of(*variable.start)));
      } else if (variable.start) {
        attributes += fmt::format(" start=\"{}\"", text_of(*variable.start));
      }
      text += fmt::format("    <{} name=\"{}\" valueReference=\"{}\" causality=\"{}\" variability=\"{}\"{}{}{}{}\n",
                          type, escaped(variable.name), variable.reference, causality_of(variable.group),
                          variability_of(variable), attribute("initial", initial_of(variable)),
                          attribute("description", variable.description), attributes, end);
    }
    return text;
  }

  std::string unknowns(const char* element, const std::vector<ListedUnknown>& list) const {
    std::string text;
    for (const auto& unknown : list) {
      std::vector<Reference> dependencies;
      for (const auto place : unknown.dependencies) dependencies.push_back(listing_.variables[place].reference);
      text += fmt::format("    <{} valueReference=\"{}\" dependencies=\"{}\"/>\n", element,
                          listing_.variables[unknown.variable].reference, fmt::join(dependencies, " "));
    }
    return text;
  }

  std::string structure() const override {
    const auto& structure = listing_.structure;
    return unknowns("Output", structure.outputs) + unknowns("ContinuousStateDerivative", structure.derivatives) +
           unknowns("InitialUnknown", structure.initial_unknowns) +
           unknowns("EventIndicator", structure.event_indicators);
  }
};

std::string write(const FmuDefinition& definition, int version, const std::string& token) {
  if (version == 1) return Writer1(definition, token).text();
  return version == 2 ? Writer2(definition, token).text() : Writer3(definition, token).text();
}

}  // namespace

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

bool offers_model_exchange(const FmuDefinition& definition) {
  return definition.options.model_exchange && definition.options.states &&
         !definition.make()->reads_input_derivatives();
}

void require_offered(const FmuDefinition& definition, Kind kind) {
  const bool exchange = kind == Kind::ModelExchange;
  if (exchange ? offers_model_exchange(definition) : definition.options.co_simulation) return;
  throw Error(ErrorCode::SubsystemFailed,
              fmt::format("this FMU does not offer {}", exchange ? "model exchange" : "co-simulation"));
}

Description describe(const FmuDefinition& definition, int version) {
  const std::string bare = write(definition, version, "");
  const std::uint64_t high = hash_of(bare);
  const std::uint64_t low = hash_of(bare + "entrain");
  const std::string token = fmt::format("{{{:08x}-{:04x}-{:04x}-{:04x}-{:012x}}}", high >> 32, (high >> 16) & 0xffff,
                                        high & 0xffff, low >> 48, low & 0xffffffffffff);
  return {token, write(definition, version, token)};
}

}  // namespace entrain::fmukit
