// The FMUs of tank/ in a system, against what the equations give.
#include <cmath>
#include <entrain/entrain.hpp>
#include <iostream>

namespace {

constexpr double kHole = 0.001;  // m2
constexpr double kUpper = 0.1;   // m2, cross sections
constexpr double kLower = 0.05;

double outflow(double level) {
  return kHole * std::sqrt(2.0 * 9.81 * level);
}

/// Torricelli: d sqrt(h) / dt = -a sqrt(g / 2) / A, from 1 m.
double upper_level(double t) {
  const double root = 1.0 - kHole / kUpper * std::sqrt(9.81 / 2.0) * t;
  return root * root;
}

/// By Runge-Kutta of order 4 in steps of 10 ms, from 0.5 m.
double lower_level(double stop) {
  const auto slope = [](double t, double h) { return (outflow(upper_level(t)) - outflow(h)) / kLower; };
  const int steps = static_cast<int>(std::lround(stop / 0.01));
  const double size = stop / steps;
  double h = 0.5;
  for (int i = 0; i < steps; ++i) {
    const double t = i * size;
    const double k1 = slope(t, h);
    const double k2 = slope(t + size / 2.0, h + size / 2.0 * k1);
    const double k3 = slope(t + size / 2.0, h + size / 2.0 * k2);
    const double k4 = slope(t + size, h + size * k3);
    h += size / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
  }
  return h;
}

}  // namespace

/// tanks SYSTEM
int main(int, char** arguments) {
  entrain::Simulation simulation(entrain::load(arguments[1]));
  const auto& summary = simulation.run();
  const double upper = simulation.value("upper.h") - upper_level(summary.reached);
  const double lower = simulation.value("lower.h") - lower_level(summary.reached);
  std::cout << "errors " << upper << " m and " << lower << " m\n";
  // The upper tank has no input: only its integrator errs, by 1e-10 a step. The inflow of the lower one falls by
  // a^2 g / A = 9.81e-5 m3/s a second and is 5 ms late in the mean: 1.96e-4 m in 20 s, if none of it ran out again.
  if (!(std::abs(upper) < 1e-8 && std::abs(lower) < 1.96e-4)) return 1;
  std::cout << "the tanks run empty as Torricelli says\n";
  return 0;
}
