#pragma once

#include <string>
#include <vector>

#include "entrain/options.hpp"
#include "entrain/simulation.hpp"

namespace entrain {

struct SubsystemInspection {
  std::string name;
  std::string source;
  std::string about;  ///< what an FMU says of itself
  VariableTable variables;
  Capabilities capabilities;
  std::vector<std::string> warnings;  ///< of itself: claims that were withdrawn, what is not used
  std::string otherwise;              ///< what it would be by its other interface; empty if there is none
};

/// What a system is made of, without running it.
struct SystemInspection {
  std::vector<SubsystemInspection> subsystems;
  std::vector<std::vector<std::string>> loops;       ///< algebraic: signals "subsystem.variable"
  std::vector<std::vector<std::string>> components;  ///< subsystems that influence each other, two or more
  std::vector<std::string> sequence;                 ///< the calling sequence gauss-seidel would find
  struct Verdict {
    std::string method;
    std::vector<std::string> obstacles;  ///< empty = the method can run this system
    std::vector<std::string> notes;      ///< what it would make of it
  };
  std::vector<Verdict> methods;
};

/// Throws Error with every problem of the system.
SystemInspection inspect(const SystemDescription& description);

/// What an input got at the start, and from where.
struct InitialInput {
  std::string name;  ///< "subsystem.variable"
  Value value;
  std::string unit;
  std::string from;  ///< "'left.x'", "system.toml:12", "--set left.u=1", "its own start value"
};

/// Initialises the system, as a run does before its first step. Throws Error with every problem of the system.
std::vector<InitialInput> inspect_initial(const SystemDescription& description);

struct MethodInfo {
  std::string name;
  std::string summary;
  std::vector<OptionHelp> options;
};
std::vector<MethodInfo> method_infos();

}  // namespace entrain
