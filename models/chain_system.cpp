#include "models/chain_system.hpp"

#include <fmt/format.h>

namespace entrain::models {

SystemDescription chain_system(std::size_t masses, bool ring) {
  SystemDescription system;
  system.name = ring ? "ring" : "chain";
  system.stop = Written<double>{10.0, {}};
  system.step = Written<double>{0.01, {}};
  const auto join = [&](std::size_t left, std::size_t right) {
    system.connections.push_back({fmt::format("m{}.x", left), fmt::format("m{}.left_x", right), {}});
    system.connections.push_back({fmt::format("m{}.v", left), fmt::format("m{}.left_v", right), {}});
    system.connections.push_back({fmt::format("m{}.F_left", right), fmt::format("m{}.right_F", left), {}});
  };
  for (std::size_t i = 0; i < masses; ++i) {
    auto& mass = system.subsystems.emplace_back();
    mass.name = fmt::format("m{}", i);
    mass.model = "chain.mass";
    if (i == 0) mass.start["x"] = {Value(1.0), {}};
    if (i > 0) join(i - 1, i);
  }
  if (ring && masses > 1) join(masses - 1, 0);
  return system;
}

}  // namespace entrain::models
