// A chain, jacobi with held inputs, nothing recorded: the hot path, for counting its instructions.
// Arguments: subsystems, macro steps, and the file of an FMU with input u and output y (none: native masses).
#include <fmt/format.h>

#include <cstdlib>

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

}  // namespace

int main(int count, char** arguments) {
  const int subsystems = std::atoi(arguments[1]);
  auto description = count > 3 ? chain_of_fmus(subsystems, arguments[3])
                               : entrain::models::chain_system(static_cast<std::size_t>(subsystems));
  description.method.value = "jacobi";
  description.step = {0.01, {}};
  description.stop = {0.01 * std::atoi(arguments[2]), {}};
  entrain::Simulation simulation(description);
  return simulation.run().termination == entrain::Termination::Completed ? 0 : 1;
}
