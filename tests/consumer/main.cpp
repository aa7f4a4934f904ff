#include <entrain/entrain.hpp>
#include <iostream>

int main(int, char** arguments) {
  entrain::Simulation simulation(entrain::load(arguments[1]));
  const auto& summary = simulation.run();
  std::cout << to_string(summary.termination) << " at t = " << summary.reached << " s, prey "
            << simulation.value("prey.p") << '\n';
  return summary.termination == entrain::Termination::Completed ? 0 : 1;
}
