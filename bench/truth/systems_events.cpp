#include <cmath>

#include "truth/catalogue.hpp"

namespace entrain::truth {
namespace {

constexpr double kSwitch = 1.2345;

Part filter(const std::string& name, double frequency, double damping) {
  return part({name, 1, 1, {0.0, 0.0}}, [=](const auto& at) {
    at.dx[0] = at.x[1];
    at.dx[1] = frequency * frequency * (at.u[0] - at.x[0]) - 2.0 * damping * frequency * at.x[1];
    at.y[0] = at.x[0];
  });
}

/// A source of the time, and two filters behind it that are coupled with each other.
template <class Function>
System switched(const std::string& name, std::vector<double> times, Function source) {
  auto first = part({"source", 0, 1, {}}, [source](const auto& at) { at.y[0] = source(at.t); });
  first.times = std::move(times);
  auto plant = part({"plant", 2, 1, {0.0, 0.0}}, [](const auto& at) {
    at.dx[0] = at.x[1];
    at.dx[1] = 9.0 * (at.u[0] - 0.5 * at.u[1] - at.x[0]) - 1.8 * at.x[1];
    at.y[0] = at.x[0];
  });
  System system =
      coupled(name, "events", {first, plant, filter("sensor", 5.0, 0.7)}, {{0, 0, 1, 0}, {1, 0, 2, 0}, {2, 0, 1, 1}});
  system.events = true;
  return system;
}

System step_source(const std::string& name) {
  return switched(name, {kSwitch}, [](const auto& t) { return std::real(t) < kSwitch ? 0.0 * t : 1.0 + 0.0 * t; });
}

System square_wave() {
  std::vector<double> times;
  for (int k = 1; k <= 12; ++k) times.push_back(0.4137 * k);
  return switched("square_wave", times, [](const auto& t) {
    return 0.0 * t + (static_cast<int>(std::floor(std::real(t) / 0.4137 + 1e-12)) % 2 == 0 ? 1.0 : -1.0);
  });
}

System ramp_source() {
  return switched("ramp_unannounced", {kSwitch},
                  [](const auto& t) { return std::real(t) < kSwitch ? 0.0 * t : t - kSwitch; });
}

System silent(System system, const std::string& name) {
  for (auto& one : system.parts) one.announced = false;
  system.name = name;
  return system;
}

/// A stiffness that changes at a known time, inside a coupled pair.
System changing_spring(const std::string& name, bool announced) {
  auto mass = part({"mass", 1, 1, {1.0, 0.0}}, [](const auto& at) {
    const double stiffness = std::real(at.t) < kSwitch ? 4.0 : 16.0;
    at.dx[0] = at.x[1];
    at.dx[1] = -stiffness * at.x[0] - 0.1 * at.x[1] + at.u[0];
    at.y[0] = at.x[0];
  });
  mass.times = {kSwitch};
  mass.announced = announced;
  System system = coupled(name, "events", {mass, filter("other", 2.0, 0.2)}, kPair);
  system.events = true;
  return system;
}

/// A ball that bounces on the floor, and air that is moved by it.
System bouncing_ball() {
  auto ball = part({"ball", 1, 2, {1.1, 0.0}}, [](const auto& at) {
    at.dx[0] = at.x[1];
    at.dx[1] = -9.81 + at.u[0];
    at.y[0] = at.x[0];
    at.y[1] = at.x[1];
  });
  ball.events.indicators = 1;
  ball.events.indicate = [](double, const double* x, const double*, double* z) { z[0] = x[0]; };
  ball.events.handle = [](double, double* x, const double*) {
    if (x[0] > 0.0 || x[1] >= 0.0) return false;
    x[0] = 1e-300;
    x[1] *= -0.8;
    return true;
  };
  auto air = part({"air", 1, 1, {0.0}}, [](const auto& at) {
    at.dx[0] = 5.0 * (-0.5 * at.u[0] - at.x[0]);
    at.y[0] = at.x[0];
  });
  System system = coupled("bouncing_ball", "events", {ball, air}, {{0, 1, 1, 0}, {1, 0, 0, 0}});
  system.events = true;
  system.largest = 0.02;
  return system;
}

/// A room with a heater that a thermostat switches with hysteresis.
System thermostat() {
  auto relay = part({"relay", 1, 1, {1.0}}, [](const auto& at) {
    at.dx[0] = 0.0 * at.x[0];
    at.y[0] = at.x[0];
  });
  const auto reserve = [](const double* x, const double* u) { return x[0] > 0.5 ? 21.0 - u[0] : u[0] - 19.0; };
  relay.events.indicators = 1;
  relay.events.indicate = [reserve](double, const double* x, const double* u, double* z) { z[0] = reserve(x, u); };
  relay.events.handle = [reserve](double, double* x, const double* u) {
    if (reserve(x, u) > 0.0) return false;
    x[0] = x[0] > 0.5 ? 0.0 : 1.0;
    return true;
  };
  auto room = part({"room", 1, 1, {20.0, 20.0}}, [](const auto& at) {
    at.dx[0] = 0.5 * (at.x[1] - at.x[0]) - 0.1 * (at.x[0] - 10.0);
    at.dx[1] = 8.0 * at.u[0] - 0.5 * (at.x[1] - at.x[0]) - 0.1 * (at.x[1] - 10.0);
    at.y[0] = at.x[0];
  });
  System system = coupled("thermostat", "events", {relay, room}, kPair);
  system.events = true;
  system.largest = 0.1;
  return system;
}

/// A mass that meets a stop: a spring that acts on one side only.
System impact() {
  const auto contact = [](const auto& x) { return std::real(x) > 0.5 ? 200.0 * (x - 0.5) : 0.0 * x; };
  auto mass = part({"mass", 1, 1, {-1.0, 0.0}}, [contact](const auto& at) {
    at.dx[0] = at.x[1];
    at.dx[1] = -4.0 * at.x[0] - contact(at.x[0]) + at.u[0];
    at.y[0] = at.x[0];
  });
  mass.events.indicators = 1;
  mass.events.indicate = [](double, const double* x, const double*, double* z) { z[0] = 0.5 - x[0]; };
  System system = coupled("impact", "events", {mass, filter("other", 3.0, 0.3)}, kPair);
  system.events = true;
  system.largest = 0.02;
  return system;
}

/// A controller that takes samples at known times and holds what it makes of them.
System sampled_controller() {
  constexpr double kPeriod = 0.1;
  auto controller = part({"controller", 1, 1, {0.0, 0.0}}, [](const auto& at) {
    at.dx[0] = at.dx[1] = 0.0 * at.x[0];
    at.y[0] = at.x[0];
  });
  for (int k = 1; k <= 100; ++k) controller.times.push_back(kPeriod * k);
  controller.events.handle = [](double t, double* x, const double* u) {
    if (t < kPeriod * (x[1] + 1.0) - 1e-9) return false;
    x[0] = 3.0 * (1.0 - u[0]);
    x[1] += 1.0;
    return true;
  };
  System system = coupled("sampled_controller", "events", {controller, filter("plant", 2.0, 0.3)}, kPair);
  system.events = true;
  return system;
}

}  // namespace

void add_events(std::vector<System>& list) {
  const std::vector<double> steps = {0.05, 0.01};
  list.push_back(timed(step_source("step_announced"), 5.0, steps));
  list.push_back(timed(silent(step_source(""), "step_unannounced"), 5.0, steps));
  list.push_back(timed(square_wave(), 5.0, steps));
  list.push_back(timed(silent(square_wave(), "square_wave_unannounced"), 5.0, steps));
  list.push_back(timed(silent(ramp_source(), "ramp_unannounced"), 5.0, steps));
  list.push_back(timed(changing_spring("spring_announced", true), 5.0, steps));
  list.push_back(timed(changing_spring("spring_unannounced", false), 5.0, steps));
  list.push_back(timed(bouncing_ball(), 2.0, {0.01, 0.002}));
  list.push_back(timed(thermostat(), 20.0, {0.1, 0.02}));
  list.push_back(timed(impact(), 6.0, {0.02, 0.005}));
  list.push_back(timed(sampled_controller(), 6.0, {0.1, 0.02}));
}

}  // namespace entrain::truth
