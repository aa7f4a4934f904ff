// A chain, nothing recorded: the hot path, for counting its instructions. Prints how many steps subsystems made.
// Arguments: subsystems; steps of each; and the file of an FMU with input u and output y (none: native masses), or
// "f3ornits": native masses with steps of their own, of which hardly two ever end together. Otherwise the method is
// jacobi with held inputs.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "entrain/simulation.hpp"
#include "models/chain_system.hpp"

namespace {

entrain::SystemDescription chain_of_fmus(int count, const char* file) {
  entrain::SystemDescription description;
  for (int i = 0; i < count; ++i) {
    entrain::SubsystemDescription subsystem;
    subsystem.name = fmt::format("s{}", i);
    subsystem.fmu = file;
    description.subsystems.push_back(std::move(subsystem));
    if (i > 0) description.connections.push_back({fmt::format("s{}.y", i - 1), fmt::format("s{}.u", i), {}, {}});
  }
  return description;
}

/// Imposed steps between 0.01 s and 0.02 s.
void give_own_steps(entrain::SystemDescription& description) {
  constexpr double kGolden = 0.6180339887498949;
  double share = 0.0;
  for (auto& subsystem : description.subsystems) {
    share = std::fmod(share + kGolden, 1.0);
    subsystem.step = entrain::Written<double>{0.01 * (1.0 + share), {}};
  }
}

}  // namespace

int main(int count, char** arguments) {
  const int subsystems = std::atoi(arguments[1]);
  const std::string_view kind = count > 3 ? arguments[3] : "";
  const bool own_steps = kind == "f3ornits";
  auto description = kind.empty() || own_steps ? entrain::models::chain_system(static_cast<std::size_t>(subsystems))
                                               : chain_of_fmus(subsystems, arguments[3]);
  description.method.value = own_steps ? "f3ornits" : "jacobi";
  if (own_steps) give_own_steps(description);
  description.step = {0.01, {}};
  description.stop = {0.01 * std::atoi(arguments[2]), {}};
  entrain::Simulation simulation(description);
  const auto& summary = simulation.run();
  std::uint64_t steps = 0;
  for (const auto& subsystem : summary.subsystems) steps += subsystem.steps;
  fmt::print("{}\n", steps);
  return summary.termination == entrain::Termination::Completed ? 0 : 1;
}
