#pragma once

#include <complex>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

/// Coupled systems as data: the equations are written once, and both what the engine runs and the truth are made of
/// them.
namespace entrain::truth {

/// Where the equations of a part are evaluated, and where the results go: dx/dt = f(t, x, u), y = g(t, x, u).
template <class Number>
struct At {
  Number t;
  const Number* x;
  const Number* u;
  Number* dx;
  Number* y;
};

/// One function of an At, for numbers and for complex numbers: derivatives of f and g are complex steps.
struct Equations {
  std::function<void(const At<double>&)> real;
  std::function<void(const At<std::complex<double>>&)> complex;
};
template <class Function>
Equations equations(Function function) {
  return {function, function};
}

/// What happens where an indicator changes its sign. Discrete memory is a state whose derivative is zero.
struct StateEvents {
  std::size_t indicators = 0;
  std::function<void(double t, const double* x, const double* u, double* z)> indicate = {};
  /// Changes x; false when nothing has happened.
  std::function<bool(double t, double* x, const double* u)> handle = {};
};

/// How a part integrates inside its steps.
enum class Inside {
  Accurate,  ///< to rounding
  Cvode,     ///< BDF with a loose tolerance, started afresh in every step, as many tools export
  Euler,     ///< forward Euler with a fixed inner step
  Clocked,   ///< the same on a grid of its own: nothing moves between its times
};

struct Port {
  std::string name;
  std::string unit = {};
};

struct Part {
  std::string name;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<double> start;  ///< of the states
  Equations equations;
  std::vector<std::pair<std::size_t, std::size_t>> direct = {};  ///< outputs that depend on inputs at once
  std::vector<double> times = {};                                ///< where f or g jumps with the time
  bool announced = true;                                         ///< the engine knows of them
  StateEvents events = {};

  // How the engine gets it.
  std::string model = {};                     ///< a built-in model in place of the equations
  std::string fmu = {};                       ///< an FMU in place of them, in the folder of the FMUs
  std::map<std::string, double> values = {};  ///< start values of such a model or FMU
  Inside inside = Inside::Accurate;           ///< else it is a black box that only steps, under held inputs
  double inner = 0.0;                         ///< tolerance or step of what is inside
  bool bare = false;                          ///< every capability is taken away
  bool forward = false;                       ///< it cannot go back
  bool once = false;                          ///< it has side effects: no run may be repeated, so no companion
  bool exchange = false;                      ///< an FMU by its equations
  double imposed = 0.0;                       ///< step; 0 = none
};

struct Link {
  std::size_t from, output, to, input;
  double factor = 1.0;  ///< input = factor * output + offset
  double offset = 0.0;
  bool by_units = false;  ///< the engine finds factor and offset from the units
};

struct System {
  std::string name;
  std::string kind;
  std::vector<Part> parts;
  std::vector<Link> links;
  double stop = 1.0;
  std::vector<double> steps;  ///< macro steps to be run with
  bool linear = false;        ///< autonomous and linear: the truth is a matrix exponential
  bool events = false;        ///< outputs or their slopes jump
  double largest = 1e300;     ///< step of the integration of the truth, so that no event is missed
  bool quick = false;         ///< part of the short version
};

/// All of them.
std::vector<System> systems();

/// Couplings that are hard: stiff, bare, with loops, at unequal steps (bench_hard). Not among the others.
std::vector<System> hard_systems();

/// The catalogue in parts.
void add_linear(std::vector<System>& list);
void add_nonlinear(std::vector<System>& list);
void add_events(std::vector<System>& list);
void add_built_in(std::vector<System>& list);

/// "y0", "y1", ...
std::vector<Port> ports(const std::string& letter, std::size_t count);
/// Every capability taken away.
System bare(System system);
/// Its runs cannot be repeated: errors are propagated beside them.
System once(System system);
/// Black boxes with an integrator inside.
System inside(System system, Inside how, double inner, const std::string& name);

}  // namespace entrain::truth
