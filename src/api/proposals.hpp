#pragma once

#include <string>
#include <vector>

#include "entrain/variable.hpp"

namespace entrain::api {

/// A subsystem by its interface alone.
struct Part {
  std::string name;
  VariableTable variables;
};

/// What could feed one input.
struct Proposal {
  std::string input;                 ///< "subsystem.variable"
  std::vector<std::string> outputs;  ///< the best candidates
  std::string reason;                ///< "same name", ...
  bool sure = false;                 ///< there is one candidate, and nothing contradicts it
};

/// For each input the outputs of the other subsystems that could feed it, best kind of match only: the same name; a
/// name that differs in spelling ("SpeedIn" and "speed_out"); else the same unit; else the type alone. Types and units
/// must fit in any case, by a conversion too; a unit that is not given fits any. Without a name that matches, two
/// inputs of one subsystem cannot both be sure of the same output, and the type alone is enough only where it leaves a
/// single wiring of the whole system, in which every output and every input takes part.
std::vector<Proposal> propose_connections(const std::vector<Part>& parts);

/// Two terminals that fit each other, each of them in one pair: where there is one possibility, or one subsystem with
/// several terminals of the kind (a bus), whose free ones are taken in their order.
struct TerminalPair {
  std::string one, other;  ///< "subsystem.terminal"
};
std::vector<TerminalPair> pair_terminals(const std::vector<Part>& parts);
/// The same parts without the variables of these terminals: they are connected by them.
std::vector<Part> without_terminals(std::vector<Part> parts, const std::vector<TerminalPair>& pairs);

}  // namespace entrain::api
