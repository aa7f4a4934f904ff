#include <fmt/format.h>

#include <cmath>

#include "truth/catalogue.hpp"

namespace entrain::truth {
namespace {

constexpr double kTurn = 6.283185307179586;

System kept_name(System system) {
  const std::string name = system.name;
  const std::string kind = system.kind;
  system = bare(std::move(system));
  system.name = name;
  system.kind = kind;
  return system;
}

/// y = x + g u on both sides, so that the gain around the loop is `gain`.
System hard_loop(const std::string& name, double gain) {
  const double g = std::sqrt(std::abs(gain));
  const double sign = gain < 0.0 ? -1.0 : 1.0;
  const auto side = [](std::string part_name, double rate, double by_input, double direct, double start) {
    return part({std::move(part_name), 1, 1, {start}, {{0, 0}}}, [=](const auto& at) {
      at.dx[0] = rate * at.x[0] + by_input * at.u[0];
      at.y[0] = at.x[0] + direct * at.u[0];
    });
  };
  System system =
      coupled(name, "loop",
              {side("one", -1.0, 1.0, g, 1.0), side("two", -2.0, gain < 0.0 ? 2.0 : -1.5, sign * g, -0.5)}, kPair);
  system.linear = true;
  return system;
}

/// A wheel on a wavy road and a body on it; the body outputs the force of the suspension.
System quarter_car() {
  const Part wheel = part({"wheel", 1, 2, {0.0, 0.0}}, [](const auto& at) {
    using std::sin;
    const auto road = 0.02 * sin(1.5 * kTurn * at.t) + 0.005 * sin(6.0 * kTurn * at.t);
    at.dx[0] = at.x[1];
    at.dx[1] = (1.8e5 * (road - at.x[0]) - 100.0 * at.x[1] + at.u[0]) / 40.0;
    at.y[0] = at.x[0];
    at.y[1] = at.x[1];
  });
  const Part body = part({"body", 2, 1, {0.0, 0.0}, {{0, 0}, {0, 1}}}, [](const auto& at) {
    const auto force = 2e4 * (at.x[0] - at.u[0]) + 1500.0 * (at.x[1] - at.u[1]);
    at.dx[0] = at.x[1];
    at.dx[1] = -force / 350.0;
    at.y[0] = force;
  });
  return coupled("quarter_car", "car", {wheel, body}, {{0, 0, 1, 0}, {0, 1, 1, 1}, {1, 0, 0, 0}});
}

/// Two wheels and a body that heaves and pitches.
System half_car() {
  const auto wheel = [](std::string name, double delay) {
    return part({std::move(name), 1, 2, {0.0, 0.0}}, [delay](const auto& at) {
      using std::sin;
      const auto road = 0.02 * sin(1.2 * kTurn * (at.t - delay));
      at.dx[0] = at.x[1];
      at.dx[1] = (1.8e5 * (road - at.x[0]) - 100.0 * at.x[1] + at.u[0]) / 40.0;
      at.y[0] = at.x[0];
      at.y[1] = at.x[1];
    });
  };
  const Part body = part({"body", 4, 2, {0.0, 0.0, 0.0, 0.0}, {{0, 0}, {0, 1}, {1, 2}, {1, 3}}}, [](const auto& at) {
    const auto front_force = 2e4 * (at.x[0] - 1.2 * at.x[2] - at.u[0]) + 1500.0 * (at.x[1] - 1.2 * at.x[3] - at.u[1]);
    const auto rear_force = 2.2e4 * (at.x[0] + 1.5 * at.x[2] - at.u[2]) + 1600.0 * (at.x[1] + 1.5 * at.x[3] - at.u[3]);
    at.dx[0] = at.x[1];
    at.dx[1] = -(front_force + rear_force) / 700.0;
    at.dx[2] = at.x[3];
    at.dx[3] = (1.2 * front_force - 1.5 * rear_force) / 1100.0;
    at.y[0] = front_force;
    at.y[1] = rear_force;
  });
  return coupled("half_car", "car", {wheel("front", 0.0), wheel("rear", 0.15), body},
                 {{0, 0, 2, 0}, {0, 1, 2, 1}, {1, 0, 2, 2}, {1, 1, 2, 3}, {2, 0, 0, 0}, {2, 1, 1, 0}});
}

/// Sections of a line, each a volume and the inertance behind it: pressure in front, flow behind.
System line(const std::string& name, std::size_t sections, double stiffness, double inertance, double resistance) {
  std::vector<Part> parts;
  std::vector<Link> links;
  for (std::size_t k = 0; k < sections; ++k) {
    const bool last = k + 1 == sections;
    parts.push_back(part({fmt::format("s{}", k), 2, 2, {k == 0 ? 1.0 : 0.0, 0.0}}, [=](const auto& at) {
      at.dx[0] = stiffness * (at.u[0] - at.x[1]) - 0.05 * stiffness * at.x[0];  // flow in - flow out - leak
      at.dx[1] = (at.x[0] - (last ? 0.0 * at.u[1] : at.u[1]) - resistance * at.x[1]) / inertance;
      at.y[0] = at.x[0];
      at.y[1] = at.x[1];
    }));
    if (k > 0) {
      links.push_back({k - 1, 1, k, 0});
      links.push_back({k, 0, k - 1, 1});
    }
  }
  System system = coupled(name, "line", std::move(parts), std::move(links));
  system.linear = true;
  return system;
}

/// Engine, clutch and gearbox, car: torques follow speeds.
System drive_line() {
  const Part engine = part({"engine", 1, 1, {80.0}}, [](const auto& at) {
    using std::sin;
    at.dx[0] = (60.0 + 20.0 * sin(2.0 * kTurn * at.t) - 0.3 * at.x[0] - at.u[0]) / 0.2;
    at.y[0] = at.x[0];
  });
  const Part clutch = part({"clutch", 2, 2, {0.0}, {{0, 0}, {0, 1}, {1, 0}, {1, 1}}}, [](const auto& at) {
    const auto slip = at.u[0] - 4.0 * at.u[1];
    const auto torque = 3000.0 * at.x[0] + 20.0 * slip;
    at.dx[0] = slip;
    at.y[0] = torque;
    at.y[1] = 4.0 * torque;
  });
  const Part car = part({"car", 1, 1, {20.0}}, [](const auto& at) {
    at.dx[0] = (at.u[0] - 0.4 * at.x[0] * at.x[0] / 10.0) / 25.0;
    at.y[0] = at.x[0];
  });
  return coupled("drive_line", "drive", {engine, clutch, car},
                 {{0, 0, 1, 0}, {2, 0, 1, 1}, {1, 0, 0, 0}, {1, 1, 2, 0}});
}

System heated_pair() {
  const auto side = [](std::string name, double capacity, double loss, double start) {
    return part({std::move(name), 1, 1, {start}}, [=](const auto& at) {
      const auto own = at.x[0] * at.x[0] * at.x[0] * at.x[0];
      const auto other = at.u[0] * at.u[0] * at.u[0] * at.u[0];
      at.dx[0] = (3.0 * (other - own) - loss * (at.x[0] - 0.3)) / capacity;
      at.y[0] = at.x[0];
    });
  };
  return coupled("radiation", "nonlinear", {side("hot", 1.0, 0.2, 1.5), side("cold", 0.02, 0.1, 0.4)}, kPair);
}

System oscillating_pair() {
  const Part bent = part({"bent", 1, 2, {1.0, 0.0}}, [](const auto& at) {
    at.dx[0] = at.x[1];
    at.dx[1] = -at.x[0] - 4.0 * at.x[0] * at.x[0] * at.x[0] - 0.1 * at.x[1] + at.u[0];
    at.y[0] = at.x[0];
    at.y[1] = at.x[1];
  });
  const Part follower = part({"follower", 2, 1, {0.0, 0.0}, {{0, 0}, {0, 1}}}, [](const auto& at) {
    const auto force = 8.0 * (at.x[0] - at.u[0]) + 0.5 * (at.x[1] - at.u[1]);
    at.dx[0] = at.x[1];
    at.dx[1] = -force - 2.0 * at.x[0];
    at.y[0] = force;
  });
  return coupled("duffing_pair", "nonlinear", {bent, follower}, {{0, 0, 1, 0}, {0, 1, 1, 1}, {1, 0, 0, 0}});
}

System predators() {
  const Part prey = part({"prey", 1, 1, {1.0}}, [](const auto& at) {
    at.dx[0] = at.x[0] * (2.0 / 3.0 - 4.0 / 3.0 * at.u[0]);
    at.y[0] = at.x[0];
  });
  const Part predator = part({"predator", 1, 1, {1.0}}, [](const auto& at) {
    at.dx[0] = at.x[0] * (at.u[0] - 1.0);
    at.y[0] = at.x[0];
  });
  return coupled("lotka_volterra", "nonlinear", {prey, predator}, kPair);
}

System slow_and_fast(const std::string& name, double rate) {
  const auto side = [](std::string part_name, double a, double b, double start) {
    return part({std::move(part_name), 1, 1, {start}}, [=](const auto& at) {
      at.dx[0] = a * at.x[0] + b * at.u[0];
      at.y[0] = at.x[0];
    });
  };
  System system = coupled(name, "stiff", {side("fast", -rate, rate, 1.0), side("slow", -1.0, -2.0, 0.0)}, kPair);
  system.linear = true;
  return system;
}

/// Three masses in a row, each with a step of its own.
System unequal_steps(const std::string& name) {
  System system = line(name, 3, 40.0, 0.5, 0.4);
  system.kind = "steps";
  system.parts[0].imposed = 1e-3;
  system.parts[1].imposed = 2.5e-3;
  system.parts[2].imposed = 7e-3;
  return system;
}

}  // namespace

std::vector<System> hard_systems() {
  std::vector<System> list;
  const auto add = [&](System system, double stop, std::vector<double> steps, bool quick = false) {
    System& added = list.emplace_back(kept_name(timed(std::move(system), stop, std::move(steps))));
    added.quick = quick;
  };
  const Spring strong{2.0, 50.0, 0.0, 3.0, 30.0, 0.0, 20000.0, 60.0, 0.0, 1.0, 0.0, 0.0};
  add(mass_pair("strong_pair", strong), 2.0, {1e-3, 5e-4, 2.5e-4, 1.25e-4}, true);
  add(mass_pair("mechanical", {5.0, 1e4, 10.0, 80.0, 1e5, 40.0, 1e4, 10.0, 1.0, 0.0, 3.0, 0.0}), 2.0, {1e-3}, true);
  add(mass_pair("light_pair", {.c1 = 4.0, .d1 = 0.004, .c2 = 1.0, .d2 = 0.002, .ck = 2.0, .dk = 0.002}), 60.0, {0.02});
  add(mass_pair("undamped", {.c1 = 1.0, .c2 = 1.5, .ck = 0.3}), 200.0, {0.05});
  add(mass_pair("nearly_rigid", {2.0, 50.0, 0.0, 3.0, 30.0, 0.0, 1e7, 2e4, 0.0, 1.0, 0.0, 0.0}), 2.0, {1e-4});
  add(quarter_car(), 3.0, {1e-3}, true);
  add(half_car(), 3.0, {1e-3});
  add(line("hydraulic_line", 5, 400.0, 0.02, 0.5), 1.0, {1e-3}, true);
  add(line("grid_of_50", 50, 100.0, 0.05, 0.3), 1.0, {2e-3});
  add(drive_line(), 2.0, {1e-3}, true);
  add(hard_loop("loop_-0.9", -0.9), 6.0, {0.01});
  add(hard_loop("loop_-3", -3.0), 6.0, {0.01}, true);
  add(hard_loop("loop_-30", -30.0), 6.0, {0.01});
  add(slow_and_fast("stiff_200", 200.0), 4.0, {0.005});
  add(slow_and_fast("stiff_1000", 1000.0), 4.0, {0.002});
  add(heated_pair(), 4.0, {1e-3});
  add(oscillating_pair(), 20.0, {0.02}, true);
  add(predators(), 20.0, {0.02}, true);
  add(unequal_steps("unequal_steps"), 2.8, {1e-3});
  // The same, with inputs that are polynomials inside a step, and linearizations, but no way back.
  list.push_back(timed(unequal_steps("unequal_smooth"), 2.8, {1e-3}));
  for (auto& part : list.back().parts) part.forward = true;
  // And the pair at the top, whose connection is stiff.
  System stiff = mass_pair("unequal_stiff", strong);
  stiff.kind = "steps";
  stiff.parts[0].imposed = 1e-3;
  stiff.parts[1].imposed = 2.5e-3;
  for (auto& part : stiff.parts) part.forward = true;
  list.push_back(timed(std::move(stiff), 2.0, {1e-3}));
  return list;
}

}  // namespace entrain::truth
