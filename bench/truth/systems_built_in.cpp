#include "truth/catalogue.hpp"

namespace entrain::truth {
namespace {

/// The species of models/lotka_volterra.cpp with their default parameters.
System lotka_volterra() {
  auto prey = part({"prey", 1, 1, {1.0}}, [](const auto& at) {
    at.dx[0] = at.x[0] * (2.0 / 3.0 - 4.0 / 3.0 * at.u[0]);
    at.y[0] = at.x[0];
  });
  prey.outputs = {{"p"}};
  prey.inputs = {{"u"}};
  prey.model = "lotka_volterra.prey";
  auto predator = part({"predator", 1, 1, {1.0}}, [](const auto& at) {
    at.dx[0] = at.x[0] * (at.u[0] - 1.0);
    at.y[0] = at.x[0];
  });
  predator.outputs = {{"P"}};
  predator.inputs = {{"u"}};
  predator.model = "lotka_volterra.predator";
  return timed(coupled("built_in_lotka_volterra", "built-in", {prey, predator}, kPair), 15.0, {0.1, 0.02});
}

struct PairNames {
  std::string motion_model, force_model;
};

/// The ports as the pairs of models/mass_pair.cpp have them.
System with_models(System system, const PairNames& names) {
  system.kind = "built-in";
  system.parts[0].model = names.motion_model;
  system.parts[0].inputs = {{"F"}};
  system.parts[0].outputs = {{"x"}, {"v"}};
  system.parts[1].model = names.force_model;
  system.parts[1].inputs = {{"x"}, {"v"}};
  system.parts[1].outputs = {{"F"}};
  return system;
}

System oscillator() {
  const Spring spring{10.0, 1.0, 2.0, 10.0, 1.0, 1.0, 1.0, 2.0, 1.0, 0.0, 0.0, 0.0};
  System system =
      with_models(mass_pair("built_in_oscillator", spring), {"oscillator.motion_side", "oscillator.force_side"});
  system.parts[0].values = {{"x", 1.0}, {"v", 0.0}};
  system.parts[1].values = {{"x1", 0.0}, {"v1", 0.0}};
  return timed(system, 30.0, {0.2, 0.05});
}

System mechanical() {
  const Spring spring{5.0, 1e4, 10.0, 80.0, 1e5, 40.0, 1e4, 10.0, 1.0, 0.0, 3.0, 0.0};
  return timed(with_models(mass_pair("built_in_mechanical", spring), {"mechanical.left", "mechanical.right"}), 1.0,
               {1e-3, 2.5e-4});
}

/// The pair of models/cubic_pair.cpp, with softer springs.
System cubic() {
  auto motion = part({"motion", 1, 2, {1.0, 0.0}}, [](const auto& at) {
    at.dx[0] = at.x[1];
    at.dx[1] = at.u[0] - (10.0 + at.x[0] * at.x[0]) * at.x[0] - 0.1 * at.x[1];
    at.y[0] = at.x[0];
    at.y[1] = at.x[1];
  });
  motion.values = {{"c2", 10.0}, {"x2", 1.0}, {"v2", 0.0}};
  auto force = part({"force", 2, 1, {-1.0, 0.0}, {{0, 0}, {0, 1}}}, [](const auto& at) {
    const auto way = at.x[0] - at.u[0];
    const auto spring = (5.0 + way * way) * way + 0.1 * (at.x[1] - at.u[1]);
    at.dx[0] = at.x[1];
    at.dx[1] = -(10.0 + at.x[0] * at.x[0]) * at.x[0] - 0.1 * at.x[1] - spring;
    at.y[0] = spring;
  });
  force.values = {{"c_k", 5.0}, {"x1", -1.0}, {"v1", 0.0}};
  System system = coupled("built_in_cubic", "built-in", {motion, force}, {{0, 0, 1, 0}, {0, 1, 1, 1}, {1, 0, 0, 0}});
  return timed(with_models(system, {"cubic.motion_side", "cubic.force_side"}), 6.0, {0.02, 0.005});
}

/// The same models as FMUs.
System as_fmus(System system, const std::string& version) {
  system.kind = "fmu";
  system.name = "fmu" + version + "_" + system.name.substr(std::string("built_in_").size());
  for (auto& one : system.parts) {
    one.fmu = version + "/" + one.model + ".fmu";
    for (auto& letter : one.fmu) letter = letter == '.' ? '_' : letter;
    one.fmu.replace(one.fmu.size() - 4, 1, ".");
    one.model.clear();
  }
  return system;
}

/// By their equations: the engine integrates them.
System by_exchange(System system) {
  for (auto& one : system.parts) one.exchange = true;
  system.name.replace(0, std::string("fmu").size(), "exchange");
  return once(system);
}

}  // namespace

void add_built_in(std::vector<System>& list) {
  for (const auto& system : {lotka_volterra(), oscillator(), mechanical(), cubic()}) {
    list.push_back(system);
    list.push_back(as_fmus(system, "2"));
    list.push_back(as_fmus(system, "3"));
  }
  for (const auto& system : {lotka_volterra(), oscillator(), mechanical(), cubic()}) {
    list.push_back(by_exchange(as_fmus(system, "2")));
    list.push_back(by_exchange(as_fmus(system, "3")));
  }
  list.push_back(bare(as_fmus(mechanical(), "2")));
  list.push_back(bare(as_fmus(cubic(), "3")));
}

}  // namespace entrain::truth
