// Runs an FMU that prints through std::cout and has functions with the names of the engine's solvers, from a program
// that uses std::cout itself and is built without any flag of ours.
#include <entrain/entrain.hpp>
#include <iostream>

int main(int, char** arguments) {
  entrain::SystemDescription system;
  system.name = "printing";
  system.method.value = "jacobi";
  system.step = {0.1, {}};
  system.stop = {1.0, {}};
  entrain::SubsystemDescription part;
  part.name = "part";
  part.fmu = arguments[1];
  system.subsystems = {part};
  std::cout << "before\n";
  entrain::Simulation simulation(system);
  const auto& summary = simulation.run();
  std::cout << to_string(summary.termination) << ", y = " << simulation.value("part.y") << '\n';
  return 0;
}
