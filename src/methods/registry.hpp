#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/extensions.hpp"
#include "entrain/method.hpp"

namespace entrain::method {

/// The method that is chosen from capabilities and forecasts, not one of the registry.
inline constexpr std::string_view kAuto = "auto";

struct MethodEntry {
  MethodTraits traits;
  MethodFactory make;
};

/// The built-in methods and those of a program. Everything that needs a method asks here, by name or by traits.
class MethodRegistry {
 public:
  /// Built-in methods first. Throws Error{InvalidSystem} for a method without a name, or with one that is taken.
  explicit MethodRegistry(const Extensions& extensions = {});

  const std::vector<MethodEntry>& entries() const { return entries_; }
  std::vector<std::string> names() const;
  /// nullptr for an unknown name.
  const MethodEntry* find(std::string_view name) const;
  std::unique_ptr<Method> make(std::string_view name) const;
  /// Of a method that is there.
  const MethodTraits& traits(std::string_view name) const;

  /// The first whose traits fulfil a condition; there is one.
  template <class Condition>
  const MethodTraits& first(const Condition& condition) const {
    for (const auto& entry : entries_) {
      if (condition(entry.traits)) return entry.traits;
    }
    return entries_.front().traits;
  }
  /// Needs nothing of any subsystem, and chooses its steps.
  const MethodTraits& undemanding() const;
  /// That `learn` corrects.
  const MethodTraits& learnable() const;
  /// The equations of all subsystems in one integrator.
  const MethodTraits& reference() const;

 private:
  std::vector<MethodEntry> entries_;
};

/// Without extensions.
const MethodRegistry& built_in_methods();

}  // namespace entrain::method
