#include <cmath>

#include "truth/catalogue.hpp"

namespace entrain::truth {
namespace {

/// y'' = mu (1 - y^2) y' - y, position and velocity apart.
System van_der_pol(const std::string& name, double mu, const std::string& kind) {
  return coupled(name, kind,
                 {part({"position", 1, 1, {2.0}},
                       [](const auto& at) {
                         at.dx[0] = at.u[0];
                         at.y[0] = at.x[0];
                       }),
                  part({"velocity", 1, 1, {0.0}},
                       [mu](const auto& at) {
                         at.dx[0] = mu * (1.0 - at.u[0] * at.u[0]) * at.x[0] - at.u[0];
                         at.y[0] = at.x[0];
                       })},
                 kPair);
}

/// A forced Duffing mass, and a linear one behind a spring.
System duffing() {
  return coupled("duffing", "nonlinear",
                 {part({"duffing", 1, 1, {1.0, 0.0}},
                       [](const auto& at) {
                         at.dx[0] = at.x[1];
                         at.dx[1] = -0.2 * at.x[1] + at.x[0] - at.x[0] * at.x[0] * at.x[0] +
                                    0.3 * std::cos(1.2 * at.t) + 0.5 * (at.u[0] - at.x[0]);
                         at.y[0] = at.x[0];
                       }),
                  part({"mass", 1, 1, {0.0, 0.5}},
                       [](const auto& at) {
                         at.dx[0] = at.x[1];
                         at.dx[1] = -0.1 * at.x[1] - 2.0 * at.x[0] + 0.5 * (at.u[0] - at.x[0]);
                         at.y[0] = at.x[0];
                       })},
                 kPair);
}

System lotka_volterra(const std::string& name, double amplitude) {
  return coupled(name, "nonlinear",
                 {part({"prey", 1, 1, {0.8}},
                       [amplitude](const auto& at) {
                         at.dx[0] = at.x[0] *
                                    (0.67 - 1.33 * (0.55 + amplitude * std::sin(2.617993877991494 * at.t)) * at.u[0]);
                         at.y[0] = at.x[0];
                       }),
                  part({"predator", 1, 1, {1.0}},
                       [](const auto& at) {
                         at.dx[0] = at.x[0] * (at.u[0] - 1.0);
                         at.y[0] = at.x[0];
                       })},
                 kPair);
}

/// Angle and speed apart.
System pendulum() {
  return coupled("pendulum", "nonlinear",
                 {part({"angle", 1, 1, {2.0}},
                       [](const auto& at) {
                         at.dx[0] = at.u[0];
                         at.y[0] = at.x[0];
                       }),
                  part({"speed", 1, 1, {0.0}},
                       [](const auto& at) {
                         at.dx[0] = -4.0 * std::sin(at.u[0]) - 0.1 * at.x[0];
                         at.y[0] = at.x[0];
                       })},
                 kPair);
}

System coupled_pendulums() {
  const auto one = [](const std::string& name, double length, double angle) {
    return part({name, 1, 1, {angle, 0.0}}, [length](const auto& at) {
      at.dx[0] = at.x[1];
      at.dx[1] = -9.81 / length * std::sin(at.x[0]) - 0.05 * at.x[1] + 2.0 * std::sin(at.u[0] - at.x[0]);
      at.y[0] = at.x[0];
    });
  };
  return coupled("coupled_pendulums", "nonlinear", {one("a", 1.0, 1.5), one("b", 1.4, -0.4)}, kPair);
}

/// Hardening springs; the force follows the motion at once.
System cubic_springs() {
  return coupled("cubic_springs", "nonlinear",
                 {part({"motion", 1, 2, {1.0, 0.0}},
                       [](const auto& at) {
                         at.dx[0] = at.x[1];
                         at.dx[1] = at.u[0] - at.x[0] - 2.0 * at.x[0] * at.x[0] * at.x[0] - 0.1 * at.x[1];
                         at.y[0] = at.x[0];
                         at.y[1] = at.x[1];
                       }),
                  part({"force", 2, 1, {-0.5, 0.0}, {{0, 0}, {0, 1}}},
                       [](const auto& at) {
                         const auto way = at.x[0] - at.u[0];
                         const auto force = way + 3.0 * way * way * way + 0.2 * (at.x[1] - at.u[1]);
                         at.dx[0] = at.x[1];
                         at.dx[1] = 0.5 * (-force - 2.0 * at.x[0] - 0.1 * at.x[1]);
                         at.y[0] = force;
                       })},
                 {{0, 0, 1, 0}, {0, 1, 1, 1}, {1, 0, 0, 0}});
}

System brusselator() {
  return coupled("brusselator", "nonlinear",
                 {part({"x", 1, 1, {1.0}},
                       [](const auto& at) {
                         at.dx[0] = 1.0 + at.x[0] * at.x[0] * at.u[0] - 4.0 * at.x[0];
                         at.y[0] = at.x[0];
                       }),
                  part({"y", 1, 1, {1.0}},
                       [](const auto& at) {
                         at.dx[0] = 3.0 * at.u[0] - at.u[0] * at.u[0] * at.x[0];
                         at.y[0] = at.x[0];
                       })},
                 kPair);
}

System fitzhugh_nagumo() {
  return coupled("fitzhugh_nagumo", "nonlinear",
                 {part({"voltage", 1, 1, {-1.0}},
                       [](const auto& at) {
                         at.dx[0] = at.x[0] - at.x[0] * at.x[0] * at.x[0] / 3.0 - at.u[0] + 0.5;
                         at.y[0] = at.x[0];
                       }),
                  part({"recovery", 1, 1, {1.0}},
                       [](const auto& at) {
                         at.dx[0] = 0.08 * (at.u[0] + 0.7 - 0.8 * at.x[0]);
                         at.y[0] = at.x[0];
                       })},
                 kPair);
}

/// Two bodies that radiate to each other, in units of 300 K.
System radiation() {
  const auto fourth = [](const auto& x) { return x * x * x * x; };
  return coupled("radiation", "nonlinear",
                 {part({"hot", 1, 1, {3.0}},
                       [fourth](const auto& at) {
                         at.dx[0] = 0.1 * (fourth(at.u[0]) - fourth(at.x[0])) + 0.5;
                         at.y[0] = at.x[0];
                       }),
                  part({"cold", 1, 1, {1.0}},
                       [fourth](const auto& at) {
                         at.dx[0] = 0.05 * (fourth(at.u[0]) - fourth(at.x[0])) - 0.2 * (at.x[0] - 1.0);
                         at.y[0] = at.x[0];
                       })},
                 kPair);
}

/// Three parts of one state; part p gets the other two.
template <class A, class B, class C>
System three(const std::string& name, const std::string& kind, const std::vector<double>& start, A a, B b, C c) {
  return coupled(name, kind,
                 {part({"x", 2, 1, {start[0]}}, a), part({"y", 2, 1, {start[1]}}, b), part({"z", 2, 1, {start[2]}}, c)},
                 {{1, 0, 0, 0}, {2, 0, 0, 1}, {0, 0, 1, 0}, {2, 0, 1, 1}, {0, 0, 2, 0}, {1, 0, 2, 1}});
}

System rigid_body() {
  const auto axis = [](double factor) {
    return [factor](const auto& at) {
      at.dx[0] = factor * at.u[0] * at.u[1];
      at.y[0] = at.x[0];
    };
  };
  return three("rigid_body", "nonlinear", {1.0, 0.1, 0.9}, axis(-2.0), axis(1.25), axis(-0.5));
}

System lorenz(const std::string& name) {
  return three(
      name, "chaotic", {1.0, 1.0, 20.0},
      [](const auto& at) {
        at.dx[0] = 10.0 * (at.u[0] - at.x[0]);
        at.y[0] = at.x[0];
      },
      [](const auto& at) {
        at.dx[0] = at.u[0] * (28.0 - at.u[1]) - at.x[0];
        at.y[0] = at.x[0];
      },
      [](const auto& at) {
        at.dx[0] = at.u[0] * at.u[1] - 8.0 / 3.0 * at.x[0];
        at.y[0] = at.x[0];
      });
}

System roessler() {
  return three(
      "roessler", "chaotic", {1.0, 1.0, 0.0},
      [](const auto& at) {
        at.dx[0] = -at.u[0] - at.u[1];
        at.y[0] = at.x[0];
      },
      [](const auto& at) {
        at.dx[0] = at.u[0] + 0.2 * at.x[0];
        at.y[0] = at.x[0];
      },
      [](const auto& at) {
        at.dx[0] = 0.2 + at.x[0] * (at.u[0] - 5.7);
        at.y[0] = at.x[0];
      });
}

/// Outputs that are nonlinear in states and inputs: an algebraic loop with a gain of 0.4 at most.
System nonlinear_loop() {
  return coupled("nonlinear_loop", "loop",
                 {part({"one", 1, 1, {1.0}, {{0, 0}}},
                       [](const auto& at) {
                         at.dx[0] = -at.x[0] + std::sin(at.u[0]);
                         at.y[0] = at.x[0] + 0.5 * std::sin(at.u[0]);
                       }),
                  part({"two", 1, 1, {-1.0}, {{0, 0}}},
                       [](const auto& at) {
                         at.dx[0] = -2.0 * at.x[0] - 1.5 * at.u[0];
                         at.y[0] = at.x[0] - 0.8 * at.u[0] / std::sqrt(1.0 + at.u[0] * at.u[0]);
                       })},
                 kPair);
}

/// A chirp through two filters, one with a nonlinear spring; nothing comes back.
System forced_chain() {
  return coupled("forced_chain", "nonlinear",
                 {part({"source", 0, 1, {}}, [](const auto& at) { at.y[0] = std::sin(at.t + 0.05 * at.t * at.t); }),
                  part({"filter", 1, 1, {0.0, 0.0}},
                       [](const auto& at) {
                         at.dx[0] = at.x[1];
                         at.dx[1] = at.u[0] - 0.3 * at.x[1] - 2.0 * at.x[0];
                         at.y[0] = at.x[0];
                       }),
                  part({"mass", 1, 1, {0.0, 0.0}},
                       [](const auto& at) {
                         at.dx[0] = at.x[1];
                         at.dx[1] = at.u[0] - 0.5 * at.x[1] - at.x[0] - at.x[0] * at.x[0] * at.x[0];
                         at.y[0] = at.x[0];
                       })},
                 {{0, 0, 1, 0}, {1, 0, 2, 0}});
}

/// A fast chemical state beside slow ones.
System stiff_reaction() {
  return coupled("stiff_reaction", "stiff",
                 {part({"slow", 1, 1, {1.0}},
                       [](const auto& at) {
                         at.dx[0] = -0.4 * at.x[0] + 2.0 * at.u[0] * (1.0 - at.x[0]);
                         at.y[0] = at.x[0];
                       }),
                  part({"fast", 1, 1, {0.0}},
                       [](const auto& at) {
                         at.dx[0] = 300.0 * (0.2 + 0.3 * at.u[0] - at.x[0] - at.x[0] * at.x[0]);
                         at.y[0] = at.x[0];
                       })},
                 kPair);
}

System coupled_oscillators_long() {
  const auto one = [](const std::string& name, double frequency, double start) {
    return part({name, 1, 1, {start, 0.0}}, [frequency](const auto& at) {
      at.dx[0] = at.x[1];
      at.dx[1] = -frequency * std::sin(at.x[0]) + 0.1 * (at.u[0] - at.x[0]);
      at.y[0] = at.x[0];
    });
  };
  return coupled("undamped_pendulums", "long", {one("a", 1.0, 0.8), one("b", 1.7, 0.0)}, kPair);
}

System logistic_growth() {
  return coupled("growing_nonlinear", "growing",
                 {part({"a", 1, 1, {0.01}},
                       [](const auto& at) {
                         at.dx[0] = 1.2 * at.x[0] - 0.2 * at.u[0];
                         at.y[0] = at.x[0];
                       }),
                  part({"b", 1, 1, {0.0}},
                       [](const auto& at) {
                         at.dx[0] = -0.5 * at.x[0] + at.u[0] / (1.0 + 0.01 * at.u[0] * at.u[0]);
                         at.y[0] = at.x[0];
                       })},
                 kPair);
}

/// The motion in millimetres, the spring in metres, the angle of a lever in degrees.
System units() {
  auto mass = part({"mass", 1, 2, {1.0, 0.0}}, [](const auto& at) {
    at.dx[0] = at.x[1];
    at.dx[1] = at.u[0] - 0.2 * at.x[1];
    at.y[0] = 1000.0 * at.x[0];
    at.y[1] = at.x[1];
  });
  mass.inputs = {{"F", "N"}};
  mass.outputs = {{"x", "mm"}, {"v", "m/s"}};
  auto spring = part({"spring", 2, 1, {0.0}, {{0, 0}}}, [](const auto& at) {
    at.dx[0] = 2.0 * (at.u[0] - at.x[0]) + 0.1 / 3.6 * at.u[1];
    at.y[0] = -0.001 * (3.0 * at.u[0] + 2.0 * (at.u[0] - at.x[0]));
  });
  spring.inputs = {{"x", "m"}, {"v", "km/h"}};
  spring.outputs = {{"F", "kN"}};
  System system = coupled("units", "units", {mass, spring},
                          {{0, 0, 1, 0, 1e-3, 0.0, true}, {0, 1, 1, 1, 3.6, 0.0, true}, {1, 0, 0, 0, 1e3, 0.0, true}});
  system.linear = true;
  return system;
}

System temperatures() {
  auto room = part({"room", 1, 1, {290.0}}, [](const auto& at) {
    at.dx[0] = 0.3 * (at.u[0] - at.x[0]) - 0.1 * (at.x[0] - 280.0);
    at.y[0] = at.x[0] - 273.15;
  });
  room.inputs = {{"T", "K"}};
  room.outputs = {{"T", "degC"}};
  auto heater = part({"heater", 1, 1, {40.0}}, [](const auto& at) {
    at.dx[0] = 0.8 * (at.u[0] - at.x[0]) + 2.0 * (21.0 - at.u[0]);
    at.y[0] = at.x[0];
  });
  heater.inputs = {{"T", "degC"}};
  heater.outputs = {{"T", "degC"}};
  System system =
      coupled("temperatures", "units", {room, heater}, {{0, 0, 1, 0, 1.0, 0.0, true}, {1, 0, 0, 0, 1.0, 273.15, true}});
  system.linear = true;
  return system;
}

System factors() {
  System system = coupled("factors", "units",
                          {part({"a", 1, 1, {1.0}},
                                [](const auto& at) {
                                  at.dx[0] = -at.x[0] + 0.01 * at.u[0];
                                  at.y[0] = 5.0 * at.x[0];
                                }),
                           part({"b", 1, 1, {0.0}},
                                [](const auto& at) {
                                  at.dx[0] = -0.5 * at.x[0] - at.u[0];
                                  at.y[0] = at.x[0];
                                })},
                          {{0, 0, 1, 0, 0.4, 0.3}, {1, 0, 0, 0, 100.0, -20.0}});
  system.linear = true;
  return system;
}

}  // namespace

void add_nonlinear(std::vector<System>& list) {
  list.push_back(timed(van_der_pol("van_der_pol_1", 1.0, "nonlinear"), 20.0, {0.1, 0.02, 0.005}));
  list.push_back(timed(van_der_pol("van_der_pol_5", 5.0, "nonlinear"), 25.0, {0.02, 0.005}));
  list.push_back(timed(van_der_pol("van_der_pol_30", 30.0, "stiff"), 60.0, {0.02, 0.005}));
  list.push_back(timed(duffing(), 30.0, {0.1, 0.02}));
  list.push_back(timed(lotka_volterra("lotka_volterra", 0.0), 20.0, {0.1, 0.02}));
  list.push_back(timed(lotka_volterra("modulated_lotka_volterra", 0.45), 20.0, {0.1, 0.02}));
  list.push_back(timed(pendulum(), 10.0, {0.05, 0.01}));
  list.push_back(timed(coupled_pendulums(), 10.0, {0.05, 0.01}));
  list.push_back(timed(cubic_springs(), 15.0, {0.05, 0.01}));
  list.push_back(timed(brusselator(), 20.0, {0.05, 0.01}));
  list.push_back(timed(fitzhugh_nagumo(), 100.0, {0.5, 0.1}));
  list.push_back(timed(radiation(), 4.0, {0.02, 0.004}));
  list.push_back(timed(rigid_body(), 12.0, {0.05, 0.01}));
  list.push_back(timed(forced_chain(), 20.0, {0.1, 0.02}));
  list.push_back(timed(nonlinear_loop(), 8.0, {0.05, 0.01}));
  list.push_back(timed(stiff_reaction(), 4.0, {0.01, 0.002}));
  list.push_back(timed(lorenz("lorenz"), 8.0, {0.01, 0.002}));
  list.push_back(timed(lorenz("lorenz_long"), 20.0, {0.01, 0.004}));
  list.push_back(timed(roessler(), 60.0, {0.05, 0.02}));
  list.push_back(timed(coupled_oscillators_long(), 500.0, {0.2, 0.05}));
  list.push_back(timed(logistic_growth(), 6.0, {0.05, 0.01}));
  list.push_back(timed(units(), 10.0, {0.05, 0.01}));
  list.push_back(timed(temperatures(), 15.0, {0.1, 0.02}));
  list.push_back(timed(factors(), 10.0, {0.1, 0.02}));
}

}  // namespace entrain::truth
