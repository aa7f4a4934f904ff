#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "methods/registry.hpp"
#include "support/systems.hpp"

namespace entrain::test {

/// Kinds of subsystems that an example is made of.
inline const std::vector<std::string>& subsystem_kinds() {
  static const std::vector<std::string> kKinds{"native", "2", "3", "2-me", "3-me"};
  return kKinds;
}

/// An example of built-in models with all of them as FMUs, by co-simulation or model exchange; or as it is.
inline SystemDescription example_of_kind(const std::string& name, const std::string& kind) {
  auto description = example(name);
  if (kind == "native") return description;
  for (auto& subsystem : description.subsystems) {
    std::string model = subsystem.model;
    std::replace(model.begin(), model.end(), '.', '_');
    subsystem.fmu = fmu_folder() + "/" + kind.substr(0, 1) + "/" + model + ".fmu";
    subsystem.model.clear();
    if (kind.ends_with("-me")) subsystem.interface = {FmuInterface::ModelExchange, {}};
  }
  return description;
}

/// A way to run a system.
struct MethodVariant {
  std::string method;
  std::vector<std::string> options;
};

/// Every built-in method as it is, and with whatever makes it remember more.
inline std::vector<MethodVariant> method_variants() {
  const std::vector<std::vector<std::string>> more{{"degree=2"},
                                                   {"adaptive=true"},
                                                   {"adaptive=true", "degree=1"},
                                                   {"loops=\"solve\"", "degree=1"},
                                                   {"feedthrough=\"delay\""},
                                                   {"restart=\"c1\""},
                                                   {"predictor=\"missiles\""},
                                                   {"solver=\"newton-krylov\""},
                                                   {"solver=\"iqn-ils\""},
                                                   {"linearize=\"when-needed\""},
                                                   {"calibration=\"cls\"", "smooth=true"},
                                                   {"integrator=\"bdf\""}};
  std::vector<MethodVariant> variants;
  for (const auto& name : method::built_in_methods().names()) {
    variants.push_back({name, {}});
    const auto known = describe_options(*method::built_in_methods().make(name));
    for (const auto& options : more) {
      const bool all_known = std::all_of(options.begin(), options.end(), [&](const std::string& option) {
        return std::any_of(known.begin(), known.end(),
                           [&](const auto& one) { return option.starts_with(one.name + "="); });
      });
      if (all_known) variants.push_back({name, options});
    }
  }
  return variants;
}

/// An integrator outside needs the equations.
inline bool suits(const std::string& method, const std::string& kind) {
  return !method::built_in_methods().make(method)->requirements().equations || kind == "native" ||
         kind.ends_with("-me");
}

}  // namespace entrain::test
