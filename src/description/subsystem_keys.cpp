#include "description/subsystem_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "entrain/fact_codes.hpp"

namespace entrain::description {
namespace {

class KeyChecker {
 public:
  KeyChecker(const SubsystemDescription& subsystem, const std::string& path, std::vector<Problem>& problems)
      : subsystem_(subsystem), path_(path), problems_(problems) {}

  template <class T, class Ability>
  void operator()(const SubsystemKey<T, Ability>& key) {
    const auto& written = subsystem_.*key.field;
    if (!written || !fits(key, written->value, written->where)) return;
    if (key.owner == KeyOwner::All || !has_source(subsystem_)) return;
    for (const auto& source : kSubsystemSources) {
      if (source.owner != key.owner || !(subsystem_.*source.text).empty()) continue;
      add(written->where,
          Fact{FactCode::KeyMisplaced, {fmt::format("{}.{}", path_, key.name)}, {{"owner", source.kinds}}},
          "leave it out");
    }
  }

 private:
  void add(const SourcePosition& where, Fact fact, std::string remedy = {}) {
    problems_.push_back(problem_of(std::move(fact), std::move(remedy), where));
  }

  /// Booleans and enumerations have no limits: whatever could be read is allowed.
  template <class Key, class T>
  bool fits(const Key&, const T&, const SourcePosition&) {
    return true;
  }
  template <class Key>
  bool fits(const Key& key, std::int64_t value, const SourcePosition& where) {
    return within(key, static_cast<double>(value), fmt::format("{}", value), where);
  }
  template <class Key>
  bool fits(const Key& key, double value, const SourcePosition& where) {
    if (!std::isfinite(value)) {
      add(where, Fact{FactCode::NotFinite, {fmt::format("{}.{}", path_, key.name)}, {{"value", value}}});
      return false;
    }
    return within(key, value, fmt::format("{}", value), where);
  }
  template <class Key>
  bool fits(const Key& key, const std::vector<double>& values, const SourcePosition& where) {
    bool all_fit = true;
    for (const double value : values) all_fit = fits(key, value, where) && all_fit;
    return all_fit;
  }

  template <class Key>
  bool within(const Key& key, double value, const std::string& text, const SourcePosition& where) {
    if (key.limits.allow(value)) return true;
    add(where, Fact{FactCode::OutOfRange,
                    {fmt::format("{}.{}", path_, key.name)},
                    {{"range", limits_text(key.limits, key.unit)}, {"value", text}}});
    return false;
  }

  const SubsystemDescription& subsystem_;
  const std::string& path_;
  std::vector<Problem>& problems_;
};

}  // namespace

std::string limits_text(const KeyLimits& limits, std::string_view unit) {
  const std::string with_unit = unit.empty() ? "" : fmt::format(" {}", unit);
  if (std::isfinite(limits.max)) return fmt::format("between {} and {:.10g}{}", limits.min, limits.max, with_unit);
  if (!std::isfinite(limits.min)) return "";
  return fmt::format("{} {}{}", limits.above_min ? "greater than" : "at least", limits.min, with_unit);
}

bool has_source(const SubsystemDescription& subsystem) {
  return is_outside(subsystem) ||
         std::any_of(kSubsystemSources.begin(), kSubsystemSources.end(),
                     [&](const SubsystemSource& source) { return !(subsystem.*source.text).empty(); });
}

void check_subsystem_keys(const SubsystemDescription& subsystem, const std::string& path,
                          std::vector<Problem>& problems) {
  for_each_subsystem_key(KeyChecker(subsystem, path, problems));
}

}  // namespace entrain::description
