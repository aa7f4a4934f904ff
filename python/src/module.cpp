#include "common.hpp"

NB_MODULE(_core, module) {
  nanobind::set_leak_warnings(false);  // notebooks keep objects to the end, and what they keep is not lost
  module.doc() = "The engine, as the package entrain uses it. Not for users: the names here change.";
  using namespace entrain::python;
  bind_values(module);
  bind_description(module);
  bind_method(module);
  bind_real_time(module);
  bind_results(module);
  bind_run(module);
  bind_simulation(module);
  bind_sweep(module);
  bind_verbs(module);
}
