#include "common.hpp"

NB_MODULE(_core, module) {
  module.doc() = "The engine, as the package entrain uses it. Not for users: the names here change.";
  using namespace entrain::python;
  bind_values(module);
  bind_description(module);
  bind_method(module);
  bind_results(module);
  bind_run(module);
  bind_simulation(module);
  bind_verbs(module);
}
