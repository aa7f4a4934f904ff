// Parameter bindings: which value reaches which port.

#include <algorithm>

#include "base/quoting.hpp"
#include "base/values.hpp"
#include "description/ssp_file.hpp"
#include "description/ssp_flat.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::description {
namespace {

class Binder {
 public:
  explicit Binder(std::vector<Problem>& problems) : problems_(problems) {}

  /// From the leaves up, so that what stands higher overwrites.
  void apply(const SspScope& scope) {
    for (const auto& child : scope.children) apply(child);
    for (const auto& bound : scope.bindings) apply(scope, *bound.binding, *bound.file);
  }

  std::map<SspPort, SspValue> values;

 private:
  void apply(const SspScope& scope, const SspBinding& binding, const SspFile& file) {
    std::vector<std::string> unknown;
    for (const auto& parameter : parameters_of(scope, binding, file)) {
      const OptionalStart start{parameter.value, parameter.unit, parameter.where};
      if (!assign(scope, parameter.name, start, scope.level)) unknown.push_back(parameter.name);
    }
    if (unknown.empty()) return;
    Fact fact{FactCode::ValuesUnused, {scope.element->name}, {{"count", unknown.size()}}};
    fact.subjects.insert(fact.subjects.end(), unknown.begin(), unknown.end());
    problems_.push_back(problem_of(std::move(fact), "", binding.where));
  }

  /// With the names and values they are mapped to.
  std::vector<SspParameter> parameters_of(const SspScope& scope, const SspBinding& binding, const SspFile& file) {
    auto parameters = binding.source
                          ? parsed(parse_ssv, scope, *binding.source, {binding.values_in_component, binding, file})
                          : binding.parameters;
    for (auto& parameter : parameters) parameter.name = binding.prefix + parameter.name;
    if (!binding.has_mapping) return parameters;
    std::map<std::string_view, const SspParameter*> by_name;
    for (const auto& parameter : parameters) by_name.insert_or_assign(parameter.name, &parameter);
    const auto mappings = binding.mapping_source ? parsed(parse_ssm, scope, *binding.mapping_source,
                                                          {binding.mapping_in_component, binding, file})
                                                 : binding.mappings;
    std::vector<SspParameter> mapped;
    for (const auto& mapping : mappings) {
      const auto found = by_name.find(mapping.source);
      if (found == by_name.end()) {
        problems_.push_back(
            problem_of(Fact{FactCode::MappingWithoutSource, {mapping.target, mapping.source}}, "", mapping.where));
        continue;
      }
      SspParameter parameter = *found->second;
      parameter.name = mapping.target;
      if (!mapping.convert_units) parameter.unit.clear();
      if (!transform_mapped(parameter, mapping)) continue;
      mapped.push_back(std::move(parameter));
    }
    return mapped;
  }

  /// The standard converts units first, which cannot be done here: the unit of the target is not known. False, and a
  /// problem, when a table does not know the value.
  bool transform_mapped(SspParameter& parameter, const SspMapping& mapping) {
    if (!transform(parameter.value, mapping.transformation)) {
      problems_.push_back(problem_of(
          Fact{FactCode::MappingIncomplete, {mapping.source, mapping.target}, {{"value", value_text(parameter.value)}}},
          "add a MapEntry", mapping.where));
      return false;
    }
    if (parameter.unit.empty() || !mapping.transformation.is_scaling()) return true;
    problems_.push_back(problem_of(
        Fact{FactCode::UnitNotTransformed, {mapping.source, mapping.target}, {{"unit", parameter.unit}}},
        "write suppressUnitConversion=\"true\" if this is meant, else convert in the transformation", mapping.where));
    parameter.unit.clear();
    return true;
  }

  struct Origin {
    bool in_component;
    const SspBinding& binding;
    const SspFile& file;
  };

  template <class Entry>
  using Parse = std::vector<Entry> (*)(std::string_view text, const std::string& file, std::vector<Problem>& problems);

  template <class Entry>
  std::vector<Entry> parsed(Parse<Entry> parse, const SspScope& scope, const std::string& uri, const Origin& origin) {
    try {
      const auto file = path_of(scope, uri, origin);
      return parse(SspLibrary::text(file), file.string(), problems_);
    } catch (const Error& error) {
      problems_.push_back(problem_of(base::quoting({FactCode::ParametersUnusable}, error, error.message()),
                                     error.context().remedy, origin.binding.where));
      return {};
    }
  }

  /// A component that is an SSD or a package has been opened: its file is where its own URIs lead.
  static std::filesystem::path path_of(const SspScope& scope, const std::string& uri, const Origin& origin) {
    if (origin.in_component && !scope.fmu.empty()) return SspLibrary::inside_fmu(scope.fmu, uri);
    std::string fragment;
    return SspLibrary::resolved(origin.in_component ? *scope.file : origin.file, uri, fragment);
  }

  /// To everything that has this name: the standard allows several. False when nothing has.
  bool assign(const SspScope& scope, const std::string& name, const OptionalStart& start, int level) {
    if (scope.element->is_component) {
      values[{scope.path, name}] = {start, level};
      return true;
    }
    bool found = false;
    for (const auto& connector : scope.element->connectors) {
      if (connector.name != name) continue;
      values[{scope.path, name}] = {start, level};
      found = true;
    }
    for (const auto& child : scope.children) {
      const std::string& element = child.name;
      if (name.size() <= element.size() + 1 || !name.starts_with(element) || name[element.size()] != '.') continue;
      found = assign(child, name.substr(element.size() + 1), start, level) || found;
    }
    return found;
  }

  std::vector<Problem>& problems_;
};

}  // namespace

bool transform(Value& value, const SspTransformation& by) {
  if (!by.table.empty()) {
    const auto entry =
        std::find_if(by.table.begin(), by.table.end(), [&](const auto& candidate) { return candidate.first == value; });
    if (entry == by.table.end()) return false;
    value = entry->second;
  }
  if (!by.is_scaling()) return true;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) value = static_cast<double>(*integer);
  if (auto* number = std::get_if<double>(&value)) *number = by.factor * *number + by.offset;
  return true;
}

std::map<SspPort, SspValue> bound_values(const SspScope& root, std::vector<Problem>& problems) {
  Binder binder(problems);
  binder.apply(root);
  return std::move(binder.values);
}

}  // namespace entrain::description
