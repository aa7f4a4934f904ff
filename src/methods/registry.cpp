#include "methods/registry.hpp"

#include "entrain/fact_codes.hpp"
#include "methods/asynchronous/f3ornits.hpp"
#include "methods/asynchronous/waveform.hpp"
#include "methods/explicit/gauss_seidel.hpp"
#include "methods/explicit/jacobi.hpp"
#include "methods/explicit/nepce.hpp"
#include "methods/hermite/ifosmondi.hpp"
#include "methods/hermite/missiles.hpp"
#include "methods/monolithic.hpp"

namespace entrain::method {
namespace {

template <class... Methods>
std::vector<MethodFactory> factories() {
  return {[]() -> std::unique_ptr<Method> { return std::make_unique<Methods>(); }...};
}

}  // namespace

MethodRegistry::MethodRegistry(const Extensions& extensions) {
  // The plainest first: it is the default, and where nothing distinguishes methods the first is taken.
  auto makers = factories<Jacobi, GaussSeidel, Nepce, Missiles, Ifosmondi, F3ornits, Waveform, Monolithic>();
  makers.insert(makers.end(), extensions.methods.begin(), extensions.methods.end());
  for (auto& make : makers) {
    const auto method = make ? make() : nullptr;
    if (method == nullptr) throw Error(ErrorCode::InvalidSystem, {FactCode::NoMethodMade});
    auto traits = method->traits();
    if (traits.name.empty() || traits.name == kAuto || find(traits.name) != nullptr) {
      Fact refusal{FactCode::MethodNameRefused, {traits.name}};
      if (!traits.name.empty()) refusal.values.emplace_back("taken", true);
      throw Error(ErrorCode::InvalidSystem, std::move(refusal));
    }
    entries_.push_back({std::move(traits), std::move(make)});
  }
}

std::vector<std::string> MethodRegistry::names() const {
  std::vector<std::string> names;
  for (const auto& entry : entries_) names.push_back(entry.traits.name);
  return names;
}

const MethodEntry* MethodRegistry::find(std::string_view name) const {
  for (const auto& entry : entries_) {
    if (entry.traits.name == name) return &entry;
  }
  return nullptr;
}

std::unique_ptr<Method> MethodRegistry::make(std::string_view name) const {
  const auto* entry = find(name);
  return entry == nullptr ? nullptr : entry->make();
}

const MethodTraits& MethodRegistry::traits(std::string_view name) const {
  if (const auto* entry = find(name)) return entry->traits;
  throw Error(ErrorCode::InvalidSystem, {FactCode::UnknownMethod, {std::string(name)}});
}

const MethodTraits& MethodRegistry::undemanding() const {
  return first([](const MethodTraits& of) { return of.family == MethodFamily::Asynchronous; });
}

const MethodTraits& MethodRegistry::learnable() const {
  return first([](const MethodTraits& of) { return of.learnable; });
}

const MethodTraits& MethodRegistry::reference() const {
  return first([](const MethodTraits& of) { return of.family == MethodFamily::Reference; });
}

const MethodRegistry& built_in_methods() {
  static const MethodRegistry kRegistry;
  return kRegistry;
}

}  // namespace entrain::method
