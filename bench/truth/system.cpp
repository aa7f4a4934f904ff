#include "truth/system.hpp"

#include <algorithm>
#include <stdexcept>

#include "truth/catalogue.hpp"

namespace entrain::truth {

std::vector<Port> ports(const std::string& letter, std::size_t count) {
  std::vector<Port> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back({letter + std::to_string(i)});
  return result;
}

System coupled(std::string name, std::string kind, std::vector<Part> parts, std::vector<Link> links) {
  System system;
  system.name = std::move(name);
  system.kind = std::move(kind);
  system.parts = std::move(parts);
  system.links = std::move(links);
  return system;
}

System timed(System system, double stop, std::vector<double> steps) {
  system.stop = stop;
  system.steps = std::move(steps);
  return system;
}

System of_kind(System system, const std::string& kind) {
  system.kind = kind;
  return system;
}

System bare(System system) {
  for (auto& part : system.parts) part.bare = true;
  system.name = "bare_" + system.name;
  system.kind = "bare";
  return system;
}

System once(System system) {
  system.parts.front().once = true;
  system.name = "once_" + system.name;
  return system;
}

System inside(System system, Inside how, double inner, const std::string& name) {
  for (auto& part : system.parts) {
    if (part.start.empty()) continue;
    part.inside = how;
    part.inner = inner;
  }
  system.name = name + "_" + system.name;
  system.kind = name;
  return system;
}

namespace {

/// Of every kind a few.
const std::vector<std::string> kQuick = {"random_1",
                                         "random_5",
                                         "several_rates_1",
                                         "light_pair",
                                         "strong_spring",
                                         "pair",
                                         "stiff_pair",
                                         "loop_0.5",
                                         "loop_-0.9",
                                         "undamped_1e3",
                                         "growing_saddle",
                                         "van_der_pol_1",
                                         "duffing",
                                         "cubic_springs",
                                         "brusselator",
                                         "radiation",
                                         "lorenz",
                                         "units",
                                         "temperatures",
                                         "step_announced",
                                         "step_unannounced",
                                         "bouncing_ball",
                                         "thermostat",
                                         "bare_random_1",
                                         "bare_strong_spring",
                                         "bare_duffing",
                                         "bare_thermostat",
                                         "once_random_1",
                                         "once_pair",
                                         "once_loop_0.5",
                                         "once_van_der_pol_1",
                                         "once_duffing",
                                         "once_exchange2_mechanical",
                                         "cvode_random_2",
                                         "euler_weak_spring",
                                         "coarse_euler_weak_spring",
                                         "clocked_pair",
                                         "fmu2_oscillator",
                                         "fmu3_cubic"};

}  // namespace

std::vector<System> systems() {
  std::vector<System> list;
  add_linear(list);
  add_nonlinear(list);
  add_events(list);
  const auto find = [&list](const std::string& name) {
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const System& system) { return system.name == name; });
    if (found == list.end()) throw std::logic_error("no system " + name);
    return *found;
  };
  std::vector<System> variants;
  for (const char* name :
       {"random_1", "random_4", "several_rates_1", "light_pair_damper", "mechanical", "strong_spring", "stiff_pair",
        "van_der_pol_1", "duffing", "cubic_springs", "brusselator", "loop_-0.5", "step_unannounced", "thermostat",
        "bouncing_ball", "undamped_1e3", "lorenz", "units"}) {
    variants.push_back(bare(find(name)));
  }
  for (const char* name :
       {"random_1", "random_2", "random_5", "several_rates_1", "light_pair", "pair", "strong_spring", "loop_0.5",
        "van_der_pol_1", "duffing", "cubic_springs", "brusselator", "radiation", "step_announced", "thermostat"}) {
    variants.push_back(once(find(name)));
  }
  for (const char* name :
       {"random_2", "light_pair", "van_der_pol_1", "brusselator", "stiff_reaction", "step_unannounced"}) {
    variants.push_back(inside(find(name), Inside::Cvode, 1e-4, "cvode"));
  }
  for (const char* name : {"random_2", "van_der_pol_1", "duffing", "weak_spring"}) {
    variants.push_back(inside(find(name), Inside::Euler, 1e-3, "euler"));
  }
  for (const char* name : {"weak_spring", "duffing", "lotka_volterra"}) {  // shorter than the macro step, and coarse
    variants.push_back(inside(find(name), Inside::Euler, 0.02, "coarse_euler"));
  }
  for (const char* name : {"pair", "pendulum", "weak_spring"}) {
    variants.push_back(inside(find(name), Inside::Clocked, 0.01, "clocked"));
  }
  list.insert(list.end(), variants.begin(), variants.end());
  add_built_in(list);
  for (auto& system : list) system.quick = std::find(kQuick.begin(), kQuick.end(), system.name) != kQuick.end();
  return list;
}

}  // namespace entrain::truth
