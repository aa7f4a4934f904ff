#include "description/ssp_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/quoting.hpp"
#include "base/suggest.hpp"
#include "base/unique_name.hpp"
#include "description/check_values.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::description {
namespace {

namespace fs = std::filesystem;

/// Documents that refer to others several times each grow without bound.
constexpr std::size_t kMostElements = 100'000;
constexpr int kDeepest = 200;  // no system is built so; recursion must end

enum class SourceKind { Fmu, Ssp, Other };

SourceKind kind_of(const SspElement& component, const fs::path& path) {
  const std::string_view type = component.type;
  if (type == "application/x-ssp-package" || type == "application/x-ssp-definition") return SourceKind::Ssp;
  if (!type.empty() && type != "application/x-fmu-sharedlibrary") return SourceKind::Other;
  // Some tools leave the type away, or write that of an FMU everywhere.
  return path.extension() == ".ssp" || path.extension() == ".ssd" ? SourceKind::Ssp : SourceKind::Fmu;
}

const SspElement* find_id(const SspElement& element, const std::string& id) {
  if (!element.is_component && element.id == id) return &element;
  for (const auto& child : element.elements) {
    if (const auto* found = find_id(child, id)) return found;
  }
  return nullptr;
}

}  // namespace

SspScope SspTreeBuilder::build(const SspFile& file) {
  SspScope root;
  enter(root, file.document.root, file, file.path.lexically_normal().string());
  return root;
}

void SspTreeBuilder::enter(SspScope& scope, const SspElement& system, const SspFile& file, const std::string& key) {
  if (std::find(open_.begin(), open_.end(), key) != open_.end()) {
    problems_.push_back(
        problem_of(Fact{FactCode::ContainsItself, {key}, {{"path", fmt::format("{}", fmt::join(open_, " -> "))}}}, "",
                   scope.element == nullptr ? system.where : scope.element->where));
    return;
  }
  open_.push_back(key);
  std::vector<SspScope::Binding> bindings;
  for (const auto& binding : system.bindings) bindings.push_back({&binding, &file});
  // Those of a component that refers to the system come last, so that they win.
  bindings.insert(bindings.end(), scope.bindings.begin(), scope.bindings.end());
  scope.bindings = std::move(bindings);
  scope.element = &system;
  scope.file = &file;
  add_children(scope);
  open_.pop_back();
}

void SspTreeBuilder::add_children(SspScope& scope) {
  if (scope.level > kDeepest) {
    problems_.push_back(problem_of(Fact{FactCode::NestedTooDeep, {}, {{"most", kDeepest}}}, "", scope.element->where));
    return;
  }
  const std::size_t dictionaries_around = dictionaries_.size();
  for (const auto& name : scope.element->dictionaries)
    dictionaries_.push_back({name, fmt::format("{}#{}", scope.path, name)});
  for (const auto& child : scope.element->elements) {
    if (++elements_ > kMostElements) {
      if (elements_ == kMostElements + 1)
        problems_.push_back(
            problem_of(Fact{FactCode::TooManyElements, {}, {{"most", kMostElements}}}, "", child.where));
      break;
    }
    scope.children.push_back(scope_of(child, *scope.file, scope));
  }
  dictionaries_.resize(dictionaries_around);
}

/// All references to one dictionary are one place: what is written to a signal by one is read by the others.
void SspTreeBuilder::enter_dictionary(SspScope& scope) {
  scope.is_dictionary = true;
  const auto found = std::find_if(dictionaries_.rbegin(), dictionaries_.rend(),
                                  [&](const auto& known) { return known.first == scope.element->dictionary; });
  if (found != dictionaries_.rend()) {
    scope.path = found->second;
    return;
  }
  std::vector<std::string> known;
  for (const auto& [name, path] : dictionaries_) known.push_back(name);
  problems_.push_back(problem_of(Fact{FactCode::UnknownDictionary, {scope.element->name, scope.element->dictionary}},
                                 suggestion(scope.element->dictionary, known), scope.element->where));
}

SspScope SspTreeBuilder::scope_of(const SspElement& element, const SspFile& file, const SspScope& around) {
  SspScope scope;
  scope.name = element.name;
  scope.element = &element;
  scope.file = &file;
  scope.level = around.level + 1;
  if (!element.dictionary.empty()) {
    enter_dictionary(scope);
    return scope;
  }
  scope.path = unique_path(around, element);
  for (const auto& binding : element.bindings) scope.bindings.push_back({&binding, &file});
  if (element.is_component) {
    open_component(scope);
  } else {
    add_children(scope);
  }
  return scope;
}

std::string SspTreeBuilder::unique_path(const SspScope& around, const SspElement& element) {
  const std::string simple = subsystem_name(element.name);
  const std::string wanted = around.path.empty() ? simple : around.path + "/" + simple;
  const std::string path = base::unique_name(wanted, paths_);
  if (simple != element.name || path != wanted)
    problems_.push_back(problem_of(Fact{FactCode::Renamed, {element.name, path}}, "", element.where));
  return path;
}

void SspTreeBuilder::open_component(SspScope& scope) {
  const SspElement& component = *scope.element;
  const auto problem = [&](Fact fact, std::string remedy) {
    problems_.push_back(problem_of(std::move(fact), std::move(remedy), component.where));
  };
  if (!component.source)
    return problem(Fact{FactCode::ComponentWithoutSource, {scope.path}}, "name the FMU that it is");
  try {
    std::string fragment;
    const fs::path path = SspLibrary::resolved(*scope.file, *component.source, fragment);
    if (component.source->starts_with('#')) return open_same_document(scope, fragment);
    switch (kind_of(component, path)) {
      case SourceKind::Fmu: scope.fmu = path; break;
      case SourceKind::Ssp: open_reference(scope, path, fragment); break;
      case SourceKind::Other:
        problem(Fact{FactCode::ComponentType, {scope.path}, {{"type", component.type}}}, "export it as an FMU");
    }
  } catch (const Error& error) {
    problem(base::quoting({FactCode::ComponentUnusable, {scope.path}}, error, error.message()), error.context().remedy);
  }
}

void SspTreeBuilder::open_reference(SspScope& scope, const fs::path& path, const std::string& fragment) {
  const SspFile* file = library_.open(path, fragment);
  if (file != nullptr) enter(scope, file->document.root, *file, file->path.lexically_normal().string());
}

void SspTreeBuilder::open_same_document(SspScope& scope, const std::string& id) {
  const SspElement* system = find_id(scope.file->document.root, id);
  if (system == nullptr) {
    problems_.push_back(problem_of(Fact{FactCode::UnknownSystemId, {id}}, "", scope.element->where));
    return;
  }
  enter(scope, *system, *scope.file, scope.file->path.lexically_normal().string() + "#" + id);
}

}  // namespace entrain::description
