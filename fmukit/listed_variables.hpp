#pragma once

#include <string>
#include <vector>

#include "fmukit/fmu_definition.hpp"
#include "fmukit/references.hpp"

namespace entrain::fmukit {

/// A variable as the description lists it, before it is written down for one version of FMI.
struct ListedVariable {
  std::string name;
  Reference reference = 0;
  Group group = Group::Parameter;
  std::string unit, description;
  ValueType type = ValueType::Real;
  std::optional<Value> start;                ///< none for what is calculated
  std::optional<std::size_t> derivative_of;  ///< place of the state in the list
  bool tunable = false;                      ///< of a parameter: it may change during a run
};

/// An entry of ModelStructure; places in the list of variables.
struct ListedUnknown {
  std::size_t variable = 0;
  std::vector<std::size_t> dependencies;
};

struct ModelStructure {
  std::vector<ListedUnknown> outputs;
  std::vector<ListedUnknown> derivatives;
  std::vector<ListedUnknown> event_indicators;
  std::vector<ListedUnknown> initial_unknowns;
};

struct Listing {
  std::vector<ListedVariable> variables;
  ModelStructure structure;
  bool announces_events = false;  ///< with the start values of the parameters
};

/// Variables and structure of an FMU. Throws Error{InvalidSystem} when two variables have one name.
Listing list_variables(const FmuDefinition& definition);

}  // namespace entrain::fmukit
