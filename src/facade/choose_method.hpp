#pragma once

#include <string>
#include <string_view>

#include "entrain/simulation.hpp"

namespace entrain {

/// The method that is chosen by what the subsystems can do and by what their linearizations foretell.
inline constexpr std::string_view kAuto = "auto";

/// Needs nothing of any subsystem.
inline constexpr std::string_view kUndemanding = "f3ornits";

/// A system whose method is kAuto with kUndemanding in its place, for who only wants to look at it.
SystemDescription to_look_at(SystemDescription description);

struct MethodChoice {
  SystemDescription description;  ///< with a real method, and its degree where it is explicit
  std::string note;               ///< which, and why
};

/// Chooses for the step of the description. Costs a pilot over a fiftieth of the run where every subsystem is
/// linearized, and nothing but an assembly elsewhere; deterministic. Problems of the system are left to who prepares
/// the result.
MethodChoice choose_method(const SystemDescription& description, const ModelFactory& models);

}  // namespace entrain
