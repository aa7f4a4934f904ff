// A chain of masses, jacobi with held inputs, nothing recorded: the hot path, for counting its instructions.
// Arguments: masses, macro steps.
#include <cstdlib>

#include "entrain/simulation.hpp"
#include "models/chain_system.hpp"

int main(int, char** arguments) {
  auto description = entrain::chain_system(static_cast<std::size_t>(std::atoi(arguments[1])));
  description.step = {0.01, {}};
  description.stop = {0.01 * std::atoi(arguments[2]), {}};
  entrain::Simulation simulation(description);
  return simulation.run().termination == entrain::Termination::Completed ? 0 : 1;
}
