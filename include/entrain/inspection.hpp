#pragma once

#include <string>
#include <vector>

#include "entrain/capabilities.hpp"
#include "entrain/export.hpp"
#include "entrain/extensions.hpp"
#include "entrain/fact.hpp"
#include "entrain/method_traits.hpp"
#include "entrain/options.hpp"
#include "entrain/system_description.hpp"

namespace entrain {

struct SubsystemInspection {
  std::string name;
  std::string source;
  std::string about;  ///< the description in the FMU
  VariableTable variables;
  Capabilities capabilities;
  std::vector<Fact> warnings;  ///< of itself: claims that were withdrawn, what is not used
  std::string otherwise;       ///< what it would be by its other interface; empty if there is none
};

/// Whether a method can run a system.
struct MethodFitness {
  std::string method;
  std::vector<Fact> obstacles;  ///< empty = the method can run this system
  std::vector<Fact> notes;      ///< what it would make of it
};

/// What a system is made of, without running it.
struct SystemInspection {
  std::vector<SubsystemInspection> subsystems;
  std::vector<std::vector<std::string>> loops;       ///< algebraic: signals "subsystem.variable"
  std::vector<std::vector<std::string>> components;  ///< subsystems that influence each other, two or more
  std::vector<std::string> sequence;                 ///< the calling sequence a sequential method would find
  std::vector<MethodFitness> methods;
};

/// Also reports of every method, those of `extensions` included, whether it can run the system. Throws Error with every
/// problem of the system. Where an FMU has no binary for this platform, its variables and a warning are all there is:
/// no methods, no capabilities.
ENTRAIN_API SystemInspection inspect(const SystemDescription& description, const Extensions& extensions = {});

/// What an input got at the start, and from where.
struct InitialInput {
  std::string name;  ///< "subsystem.variable"
  Value value;
  std::string unit;
  std::string from;  ///< "'left.x'", "system.toml:12", "--set left.u=1", "its own start value"
};

/// Initialises the system, as a run does before its first step. Throws Error with every problem of the system.
ENTRAIN_API std::vector<InitialInput> inspect_initial(const SystemDescription& description,
                                                      const Extensions& extensions = {});

/// Where the subsystems of a system would run.
struct PlacementInspection {
  struct Place {
    std::string subsystem;
    std::size_t rank = 0;
    double seconds = 0.0;  ///< per macro step, as measured; NaN = not known
  };
  std::vector<Place> places;  ///< in the order of the subsystems
  std::size_t ranks = 1;
  std::string by;  ///< "measured in runs/plant-3", "measured by a pilot", ...
};

/// The placement that a run over so many ranks would begin with (docs/clusters.md). Runs a few steps unless an earlier
/// run was measured. Throws Error with every problem of the system.
ENTRAIN_API PlacementInspection inspect_placement(const SystemDescription& description, std::size_t ranks,
                                                  const Extensions& extensions = {});
ENTRAIN_API std::string placement_json(const PlacementInspection& placement);

/// A coupling method: what it is, and the options it takes.
struct MethodInfo {
  MethodTraits traits;
  std::vector<OptionHelp> options;
};
/// Every method that can be asked for by name: the built-in ones, then those of `extensions`.
ENTRAIN_API std::vector<MethodInfo> methods(const Extensions& extensions = {});

/// What an inspection found, as JSON.
ENTRAIN_API std::string inspection_json(const SystemInspection& inspection);
ENTRAIN_API std::string initial_json(const std::vector<InitialInput>& inputs);

}  // namespace entrain
